"""The subject of a proof: a program or the cells of programs, and a network or the limit."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from bitwright.common.errors import InputError, OtherKindError, ProofError, counted, option
from bitwright.engines.cells.trained import as_algorithm, check_made_for
from bitwright.engines.cells.wiring import tile_of
from bitwright.engines.external import FittedModel
from bitwright.networks import AnyNetwork
from bitwright.networks.external import Model, as_model, is_model
from bitwright.proofs.exhaustion.domains import check_domain
from bitwright.rules import Algorithm, NodeProgram, Program
from bitwright.rules.algorithm import for_inputs
from bitwright.rules.cells import Tile
from bitwright.rules.pattern import Pattern, bit_names, is_pattern
from bitwright.verbs.certificates import BitNames, ProvedProgram
from bitwright.verbs.engines import choose_pattern
from bitwright.verbs.models import fit_model
from bitwright.verbs.network import Network, as_networks
from bitwright.verbs.progress import Teller
from bitwright.verbs.sizes import (
    InSizes,
    Programs,
    SizesAsked,
    at_every_size_or_own,
    at_size,
    by_algorithm,
    in_claimed_sizes,
    in_sizes,
    size_of,
)

if TYPE_CHECKING:
    from bitwright.verbs.certificates import Certificate

Provable = Network | AnyNetwork | Model | Callable[..., Any]  # the last is a PyTorch module
_NOTHING = InSizes(None, ())


@dataclass(frozen=True)
class ProofTarget:
    """The claim to prove: a network, or the limit, is right for a program or for the cells of programs."""

    algorithm: Algorithm  # the program, or the pattern of the cells
    pattern: Pattern
    network: AnyNetwork | FittedModel | None = None  # None: the limit
    programs: InSizes = _NOTHING  # that are made of these cells; none for a pattern by itself
    stated: Algorithm | None = None  # the program whose function is proved
    tile: Tile = "all"  # how many neighbouring cells of the programs are one
    names: BitNames = field(default_factory=dict)

    @property
    def cells(self) -> bool:
        return self.pattern.whole is None

    @property
    def sizes(self) -> str | None:
        """For cells: the sizes at which the program was found to have these kinds only."""
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
        """For single cells of a node program, the graphs on which they are of these kinds."""
        return self.programs.graphs if self.cells and self.tile == 1 else None  # a tile of a graph is no tile of others


def limit_target(
    programs: Programs,
    sizes: SizesAsked | None,
    tile: Tile | None,
    tell: Teller,
    n: str | None = None,
    padding: int | None = None,
    claimed: Certificate | None = None,
) -> ProofTarget:
    """The limit of networks of a whole state, or of cells at the given or `claimed` sizes."""
    first, single = by_algorithm(programs)[0], _single(programs)
    if claimed is None:
        tile = tile or ("all" if single is not None and sizes is None else 1)
        if tile == "all" and (sizes is not None or any(isinstance(one, NodeProgram) for one in programs)):
            raise InputError(f"sizes and node programs are proved by their cells; leave out {option('tile')} all")
    elif claimed.cells and not is_pattern(first.program):
        tile = tile or 1
    elif sizes is not None or tile is not None:
        raise InputError(f"the certificate is not one of cells; leave out {option('sizes')} and {option('tile')}")
    else:
        tile = "all"
    if tile == "all":
        pattern = choose_pattern(by_algorithm(programs), tile, n, padding)  # refuses several
        own = _NOTHING if claimed is not None and is_pattern(first.program) else in_sizes([first])
        return ProofTarget(first, pattern, None, own, first)
    with tell.working("looking for kinds of cells"):
        looked = in_sizes(programs, sizes) if claimed is None else in_claimed_sizes(claimed.sizes, programs, sizes)
        pattern = choose_pattern(looked.programs, tile, n, padding)
    if claimed is None:
        looked.check_covered_by(pattern, first.name, tile)
    elif sizes is None and claimed.sizes is not None:
        for one in by_algorithm(programs):
            tile_of(one.program, pattern)  # refuses cells of other kinds
    return ProofTarget(as_algorithm(pattern, f"cells of {first.name}"), pattern, None, looked, single, tile)


def network_target(
    programs: Programs,
    network: Provable,
    sizes: SizesAsked | None,
    tile: Tile | None,
    tell: Teller,
    *,
    device: str | None = None,
    domain: str | None = None,
    claimed: Certificate | None = None,
) -> ProofTarget:
    """A network, and the program or the cells of programs that it is proved for."""
    weights: AnyNetwork | FittedModel
    if is_model(network):
        model = as_model(network)
        if claimed is not None and claimed.model is not None:
            model = replace(model, reads=claimed.model["reads"], threshold=claimed.model["threshold"])
        weights, pattern = fit_model(model, programs, sizes, tile)
        if device not in (None, "cpu"):
            raise InputError(f"{model.name} is evaluated on the CPU; leave out {option('device')} {device}")
    else:
        if isinstance(network, list | tuple):
            raise InputError(f"give one network, got a {type(network).__name__}")
        (own,) = as_networks(network)
        weights, pattern = own.weights, own.pattern
        if not own.cells:
            if len(programs) > 1:
                raise InputError(f"this network is for one program, of whole states; got {len(programs):,} programs")
            program = by_algorithm(programs)[0].program
            check_made_for(own.weights, program)
            pattern = Pattern.of_state(program)
    if pattern.whole is None:
        check_domain(pattern.program, domain or "cells")
        described = f"cells of {counted(len(pattern.kinds), 'kind')}"
        cells = replace(as_algorithm(pattern, by_algorithm(programs)[0].name), description=described)
        target = ProofTarget(cells, pattern, weights)
        return _cells_target(programs, target, sizes, tell, claimed)
    (algorithm,) = by_algorithm(programs)
    if sizes is not None:
        raise InputError(f"this network was trained on a whole program, not on cells; leave out {option('sizes')}")
    own_size = _NOTHING if is_pattern(algorithm.program) else in_sizes([algorithm])
    return ProofTarget(algorithm, pattern, weights, own_size, algorithm)


def _cells_target(
    programs: Programs,
    target: ProofTarget,
    sizes: SizesAsked | None,
    tell: Teller,
    claimed: Certificate | None,
) -> ProofTarget:
    """A network of cells, after checking that the programs have cells of its kinds only."""
    first, pattern = by_algorithm(programs)[0], target.pattern
    target = replace(target, tile=1)
    if first.program == pattern.program and len(programs) == 1 and sizes is None:
        return target
    with tell.working("comparing kinds of cells") as step:
        looked = _programs_to_compare(programs, pattern, sizes, claimed)
        here = [*looked.programs]
        if sizes is None and claimed is not None:  # the program that is given, too
            here += by_algorithm(programs)
        found: list[tuple[Tile, tuple[Program, Any]]] = []
        for number, one in enumerate(here):
            if len(here) > 1:
                step(number, len(here))
            try:
                tile, own = tile_of(one.program, pattern)
            except OtherKindError as error:
                where = f"{at_size(first.name, size_of(one))}: {error}"
                if claimed is not None and number < len(looked.programs) and looked.text == claimed.sizes is not None:
                    raise ProofError(f"the certificate says sizes = {claimed.sizes}, but {where}") from None
                raise OtherKindError(where) from None
            found.append((tile, (one.program, own)))
    tiles = sorted({tile for tile, _ in found}, key=str) or [1]
    target = replace(target, names=bit_names(pattern, [own for _, own in found]))
    looked.check_covered_by(pattern, first.name, tiles[-1])
    target = replace(target, programs=looked, stated=_single(programs), tile=tiles[-1])
    tell.note(_covered(target, tiles))
    return target


def _single(programs: Programs) -> Algorithm | None:
    return programs[0] if len(programs) == 1 and isinstance(programs[0], Algorithm) else None


def _programs_to_compare(
    programs: Programs, pattern: Pattern, sizes: SizesAsked | None, claimed: Certificate | None
) -> InSizes:
    """The programs whose cells are compared: at every size if that can be proved and the network has all kinds."""
    if claimed is not None:
        return in_claimed_sizes(claimed.sizes, programs, sizes)
    if sizes is not None or len(programs) > 1:
        return in_sizes(programs, sizes)
    looked = at_every_size_or_own(programs[0])
    try:
        covered = looked.proof is None or all(seen.kind in pattern.kinds for seen in looked.proof.kinds)
        if covered and all(tile_of(one.program, pattern)[0] == 1 for one in looked.programs):
            return looked
    except OtherKindError:
        pass
    return in_sizes(programs)


def _covered(target: ProofTarget, tiles: Sequence[Tile]) -> str:
    """A note on the program and the sizes that were compared."""
    name, graphs = target.algorithm.name, target.about.graphs
    what = name if graphs and target.sizes is None else at_size(name, target.sizes)
    tiled = "" if tiles == [1] else f", {' or '.join(map(str, tiles))} neighbouring cells as one"
    return f"all cells of {what}{f', on {graphs},' if graphs else ''} are of the network's kinds{tiled}"
