"""`vigym soak`: hours of random actions, spoilt files and killed processes, and a report of what did not hold."""
