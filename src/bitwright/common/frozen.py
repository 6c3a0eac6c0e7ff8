"""Immutable arrays, so that values derived from them stay valid."""

from __future__ import annotations

from typing import Any, TypeVar, cast

import numpy as np

Array = TypeVar("Array", bound=np.ndarray[Any, Any])


def frozen(array: Array) -> Array:
    """Returns a copy of an array backed by immutable `bytes`, which NumPy cannot make writable again.

    >>> frozen(np.arange(3)).flags.writeable = True
    Traceback (most recent call last):
    ValueError: cannot set WRITEABLE flag to True of this array
    """
    return cast(Array, np.ndarray(array.shape, array.dtype, buffer=array.tobytes()))


class FrozenArrays:
    """A dataclass base that freezes its arrays on creation, including in copies and other processes."""

    def __post_init__(self) -> None:
        self.__setstate__({})

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        for name, value in vars(self).items():
            if isinstance(value, np.ndarray):
                self.__dict__[name] = frozen(value)
