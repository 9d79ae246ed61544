"""The exceptions that vigym raises on purpose, all of them `ValueError`s, and what it warns of."""


class VigymError(ValueError):
    """Base of every error that vigym raises about its input."""


class MechanismError(VigymError):
    """A mechanism that cannot be built."""


class StateError(VigymError):
    """A state that cannot be: NaN, penetration, an open joint, a wrong shape."""


class InputError(VigymError):
    """A bad argument to a call of the Simulator."""


class BusyError(VigymError):
    """A Simulator that another thread is using."""


class MechanismWarning(UserWarning):
    """A mechanism that can be simulated, but hardly is what was meant."""
