"""Pictures of mechanisms without a graphics library: a small ray caster, loaded only when something is drawn."""
