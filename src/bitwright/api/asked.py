"""What is to be proved: a network, in whatever form it is given, and the program or cells that it is proved for."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from os import PathLike
from pathlib import Path

from bitwright.api.certificates import Claimed, NetworkCertificate
from bitwright.api.chain import Links, links_of
from bitwright.api.claimed import Subject, by_algorithm, claimed_sizes, in_those_sizes, opened_subjects
from bitwright.api.models import fitted
from bitwright.api.network import Network
from bitwright.api.open import SIZED
from bitwright.api.sizes import InSizes, ProgramAtSize, SizesAsked, at_size, check_covers, every_size_or_own, in_sizes
from bitwright.api.telling import Teller
from bitwright.api.trained import is_of_cells
from bitwright.engines.cells.trained import as_algorithm, check_made_for, load_cells, pattern_in
from bitwright.engines.cells.wiring import tile_of
from bitwright.engines.foreign import FittedModel
from bitwright.errors import InputError, OtherKindError, ProofError, counted
from bitwright.files.storage import as_path
from bitwright.networks import AnyNetwork, FloatNetwork, IntegerNetwork
from bitwright.networks.cache import network_files
from bitwright.networks.foreign import HeldModel, Model, is_model
from bitwright.networks.foreign.model import Given
from bitwright.program import Algorithm, NodeProgram
from bitwright.program.cells import Tile
from bitwright.program.pattern import Pattern, bit_names

Provable = str | PathLike[str] | Network | AnyNetwork | Model | HeldModel | Given


@dataclass(frozen=True)
class Held:
    """A network to prove: its weights, and the pattern of its cells."""

    name: str
    pattern: Pattern
    weights: AnyNetwork | FittedModel
    algorithm: Algorithm | None = None  # that a file of the whole state is for

    def on(self, device: str | None) -> Held:
        """The same network; a module of your own runs on the named device, and so is only tested."""
        if device is None or not isinstance(self.weights, FittedModel):
            return self
        return replace(self, weights=self.weights.on(device))


@dataclass(frozen=True)
class Asked:
    """A network, and what it is proved for: the program, or the pattern of its cells."""

    algorithm: Algorithm
    network: AnyNetwork | FittedModel
    pattern: Pattern
    sizes: str | None = None  # of cells: those at which the program was seen to be of these kinds
    tile: Tile = 1  # of cells: how many neighbouring ones of the program are one
    graphs: str | None = None
    names: dict[str, tuple[str, ...]] | None = None
    links: Links = field(default_factory=Links)
    oracle: FittedModel | None = None  # what is right, in place of the rules

    @property
    def about(self) -> Claimed:
        """What the certificate says about it."""
        name, description = self.algorithm.name, self.algorithm.description
        return Claimed(name, description, self.graphs, self.names or {}, links=self.links)


def held_network(
    network: Provable,
    what: Subject | Sequence[Subject],
    sizes: SizesAsked | None = None,
    tile: Tile | None = None,
) -> Held:
    """The network that was given, as weights or as a file, with the pattern of its cells."""
    if is_model(network):
        found, of = fitted(network, what, sizes, tile)
        return Held(found.model.name, of, found)
    if isinstance(network, str | PathLike):
        files = network_files(as_path(network, "a network file"))
        if len(files) > 1:
            raise InputError(f"{network} holds several networks; quantize them into one, which can be proved")
        algorithm = None if is_of_cells(files[0]) else _whole(what, files[0])
        pattern = pattern_in(files[0], None if algorithm is None else algorithm.program)
        return Held(str(network), pattern, load_cells(files, pattern)[0], algorithm)
    weights = network.weights if isinstance(network, Network) else network
    if isinstance(network, Network) and network.cells:
        assert network.pattern is not None
        return Held("this network", network.pattern, network.weights)
    if isinstance(weights, FloatNetwork | IntegerNetwork):
        algorithm = _whole(what)
        check_made_for(weights, algorithm.program)
        return Held("this network", Pattern.of_state(algorithm.program), weights, algorithm)
    raise InputError(f"give one network, or the path of its file, got a {type(network).__name__}")


def asked_for(
    what: Subject | Sequence[Subject],
    held: Held,
    sizes: SizesAsked | None,
    tell: Teller,
    *,
    skip: bool = False,
    claimed: NetworkCertificate | None = None,
    function: bool = False,
) -> Asked:
    """What is to be proved, after checking that the program's cells are of the network's kinds.

    `skip` ignores cells of other kinds: a local state can be looked at whatever cells the program has.
    """
    if held.pattern.whole is not None:
        algorithm = held.algorithm or _whole(what)
        links = Links() if skip else links_of(algorithm, in_sizes(algorithm), None, tell, function)
        return Asked(algorithm, held.weights, held.pattern, links=links)
    subjects, pattern = opened_subjects(what), held.pattern
    first = by_algorithm(subjects)[0]
    description = f"cells of {counted(len(pattern.kinds), 'kind')}"
    cells = replace(as_algorithm(pattern, first.name), description=description)
    if first.program == pattern.program and len(subjects) == 1 and sizes is None:
        return Asked(cells, held.weights, pattern)
    with tell.working("comparing kinds of cells") as step:
        looked = _looked(subjects, pattern, sizes, claimed)
        also = (
            [ProgramAtSize(one, None) for one in by_algorithm(subjects)]
            if claimed is not None and sizes is None
            else []
        )
        cells_of, tiles = [], set[Tile]()
        for number, one in enumerate(programs := [*looked.programs, *also]):
            if len(programs) > 1:
                step(number, len(programs))
            try:
                tile, own = tile_of(one.algorithm.program, pattern)
            except OtherKindError as error:
                if skip:
                    continue
                where = f"{at_size(first.name, one.size)}: {error}"
                if claimed is not None and number < len(looked.programs) and looked.text == claimed.sizes is not None:
                    raise ProofError(f"the certificate says sizes = {claimed.sizes}, but {where}") from None
                raise OtherKindError(where) from None
            tiles.add(tile)
            cells_of.append((one.algorithm.program, own))
    if not skip:
        check_covers(looked, pattern, first.name, max(tiles, default=1, key=str))
    graphs = looked.graphs if tiles == {1} else None  # tiles of a graph are not those of the schema
    single = subjects[0] if len(subjects) == 1 and isinstance(subjects[0], Algorithm) else None
    links = Links() if skip else links_of(single, looked, len(pattern.kinds), tell, function, graphs)
    names = bit_names(pattern, cells_of)
    asked = Asked(cells, held.weights, pattern, looked.text, max(tiles, default=1, key=str), graphs, names, links)
    if not skip:
        tell.note(_covered(asked, sorted(tiles, key=str)))
    return asked


def _looked(
    subjects: Sequence[Algorithm | NodeProgram],
    pattern: Pattern,
    sizes: SizesAsked | None,
    claimed: NetworkCertificate | None,
) -> InSizes:
    """The programs whose cells are compared: at every size if that is provable and the network has all kinds."""
    if claimed is not None:
        return claimed_sizes(claimed.sizes, subjects, sizes)
    if sizes is not None or len(subjects) > 1:
        return in_those_sizes(subjects, sizes)
    looked = every_size_or_own(subjects[0])
    try:
        whole = looked.proof is None or all(seen.kind in pattern.kinds for seen in looked.proof.kinds)
        if not whole or any(tile_of(one.algorithm.program, pattern)[0] != 1 for one in looked.programs):
            return in_sizes(subjects[0])
    except OtherKindError:
        return in_sizes(subjects[0])
    return looked


def _covered(asked: Asked, tiles: list[Tile]) -> str:
    """A note on which program was looked at, and in which sizes."""
    name, graphs = asked.algorithm.name, "" if asked.graphs is None else f", on {asked.graphs},"
    what = name if graphs and asked.sizes is None else at_size(name, asked.sizes)
    tiled = "" if tiles == [1] else f", {' or '.join(map(str, tiles))} neighbouring cells as one"
    return f"all cells of {what}{graphs} are of the network's kinds{tiled}"


def _whole(what: Subject | Sequence[Subject], file: Path | None = None) -> Algorithm:
    """The one program that a network of whole states is for; a shipped name has the size of the network's file."""
    if isinstance(what, str) and what in SIZED and file is not None:
        from bitwright.api.trained import trained_algorithm

        return trained_algorithm(what, [file])
    subjects = opened_subjects(what)
    if len(subjects) > 1:
        raise InputError(f"this network is for one program, of whole states; got {len(subjects):,} programs")
    return by_algorithm(subjects)[0]
