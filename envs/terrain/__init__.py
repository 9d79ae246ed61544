"""Ground of tiles: kinds of ground side by side, each at several levels from easy to hard."""
