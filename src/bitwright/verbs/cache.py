"""The networks that runs trained and kept: where they are, what they are, and how to remove them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bitwright.common.errors import Report, counted
from bitwright.networks import cache
from bitwright.networks.cache import CachedNetwork
from bitwright.rules import Algorithm
from bitwright.rules.algorithms.arithmetic import known_algorithm
from bitwright.rules.pattern import read_pattern
from bitwright.verbs.network import trained_for


@dataclass(frozen=True)
class CacheEntry:
    """One network of the cache."""

    network: CachedNetwork

    @property
    def algorithm(self) -> Algorithm | None:
        """The shipped algorithm that it was trained for, if it is one."""
        about = self.network.about
        return None if about is None else known_algorithm(about.bits, about.examples, about.origin.program_id)

    def __str__(self) -> str:
        what = "unreadable"
        if (about := self.network.about) is not None:
            origin, known = about.origin, self.algorithm
            pattern = read_pattern(about.bits, about.examples) if known is None else None
            of = trained_for(known, pattern, origin.program_id, len(about.bits), len(about.examples))
            member = f", member {origin.member}" if origin.member else ""
            padding = f", padding {origin.padding:,}" if origin.padding else ""
            what = f"{of}, width {about.width:,}, seed {origin.seed}{member}{padding}"
        problem = "" if self.network.problem is None else f"; not usable: {self.network.problem}"
        return f"  {_size(self.network.bytes):>9}  {what}{problem}"

    def to_dict(self) -> dict[str, Any]:
        known: dict[str, Any] = {}
        if (about := self.network.about) is not None:
            origin, algorithm = about.origin, self.algorithm
            settings = ("program_id", "seed", "member", "padding", "start", "parametrization", "kernel")
            known = {setting: getattr(origin, setting) for setting in settings} | {
                "name": None if algorithm is None else algorithm.name,
                "bits": None if algorithm is None else len(algorithm.inputs[0].bits),
                "examples": len(about.examples) + origin.padding,
                "width": about.width,
                "digest": about.digest,
            }
        return {"file": self.network.path.name, "bytes": self.network.bytes, **known, "problem": self.network.problem}


@dataclass(frozen=True, repr=False)
class Cache(Report):
    """The contents of the cache."""

    folder: Path
    entries: tuple[CacheEntry, ...]

    @property
    def bytes(self) -> int:
        """The size of all entries together."""
        return sum(entry.network.bytes for entry in self.entries)

    def __bool__(self) -> bool:
        """Whether no entry has a problem."""
        return all(entry.network.problem is None for entry in self.entries)

    @property
    def sentence(self) -> str:
        """Where the cache is, and how large."""
        return f"{self.folder}: {counted(len(self.entries), 'network')}, {_size(self.bytes)}"

    def rows(self) -> Iterable[str]:
        return map(str, self.entries)

    def to_dict(self) -> dict[str, Any]:
        """What `bitwright cache --json` prints."""
        entries = [entry.to_dict() for entry in self.entries]
        return {"folder": str(self.folder), "bytes": self.bytes, "entries": entries}


@dataclass(frozen=True)
class Cleared:
    """What was removed from the cache."""

    folder: Path
    networks: int
    bytes: int

    def __str__(self) -> str:
        return f"removed {counted(self.networks, 'network')}, {_size(self.bytes)}, from {self.folder}"

    def to_dict(self) -> dict[str, Any]:
        """What `bitwright cache --clear --json` prints."""
        return {"folder": str(self.folder), "removed": self.networks, "bytes": self.bytes}


def look_at_cache() -> Cache:
    """The networks in the cache; each is read completely and compared with its digest."""
    folder = cache.networks_folder()
    return Cache(folder, tuple(map(CacheEntry, cache.entries())))


def clear_cache() -> Cleared:
    """Removes all networks from the cache; other files in its folder stay."""
    return Cleared(cache.networks_folder(), *cache.clear_cache())


def _size(size: int) -> str:
    for unit, scale in (("GB", 1e9), ("MB", 1e6), ("kB", 1e3)):
        if size >= scale:
            return f"{size / scale:.3g} {unit}"
    return f"{size} B"
