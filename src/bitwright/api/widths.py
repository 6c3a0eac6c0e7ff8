"""How wide one network should be, as Python programs ask for it."""

from __future__ import annotations

from bitwright.api.arguments import pattern_asked
from bitwright.bits import whole_number
from bitwright.checking import width
from bitwright.checking.width import NetworkWidth
from bitwright.errors import InputError
from bitwright.program import Algorithm, Program
from bitwright.program.given import as_algorithm
from bitwright.running.observers import Progress


def network_width(
    what: Algorithm | Program,
    delta: float = 0.01,
    *,
    domain: str | None = None,
    padding: int | None = None,
    cells: bool = False,
    tile: int = 1,
    seed: int = 0,
    progress: Progress | None = None,
) -> NetworkWidth:
    """How wide one network with a zero-output start and calibrated rounding should be, by the width law.

    Nothing is trained. The law is of first order in 1/width, and no proof; `certify(what, network)` is one. `domain` is
    `states` (the default) or `runs` (states that runs meet); with `cells` it is of networks of the program's cells, in
    all their local states. `expected` should suffice with probability 1 - delta, `covering` covers all by the union.

    >>> from bitwright import addition
    >>> network_width(addition(32), cells=True).expected
    128
    """
    algorithm = as_algorithm(what)
    if whole_number(seed, "seed") < 0:
        raise InputError(f"the seed is 0 or more, got {seed}")
    pattern = pattern_asked([algorithm], cells, tile, None, padding)
    if pattern is None:
        chosen = "states" if domain is None else str(domain)
        return width.network_width(algorithm, delta, chosen, padding=padding or 0, seed=seed, progress=progress)
    if domain is not None or padding is not None:
        raise InputError("cells are looked at in all local states, without padding; leave out domain and padding")
    return width.cells_width(pattern, delta, seed=seed, progress=progress)
