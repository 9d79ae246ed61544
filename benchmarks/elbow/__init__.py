"""Real tosses of two bricks on a hinge: what the linkage is, and how close the engines are to what was measured."""
