"""Pictures, the live page and replays of mechanisms: replay -> page -> pictures. Nothing here knows an environment."""
