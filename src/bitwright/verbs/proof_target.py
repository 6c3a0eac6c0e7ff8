"""The subject of a proof: a program or the cells of programs, and a network or the limit."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from bitwright.common.errors import InputError, option
from bitwright.rules.algorithm import Algorithm, for_inputs
from bitwright.rules.pattern import Pattern, is_pattern
from bitwright.verbs.certificates import BitNames, ProvedProgram
from bitwright.verbs.open import is_node_program
from bitwright.verbs.sizes import InSizes, by_algorithm, choose_pattern, in_claimed_sizes, in_sizes

if TYPE_CHECKING:
    from bitwright.engines.external import FittedModel
    from bitwright.networks import IntegerNetwork
    from bitwright.rules.cells import Tile
    from bitwright.verbs.certificates import Certificate
    from bitwright.verbs.progress import Teller
    from bitwright.verbs.sizes import Programs, SizesAsked

NOTHING = InSizes(None, ())


@dataclass(frozen=True)
class ProofTarget:
    """The claim to prove: a network or the limit is correct for a program or for the cells of programs."""

    algorithm: Algorithm  # the program, or the pattern of the cells
    pattern: Pattern
    network: IntegerNetwork | FittedModel | None = None  # None: the limit
    programs: InSizes = NOTHING  # the programs made of these cells; none for a pattern by itself
    stated: Algorithm | None = None  # the program whose function is proved
    tile: Tile = "all"  # how many neighbouring cells of the programs are one
    names: BitNames = field(default_factory=dict)

    @property
    def cells(self) -> bool:
        return self.pattern.whole is None

    @property
    def sizes(self) -> str | None:
        """For cells: the sizes at which all cells of the program are of these kinds."""
        return self.programs.text if self.cells else None

    @property
    def about(self) -> ProvedProgram:
        """The program as the certificate describes it."""
        one, of = self.algorithm, self.stated
        ensures, inputs = () if of is None else tuple(map(str, of.ensures)), ""
        if of is not None and of.conditions:
            inputs = f" {for_inputs(of)}"
        return ProvedProgram(one.name, one.description, self.graphs, self.names, one.matches, ensures, inputs)

    @property
    def graphs(self) -> str | None:
        """For the single cells of a node program, the graphs on which all cells are of these kinds."""
        return self.programs.graphs if self.cells and self.tile == 1 else None  # tiles depend on the graph


def limit_target(
    programs: Programs,
    sizes: SizesAsked | None,
    tile: Tile | None,
    tell: Teller,
    n: str | None = None,
    padding: int | None = None,
    claimed: Certificate | None = None,
) -> ProofTarget:
    """Returns the limit as the subject of a proof: for a whole state, or for cells at the given or `claimed` sizes."""
    first = by_algorithm(programs)[0]
    single = first if len(programs) == 1 and first is programs[0] else None
    if claimed is None:
        tile = tile or ("all" if single is not None and sizes is None else 1)
        if tile == "all" and (sizes is not None or any(map(is_node_program, programs))):
            raise InputError(f"sizes and node programs are proved through their cells; leave out {option('tile')} all")
    elif claimed.cells and not is_pattern(first.program):
        tile = tile or 1
    elif sizes is not None or tile is not None:
        raise InputError(f"this certificate is not about cells; leave out {option('sizes')} and {option('tile')}")
    else:
        tile = "all"
    if tile == "all":
        pattern = choose_pattern(by_algorithm(programs), tile, n, padding)  # rejects several programs
        own = NOTHING if claimed is not None and is_pattern(first.program) else in_sizes([first])
        return ProofTarget(first, pattern, None, own, first)

    from bitwright.engines.cells.wiring import tile_of

    with tell.working("looking for kinds of cells"):
        looked = in_sizes(programs, sizes) if claimed is None else in_claimed_sizes(claimed.sizes, programs, sizes)
        pattern = choose_pattern(looked.programs, tile, n, padding)
    if claimed is None:
        looked.check_covered_by(pattern, first.name, tile)
    elif sizes is None and claimed.sizes is not None:
        for one in by_algorithm(programs):
            tile_of(one.program, pattern)  # rejects cells of other kinds
    return ProofTarget(Algorithm(f"cells of {first.name}", pattern.program), pattern, None, looked, single, tile)
