"""The chain of a certificate: which track of which letter every bit of the program is."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from bitwright.api.export.rocq.fitting import AffineIndex, NotAffineError
from bitwright.api.export.rocq.listed import Bit


@dataclass(frozen=True)
class Chained:
    """The chain of a certificate, and where its tracks stand."""

    certificate: Mapping[str, Any]
    tracks: tuple[tuple[str, int, int], ...]  # array, and g and o: bit k at position i is array[g * i + o]
    positions: AffineIndex  # n, a function of l

    @classmethod
    def of(cls, certificate: Mapping[str, Any]) -> Chained:
        chain = certificate["chain"]
        tracks = [(array, growth, growth * shift - sub) for array, growth, sub, shift in chain["places"]]
        if any(offset < 0 for _, _, offset in tracks):
            raise NotAffineError("an array begins two positions after another one")
        return cls(certificate, tuple(tracks), AffineIndex(0, chain["unit"], chain["extra"]))

    @property
    def classes(self) -> Mapping[str, Any]:
        found: Mapping[str, Any] = self.certificate["chain"]["classes"]
        return found

    @property
    def flags(self) -> list[str]:
        found: list[str] = self.certificate["chain"]["globals"]
        return found

    @property
    def clock(self) -> Mapping[str, Any]:
        found: Mapping[str, Any] = self.certificate["clock"]
        return found

    @property
    def steps(self) -> AffineIndex:
        """The number of steps after which the clock says that a run is over."""
        clock, n = self.clock, self.positions
        if clock["fixed"] is not None:
            return AffineIndex(0, 0, clock["fixed"])
        rate = sum(rate for _, rate in clock["sweeps"])
        return AffineIndex(0, rate * n.size, rate * n.constant + clock["delay"] - clock["early"])

    def place(self, bit: Bit) -> tuple[int, int] | None:
        """Track and position, from 0, of a bit; None for a global."""
        name, index = bit
        for number, (array, growth, offset) in enumerate(self.tracks):
            if array == name and index and (index[0] - offset) % growth == 0:
                return number, (index[0] - offset) // growth
        return None
