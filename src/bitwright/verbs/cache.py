"""The cache of networks that runs have trained: its folder, its contents, and how to clear it."""

from __future__ import annotations

from typing import Any

from bitwright.common.errors import counted
from bitwright.networks import cache
from bitwright.networks.cache import CachedNetwork
from bitwright.rules.algorithms.arithmetic import known_algorithm
from bitwright.rules.pattern import read_pattern
from bitwright.verbs.network import trained_for
from bitwright.verbs.reports import Summary

_SETTINGS = ("program_id", "seed", "member", "padding", "start", "parametrization", "kernel")


def look_at_cache() -> Summary:
    """The networks in the cache; each is read completely and compared with its digest. True if all can be used."""
    folder, found = cache.networks_folder(), list(cache.entries())
    rows, entries = zip(*map(_describe, found), strict=True) if found else ((), ())
    size = sum(one.bytes for one in found)
    data = {"folder": str(folder), "bytes": size, "entries": list(entries)}
    sentence = f"{folder}: {counted(len(found), 'network')}, {_size(size)}"
    return Summary(sentence, rows, data, all(one.problem is None for one in found))


def clear_cache() -> Summary:
    """Removes all networks from the cache; other files in its folder stay."""
    folder, (removed, size) = cache.networks_folder(), cache.clear_cache()
    data = {"folder": str(folder), "removed": removed, "bytes": size}
    return Summary(f"removed {counted(removed, 'network')}, {_size(size)}, from {folder}", (), data)


def _describe(one: CachedNetwork) -> tuple[str, dict[str, Any]]:
    """A row for one network, and what `--json` prints of it."""
    what, known = "unreadable", dict[str, Any]()
    if (about := one.about) is not None:
        origin = about.origin
        algorithm = known_algorithm(about.bits, about.examples, origin.program_id)
        pattern = read_pattern(about.bits, about.examples) if algorithm is None else None
        of = trained_for(algorithm, pattern, origin.program_id, len(about.bits), len(about.examples))
        member = f", member {origin.member}" if origin.member else ""
        padding = f", padding {origin.padding:,}" if origin.padding else ""
        what = f"{of}, width {about.width:,}, seed {origin.seed}{member}{padding}"
        known = {setting: getattr(origin, setting) for setting in _SETTINGS} | {
            "name": None if algorithm is None else algorithm.name,
            "bits": None if algorithm is None else len(algorithm.inputs[0].bits),
            "examples": len(about.examples) + origin.padding,
            "width": about.width,
            "digest": about.digest,
        }
    problem = "" if one.problem is None else f"; not usable: {one.problem}"
    data = {"file": one.path.name, "bytes": one.bytes, **known, "problem": one.problem}
    return f"  {_size(one.bytes):>9}  {what}{problem}", data


def _size(size: int) -> str:
    for unit, scale in (("GB", 1e9), ("MB", 1e6), ("kB", 1e3)):
        if size >= scale:
            return f"{size / scale:.3g} {unit}"
    return f"{size} B"
