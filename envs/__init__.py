"""Tasks, and the Gymnasium environments that serve them."""
