"""The sizes that a claim about a rule text covers: ranges of numbers, and fixed numbers."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

_PART = re.compile(r"(\w+)(>?)=(-?\d+)")
_NOTHING = "every"  # for a claim that depends on no number of the text


@dataclass(frozen=True)
class CoveredSizes:
    """Numbers of `let` lines with every value from `smallest` on, and numbers that are `fixed`.

    A claim does not depend on numbers in neither group. It does not cover values at which the text is not a program.
    Two claims together cover the intersection of their sizes.

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
        parts = [] if text == _NOTHING else [_PART.fullmatch(part) for part in text.split(", ")]
        if None in parts:
            return None
        found = [(part[1], bool(part[2]), int(part[3])) for part in parts if part is not None]
        ranging = {name: value for name, ranges, value in found if ranges}
        return cls(ranging, {name: value for name, ranges, value in found if not ranges})

    def __str__(self) -> str:
        return ", ".join((*self._parts(">="), *(f"{name}={value}" for name, value in self.fixed.items()))) or _NOTHING

    @property
    def words(self) -> str:
        """`every size`, with the smallest values unless all are 1, and with all fixed numbers."""
        plain = not self.fixed and set(self.smallest.values()) <= {1}
        ranges = "" if plain else " " + ", ".join(self._parts(" >= "))
        given = ", ".join(f"{name} = {value}" for name, value in self.fixed.items())
        return f"every size{ranges.rstrip()}{' with ' * bool(given)}{given}"

    def _parts(self, sign: str) -> Iterator[str]:
        return (f"{name}{sign}{value}" for name, value in self.smallest.items())

    def __and__(self, other: CoveredSizes) -> CoveredSizes | None:
        """Returns the sizes that both cover, or None."""
        least = {
            name: max(one.smallest[name] for one in (self, other) if name in one.smallest)
            for name in (*self.smallest, *other.smallest)
        }
        fixed = {**self.fixed, **other.fixed}
        common = CoveredSizes({name: value for name, value in least.items() if name not in fixed}, fixed)
        return common if fixed in self and fixed in other else None

    def __contains__(self, numbers: Mapping[str, int]) -> bool:
        """Whether a program with these numbers is covered, whatever its other numbers are."""
        return all(numbers.get(name, least) >= least for name, least in self.smallest.items()) and all(
            numbers.get(name, value) == value for name, value in self.fixed.items()
        )
