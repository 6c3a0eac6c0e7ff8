"""Numbers in pictures and captions."""

from __future__ import annotations


def number(value: float, digits: int, plus: bool = False) -> str:
    """A number with this many digits; what is rounded to zero has no sign, others have a plus where it is asked for.

    >>> number(-1e-17, 3), number(-0.0004, 3, plus=True), number(0.25, 2, plus=True), number(-0.5, 1)
    ('0.000', '0.000', '+0.25', '-0.5')
    """
    text = f"{value:{'+' if plus else ''}.{digits}f}"
    return text if text.strip("+-0.") else text.lstrip("+-")
