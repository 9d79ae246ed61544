"""The simulator: mechanisms, their flat arrays, and the step."""
