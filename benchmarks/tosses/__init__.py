"""Real tosses of a cube, simulated: how close the engines are to what was measured."""
