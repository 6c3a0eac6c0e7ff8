"""Values that are arrays with one row for each of many things."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np


@dataclass(frozen=True)
class RowArrays:
    """Arrays of equal length; fields that are no arrays are shared by all rows."""

    def __len__(self) -> int:
        return len(next(iter(vars(self).values())))

    def __getitem__(self, rows: Any) -> Self:
        """Some of the rows, by a mask, numbers or a slice."""
        changed: Any = {name: of[rows] for name, of in vars(self).items() if isinstance(of, np.ndarray)}
        return replace(self, **changed)

    @classmethod
    def joined(cls, parts: Sequence[Self]) -> Self:
        """The rows of some values, one after the other."""
        names = [name for name, of in vars(parts[0]).items() if isinstance(of, np.ndarray)]
        changed: Any = {name: np.concatenate([vars(part)[name] for part in parts]) for name in names}
        return replace(parts[0], **changed)
