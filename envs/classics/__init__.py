"""The environments of Gymnasium's MuJoCo suite (v5) on this engine: same spaces, observations, rewards and ends."""
