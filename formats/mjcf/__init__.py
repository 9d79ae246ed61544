"""MJCF, the XML of MuJoCo: `to_mjcf` writes a mechanism."""
