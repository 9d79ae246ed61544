"""`vigym demo`: an environment under a controller, or a scene of bodies, simulated and written to files."""
