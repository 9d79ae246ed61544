"""Steps and rollouts inside other libraries that differentiate: vigym.torch and vigym.jax."""
