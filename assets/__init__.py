"""Robot descriptions and other data files."""
