"""Proofs: that the limit, or one network, takes every step of a program's rules; or a state that comes out wrong."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from os import PathLike
from pathlib import Path
from typing import overload

from bitwright.api.certificates import (
    Claimed,
    LimitCertificate,
    NetworkCertificate,
    StateLookedAt,
    chained,
)
from bitwright.api.certify_limit import certify_limit
from bitwright.api.chain import Links, links_of
from bitwright.api.claimed import Subject, by_algorithm, claimed_sizes, in_those_sizes, opened_subjects, telling_of
from bitwright.api.network import Network
from bitwright.api.notes import say_compiling
from bitwright.api.open import SIZED
from bitwright.api.sizes import AtSize, InSizes, SizesAsked, at_size, check_covers, every_size_or_own, in_sizes
from bitwright.api.telling import Teller, teller
from bitwright.engines.cells.trained import TrainedCells, as_algorithm, check_made_for, load_cells, pattern_in
from bitwright.engines.cells.wiring import tile_of
from bitwright.errors import InputError, OtherKindError, ProofError, counted, listing, option
from bitwright.files.storage import as_path
from bitwright.networks import AnyNetwork, FloatNetwork, IntegerNetwork, load_any_network
from bitwright.networks.members import network_files
from bitwright.program import Algorithm, NodeProgram, Program
from bitwright.program.cell_names import bit_names
from bitwright.program.pattern import Pattern, is_pattern
from bitwright.proofs.exhaustion.domains import check_domain, usual_domain
from bitwright.running.progress import Progress
from bitwright.theory.rounding import ROUNDINGS
from bitwright.workers import Workers

Provable = str | PathLike[str] | Network | AnyNetwork | TrainedCells


@overload
def certify(
    what: Subject | Sequence[Subject],
    network: None = None,
    *,
    sizes: SizesAsked | None = None,
    rounding: str | None = None,
    n: str | None = None,
    padding: int | None = None,
    cells: bool | None = None,
    tile: int | None = None,
    function: bool = False,
    progress: Teller | Progress | bool | None = None,
) -> LimitCertificate: ...
@overload
def certify(
    what: Subject | Sequence[Subject], network: Provable, *, state: str, sizes: SizesAsked | None = None
) -> StateLookedAt: ...
@overload
def certify(
    what: Subject | Sequence[Subject],
    network: Provable | None = None,
    *,
    sizes: SizesAsked | None = None,
    domain: str | None = None,
    rounding: str | None = None,
    n: str | None = None,
    padding: int | None = None,
    cells: bool | None = None,
    tile: int | None = None,
    state: None = None,
    device: str | None = None,
    workers: str | int = "1",
    yes: bool = False,
    resume: str | PathLike[str] | None = None,
    function: bool = False,
    progress: Teller | Progress | bool | None = None,
) -> NetworkCertificate: ...
def certify(
    what: Subject | Sequence[Subject],
    network: Provable | None = None,
    *,
    sizes: SizesAsked | None = None,
    domain: str | None = None,
    rounding: str | None = None,
    n: str | None = None,
    padding: int | None = None,
    cells: bool | None = None,
    tile: int | None = None,
    state: str | None = None,
    device: str | None = None,
    workers: str | int = "1",
    yes: bool = False,
    resume: str | PathLike[str] | None = None,
    function: bool = False,
    progress: Teller | Progress | bool | None = None,
) -> LimitCertificate | NetworkCertificate | StateLookedAt:
    """Proves or refutes that a network takes every step of the rules; without a network, that the limit does.

    `what` is a program, its file or its name, or a list of programs whose cells are proved together.

    With a `network`, or its file, every state of a `domain` is tried in exact arithmetic: `states` (one choice in every
    block, the default) or `runs` (all states that runs of all inputs meet). The domain of a network of cells is
    `cells`, all their local states; the cells of the program, at these `sizes` ("1..64", "l=1..64" or range(1, 65)),
    must be of its kinds. A long proof moves to a GPU unless a `device` is named; one of more than 10 minutes is refused
    without `yes`. After an interruption it continues from the file `resume`. `state` looks at one state instead, the
    one with these bits on.

    >>> from bitwright import addition, multiplication, train
    >>> adder = train(addition(4))
    >>> print(certify(addition(9), adder).sentence)
    certified: this network, 16 states of every program made of these kinds of cells; this program is one at every size
    >>> certify("addition", adder, sizes="1..64").sizes
    '1..64'
    >>> print(certify("addition", adder, state="p[1]").sentence)
    n = 1: 1 example matched, right

    Without a network the proof is of the limit, the mean of infinitely wide networks, with K and n as in a run with the
    same `rounding` ("calibrated" or "sign") and `padding`. `n` says how the number of matches is bounded: `blocks`
    (proved, the default), `declared` (an assumption, which the certificate names) or `reachable` (met in the runs of
    all inputs). With `cells`, or `sizes`, or a `tile` of neighbouring cells, it is the limit of networks of cells; n is
    then a cell's own. Node programs are certified by their cells.

    >>> print(certify(multiplication(10)).sentence)
    certified
    >>> certify("multiplication", sizes="1..8").program_id == certify("multiplication", sizes=range(1, 9)).program_id
    True

    What the rules compute is proved too if the program has an `ensure` line: at every size if possible, else at the
    sizes looked at. `function=True` proves it of the code of a machine, which can take minutes.

    progress=True says on standard error what is done, how much there is and about how long it takes; or give a function
    of what is done and how much there is.
    """
    tell = teller(progress)
    if network is None:
        _only_with_network(domain=domain, state=state, device=device, resume=resume, yes=yes, workers=workers)
        if n == "reachable" and not hasattr(progress, "working"):
            say_compiling()
        return certify_limit(what, sizes, rounding, n, padding, cells, tile, tell, function)
    _only_of_limit(network, rounding, n=n, padding=padding, tile=tile)
    held = _held(network)
    if held.pattern is None and (cells or sizes is not None):
        left_out = f"leave out {option('cells')} and {option('sizes')}"
        raise InputError(f"{held.name} was trained on a whole program, not on cells; {left_out}")
    if state is not None:
        if domain is not None or resume is not None:
            raise InputError(
                f"{option('state')} looks at one state; leave out {option('domain')} and {option('resume')}"
            )
        return _look(_asked(what, held, sizes, tell, skip=True), held.pattern, state)
    if held.pattern is not None:
        check_domain(held.pattern.program, domain or "cells")
    who = Workers.parse(str(workers), str(device or "cpu"))
    asked = _asked(what, held, sizes, tell, function=function)
    file = None if resume is None else as_path(resume, "the file to resume from")
    return _certify_network(asked, domain, who, None if device is None else str(device), yes, file, tell)


@dataclass(frozen=True)
class _Held:
    """A network that is to be proved: its weights, or the file that has them, and the pattern of its cells."""

    name: str
    pattern: Pattern | None
    weights: AnyNetwork | None
    file: Path | None = None

    def for_program(self, program: Program) -> AnyNetwork:
        """The weights of a network of whole states; raises InputError unless it was made for this program."""
        if self.weights is None:
            assert self.file is not None
            return load_any_network(self.file, program)
        check_made_for(self.weights, program)
        return self.weights


@dataclass(frozen=True)
class _Asked:
    """A network, and what it is proved for: the program, or the pattern of its cells."""

    algorithm: Algorithm
    network: AnyNetwork
    sizes: str | None = None  # of cells: those at which the program was seen to be of these kinds
    tile: int = 1  # of cells: how many neighbouring ones of the program are one
    graphs: str | None = None
    names: dict[str, tuple[str, ...]] | None = None
    links: Links = field(default_factory=Links)

    @property
    def about(self) -> Claimed:
        """What a certificate is told of it."""
        name, description = self.algorithm.name, self.algorithm.description
        return Claimed(name, description, self.graphs, self.names or {}, links=self.links)


def _held(network: Provable) -> _Held:
    if isinstance(network, str | PathLike):
        files = network_files(Path(network))
        if len(files) > 1:
            raise InputError(f"{network} holds several networks; quantize them into one, which can be proved")
        if (pattern := pattern_in(files[0])) is None:
            return _Held(str(network), None, None, files[0])
        return _Held(str(network), pattern, load_cells(files, pattern)[0])
    if isinstance(network, Network):
        return _Held("this network", network.pattern, network.weights)
    if isinstance(network, TrainedCells):
        return _Held("this network", network.pattern, network.network)
    if isinstance(network, FloatNetwork | IntegerNetwork):
        return _Held("this network", None, network)
    raise InputError(f"give one network, or the path of its file, got a {type(network).__name__}")


def _asked(
    what: Subject | Sequence[Subject],
    held: _Held,
    sizes: SizesAsked | None,
    tell: Teller,
    *,
    skip: bool = False,
    claimed: NetworkCertificate | None = None,
    function: bool = False,
) -> _Asked:
    """What is to be proved, after looking that the cells of the program are of the network's kinds.

    Of other kinds `skip` takes no notice: a local state can be looked at whatever the program has.
    """
    if held.pattern is None:
        algorithm = _whole(what, held.file)
        network = held.for_program(algorithm.program)
        links = Links() if skip else links_of(algorithm, in_sizes(algorithm), None, tell, function)
        return _Asked(algorithm, network, links=links)
    assert held.weights is not None
    subjects, pattern = opened_subjects(what), held.pattern
    first = by_algorithm(subjects)[0]
    description = f"cells of {counted(len(pattern.kinds), 'kind')}"
    cells = replace(as_algorithm(pattern, first.name), description=description)
    if first.program == pattern.program and len(subjects) == 1 and sizes is None:
        return _Asked(cells, held.weights)
    with tell.working("comparing kinds of cells") as step:
        looked = _looked(subjects, pattern, sizes, claimed)
        also = [AtSize(one, None) for one in by_algorithm(subjects)] if claimed is not None and sizes is None else []
        cells_of, tiles = [], set()
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
        check_covers(looked, pattern, first.name, max(tiles, default=1))
    graphs = looked.graphs if tiles == {1} else None  # tiles of a graph are not those of the schema
    single = subjects[0] if len(subjects) == 1 and isinstance(subjects[0], Algorithm) else None
    links = Links() if skip else links_of(single, looked, len(pattern.kinds), tell, function, graphs)
    names = bit_names(pattern, cells_of)
    asked = _Asked(cells, held.weights, looked.text, max(tiles, default=1), graphs, names, links)
    if not skip:
        tell.note(_covered(asked, sorted(tiles)))
    return asked


def _looked(
    subjects: Sequence[Algorithm | NodeProgram],
    pattern: Pattern,
    sizes: SizesAsked | None,
    claimed: NetworkCertificate | None,
) -> InSizes:
    """The programs whose cells are compared: at every size if it can be proved and the network has all those kinds."""
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


def _covered(asked: _Asked, tiles: list[int]) -> str:
    """Which program was looked at, in just which sizes."""
    name, graphs = asked.algorithm.name, "" if asked.graphs is None else f", on {asked.graphs},"
    what = name if graphs and asked.sizes is None else at_size(name, asked.sizes)
    tiled = "" if tiles == [1] else f", {' or '.join(map(str, tiles))} neighbouring cells as one"
    return f"all cells of {what}{graphs} are of the network's kinds{tiled}"


def _certify_network(
    asked: _Asked, domain: str | None, who: Workers, device: str | None, yes: bool, file: Path | None, tell: Teller
) -> NetworkCertificate:
    from bitwright.api.shorter_proof import announced
    from bitwright.proofs.exhaustion import ProofTask, certify_network

    name = usual_domain(asked.algorithm.program) if domain is None else domain
    task = ProofTask(asked.algorithm, asked.network, name, device or "cpu")
    task = announced(task, who, device, yes, tell, tile=asked.tile)
    before: list[tuple[int, int]] = []  # how much had been done, and of how much
    with tell.working(task.unit) as step:

        def look(done: int, size: int) -> None:
            if not before:
                before.append((done, size))
            step(done, size)

        found = certify_network(
            asked.algorithm, asked.network, name, workers=who, progress=look, file=file, device=task.device
        )
    if before and before[0][0]:
        done, size = before[0]
        tell.note(f"{done:,} of {size:,} {task.unit} had been tried before, as {file} says")
    return chained(NetworkCertificate(**{**vars(found), "sizes": asked.sizes, "about": asked.about}))


def check_network(
    claimed: NetworkCertificate,
    what: Subject | Sequence[Subject],
    network: Provable,
    sizes: SizesAsked | None = None,
    device: str | None = None,
    workers: str | int = "1",
    yes: bool = False,
    progress: Teller | Progress | bool | None = None,
) -> NetworkCertificate:
    """Goes through the whole domain again; raises ProofError at the first claim that does not hold."""
    from bitwright.api.shorter_proof import announced
    from bitwright.proofs.exhaustion import ProofTask
    from bitwright.proofs.exhaustion.certificate_file import check_network_certificate, check_speaks_of

    tell, held = teller(progress), _held(network)
    who, tried = Workers.parse(str(workers), str(device or "cpu")), claimed.about.links.tried
    if held.pattern is not None:
        assert held.weights is not None
        pattern = as_algorithm(held.pattern, by_algorithm(opened_subjects(what))[0].name)
        with telling_of(pattern, "network"):  # before its sizes are tried on this program
            check_speaks_of(claimed, pattern, held.weights)
            asked = _asked(what, held, sizes, tell, claimed=claimed, function=tried)
    else:
        asked = _asked(what, held, sizes, tell, function=tried)
    with telling_of(asked.algorithm, "network"):
        check_speaks_of(claimed, asked.algorithm, asked.network)
        task = ProofTask(asked.algorithm, asked.network, claimed.domain, str(device or "cpu"))
        task = announced(task, who, device, yes, tell, tile=asked.tile, check=True)
        with tell.working(task.unit) as step:
            check_network_certificate(claimed.own, asked.algorithm, asked.network, who, step, task.device)
        if not is_pattern(by_algorithm(opened_subjects(what))[0].program):  # which says nothing of its program
            asked.links.check(claimed.about.links)
    return chained(replace(claimed, sizes=asked.sizes, about=replace(asked.about, holds=True)))


def _look(asked: _Asked, pattern: Pattern | None, state: str) -> StateLookedAt:
    """One state through the network; of cells a local state, in names of the pattern or of the program."""
    from bitwright.proofs.exhaustion.one_state import look_at_state, state_with

    program = asked.algorithm.program
    if pattern is not None:
        state = _by_pattern(state, pattern, asked.names or {})
    found = look_at_state(program, asked.network, *state_with(program, state))
    return StateLookedAt(**vars(found), about=asked.about)


def _by_pattern(text: str, pattern: Pattern, names: dict[str, tuple[str, ...]]) -> str:
    """Bits of the program, those of the first cell of a kind, as bits of the pattern; others stay as they are."""
    theirs = {name: bit for bit, own in names.items() if "_block" in bit for name in own}
    known = {*pattern.program.layout.names, *(f"kind{number}" for number in range(1, 1 + len(pattern.kinds)))}
    found = []
    for word in text.split():
        if word != "none" and word not in known and word not in theirs:
            raise InputError(
                f"a network of cells is looked at one cell at a time; '{word}' is in no first cell of a kind, which "
                f"have the bits {listing([*theirs], 12)}"
            )
        found.append(word if word in known else theirs.get(word, word))
    return " ".join(found)


def _whole(what: Subject | Sequence[Subject], file: Path | None) -> Algorithm:
    """The one program that a network of whole states is for; a name in the size that its file was trained for."""
    if isinstance(what, str) and what in SIZED and file is not None:
        from bitwright.api.trained import trained_algorithm

        return trained_algorithm(what, [file])
    subjects = opened_subjects(what)
    if len(subjects) > 1:
        raise InputError(f"this network is for one program, of whole states; got {len(subjects):,} programs")
    return by_algorithm(subjects)[0]


def _only_with_network(**given: object) -> None:
    """Raises InputError for an option that needs a network."""
    for name, value in given.items():
        if value not in (None, False) and (name, str(value)) != ("workers", "1"):
            what = "the proof of the limit has no states to go through"
            raise InputError(f"{option(name)} goes with {option('network')}; {what}")


def _only_of_limit(network: Provable, rounding: str | None, **given: object) -> None:
    """Raises InputError for an option that does not go with a network."""
    if isinstance(network, str) and network in ROUNDINGS:
        raise InputError(f"'{network}' is a rounding, not a network; give it as {option('rounding')}")
    other = f"does not go with {option('network')}"
    if rounding == "sign":
        raise InputError(
            f"{option('rounding')} sign {other}: under it the limit is exactly 0 where one example matches, and chance "
            "would decide; networks are proved with calibrated rounding"
        )
    for name, value in {"rounding": None if rounding == "calibrated" else rounding, **given}.items():
        if value is not None:
            raise InputError(f"{option(name)} {other}; the network file says how it was trained")
