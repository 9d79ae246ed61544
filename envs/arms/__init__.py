"""Tasks of an arm with a goal, one file a task."""
