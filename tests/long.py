"""Which tests are for `make test-long` alone: more seeds, sizes and cases of what `make test` tries too."""

import os

LONG = bool(os.environ.get("BITWRIGHT_LONG_TESTS"))


def seeds(some: int, *, of: int) -> range:
    """The first seeds of a range, or all of it."""
    return range(of if LONG else some)


def examples(count: int) -> int:
    """How many random cases hypothesis tries: half of them, or all."""
    return count if LONG else -(-count // 2)
