"""The result of a verb: a headline, rows below it, and the data that `--json` prints."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from bitwright.common.errors import InputError, Report, option
from bitwright.common.lazy import Shown


def refuse(why: str, **given: object) -> None:
    """Raises InputError for the first of these settings that has a value."""
    for name in (name for name, value in given.items() if value not in (None, False)):
        raise InputError(f"{option(name)} {why}; leave it out")


@dataclass(frozen=True, repr=False)
class Summary(Shown, Report):
    """A headline, rows and data; falsy if it reports a problem."""

    headline: str
    lines: Sequence[str] = ()
    data: Mapping[str, Any] = field(default_factory=dict)
    good: bool = True

    @property
    def sentence(self) -> str:
        return self.headline

    def rows(self) -> Sequence[str]:
        return self.lines

    def to_dict(self) -> dict[str, Any]:
        """Returns all facts, as `--json` prints them."""
        return dict(self.data)

    def __bool__(self) -> bool:
        return self.good
