"""Numbers as the attributes of XML have them."""

from collections.abc import Iterable


def text(values: Iterable[float]) -> str:
    """Numbers with all their digits, spaces in between."""
    return " ".join(repr(float(value)) for value in values)
