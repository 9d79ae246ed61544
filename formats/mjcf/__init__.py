"""MJCF, the XML of MuJoCo: `to_mjcf` writes a mechanism, `load_mjcf` and `read_mjcf` read one."""
