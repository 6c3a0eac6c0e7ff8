"""Describes the sizes that a claim about a rule text covers: ranges of numbers, and fixed numbers."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

_PART = re.compile(r"(\w+)(>?)=(-?\d+)")
_ANY = "every"  # for a claim that does not depend on any number of the text


@dataclass(frozen=True)
class CoveredSizes:
    """The numbers of `let` lines with every value from `smallest` on, and those with a `fixed` value.

    A claim does not depend on any other number, and does not cover values at which the text is not a program. Two
    claims together cover the intersection of their sizes.

    >>> rules, cells = CoveredSizes({"l": 0}, {"k": 3}), CoveredSizes({"l": 1, "k": 2})
    >>> print(rules, cells, rules & cells, sep="; ")
    l>=0, k=3; l>=1, k>=2; l>=1, k=3
    >>> (rules & cells).words, CoveredSizes({"l": 1}).words, {"l": 0, "k": 3} in rules, {"l": 0, "k": 4} in rules
    ('every size l >= 1 with k = 3', 'every size', True, False)
    >>> CoveredSizes.read("l>=0, k=3") == rules, CoveredSizes({}, {"k": 1}) & cells
    (True, None)
    """

    smallest: Mapping[str, int] = field(default_factory=dict)
    fixed: Mapping[str, int] = field(default_factory=dict)

    @classmethod
    def read(cls, text: str) -> CoveredSizes | None:
        """Parses the sizes of a claim; returns None for another form, such as `1..64`."""
        parts = [] if text == _ANY else [_PART.fullmatch(part) for part in text.split(", ")]
        if None in parts:
            return None
        numbers = [(part[1], bool(part[2]), int(part[3])) for part in parts if part is not None]
        smallest = {name: value for name, ranges, value in numbers if ranges}
        return cls(smallest, {name: value for name, ranges, value in numbers if not ranges})

    def __str__(self) -> str:
        return ", ".join((*self._parts(">="), *(f"{name}={value}" for name, value in self.fixed.items()))) or _ANY

    @property
    def words(self) -> str:
        """The words `every size`, with the smallest values unless all are 1, and with all fixed numbers."""
        plain = not self.fixed and set(self.smallest.values()) <= {1}
        ranges = "" if plain else " " + ", ".join(self._parts(" >= "))
        fixed = ", ".join(f"{name} = {value}" for name, value in self.fixed.items())
        return f"every size{ranges.rstrip()}{' with ' * bool(fixed)}{fixed}"

    def _parts(self, sign: str) -> Iterator[str]:
        return (f"{name}{sign}{value}" for name, value in self.smallest.items())

    def __and__(self, other: CoveredSizes) -> CoveredSizes | None:
        """Returns the sizes that both cover, or None."""
        least = {
            name: max(sizes.smallest[name] for sizes in (self, other) if name in sizes.smallest)
            for name in (*self.smallest, *other.smallest)
        }
        fixed = {**self.fixed, **other.fixed}
        common = CoveredSizes({name: value for name, value in least.items() if name not in fixed}, fixed)
        return common if fixed in self and fixed in other else None

    def __contains__(self, numbers: Mapping[str, int]) -> bool:
        """Whether a program with these numbers is covered for all values of its other numbers."""
        return all(numbers.get(name, least) >= least for name, least in self.smallest.items()) and all(
            numbers.get(name, value) == value for name, value in self.fixed.items()
        )
