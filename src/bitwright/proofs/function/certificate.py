"""The certificate for a proof at every length, as a dictionary to be written as JSON.

    format       "bitwright function 1"
    program      {"size": the name of its size, "numbers": {name: [a, b], which means a * size + b}, "ensures",
                  "conditions": the `where` lines, if there are any,
                  "sizes": the sizes that the proof covers, such as "l>=1, k=3",
                  "at": a size, "id": the sha256 of the canonical rules at that size}
    chain        {"unit", "extra": positions = size * unit + extra, "tracks": names of the bits of a letter, "globals",
                  "places": [[array, g, s, d], ...], one for each track: array bit g*k - s is at position k - d,
                  "classes": {"1".."5": {"present", "start", "free": masks of tracks,
                                         "rules": [[mask, value, to_left, here, to_right, to_globals], ...]}},
                  "global_rules": [[mask, value, here], ...], "start_globals"}
    clock        {"sweeps": [["up" | "down", steps at a position], ...], "delay", "early", "fixed": steps or null}
    inputs_in_windows   whether letters contain their input
    laws         [[weights of the tracks, weights of the inputs, constant, power], ...]: the sum of weight * 2^j over
                 the bits at positions j from 0, the constant, and power * 2^positions; null means modulo 2^positions
    letters      [[class, clock, input, bits], ...], numbered from 1; number 0 stands for the start of the word
    windows      [[globals, [[letter, [letters that may follow]], ...]], ...]
    verdicts     [[globals, [[sign of each law: -1, 0 or 1], ...]], ...]
    short        sizes with fewer than five positions, at which all inputs were run

Bit t of a mask is track t, or global t in a mask of globals. A word is a sequence of letters of the classes 1 2 3 ... 3
4 5, starting at position 0. It belongs to the invariant if, for the value of the globals, each letter may follow its
predecessor and the signs of its laws are listed. With a clock of fixed steps, the value also contains the number of
steps so far: value = globals + (steps << number of globals). A letter's clock is numbered as in `machine.Clock`; -d
means d steps before the first sweep.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from bitwright.proofs.function.chain import SHORTEST, ChainProgram
from bitwright.proofs.function.closure import START, Invariant, Search
from bitwright.proofs.sizes import CoveredSizes
from bitwright.rules.algorithm import Algorithm

FORMAT = "bitwright function 1"


def certificate(
    chain: ChainProgram,
    algorithm: Algorithm,
    search: Search,
    invariant: Invariant,
    short: list[int],
    sizes: CoveredSizes,
    lets: Mapping[str, int],
) -> dict[str, Any]:
    """Returns everything a checker needs to verify the start, one round and the end."""
    used = {letter for windows in invariant.windows.values() for after in windows.values() for letter in after}
    letters = sorted(used)
    at = next(size for size in chain.sizes if chain.length(size) >= SHORTEST)
    number = {START: 0, **{letter: place for place, letter in enumerate(letters, start=1)}}
    return {
        "format": FORMAT,
        "program": {
            "size": chain.size,
            "sizes": str(sizes),
            "numbers": {n: list(form) for n, form in chain.forms.items() if form[0] or n in sizes.fixed},
            "ensures": [str(line) for line in algorithm.ensures],
            **({"conditions": [str(line) for line in algorithm.conditions]} if algorithm.conditions else {}),
            "at": at,
            "id": chain.rules.at({**lets, chain.size: at}).program.id,
        },
        "chain": {
            "unit": chain.unit,
            "extra": chain.extra,
            "tracks": list(chain.tracks),
            "places": [list(place) for place in chain.places],
            "globals": list(chain.globals),
            "classes": {
                str(kind): {
                    "present": found.present,
                    "start": found.start,
                    "free": found.free,
                    "rules": [[r.mask, r.value, r.to_left, r.here, r.to_right, r.to_globals] for r in found.rules],
                }
                for kind, found in sorted(chain.classes.items())
            },
            "global_rules": [[r.mask, r.value, r.here] for r in chain.global_rules],
            "start_globals": chain.start_globals,
        },
        "clock": search.machine.clock.to_dict(),
        "inputs_in_windows": search.machine.ghosts,
        "laws": [[list(law.tracks), list(law.inputs), law.constant, law.power] for law in search.laws],
        "letters": [list(letter) for letter in letters],
        "windows": [
            [state, [[number[b], sorted(number[a] for a in after)] for b, after in sorted(windows.items()) if after]]
            for state, windows in sorted(invariant.windows.items())
            if windows
        ],
        "verdicts": [[state, sorted(map(list, found))] for state, found in sorted(invariant.verdicts.items()) if found],
        "short": short,
    }
