"""Compiles the loops that tests need, once: `python -m tests.compiled`.

They are kept beside the sources. Without this each process of the tests would compile them for itself, all at once.
"""

from __future__ import annotations

from bitwright import addition, validate
from bitwright.web.limits import Limits
from bitwright.web.warm import warm_up

if __name__ == "__main__":
    validate(addition(3))
    warm_up(Limits(), "run")  # which keeps nothing from then on
