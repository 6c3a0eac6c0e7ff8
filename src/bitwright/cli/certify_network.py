"""`bitwright certify --network`: every state of a domain through a network, and what came of it."""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

import click

from bitwright.bits import shorten
from bitwright.cli.progress import StepProgress, working
from bitwright.cli.reporting import note, print_json
from bitwright.cli.shorter_proof import HOPELESS, advice
from bitwright.cli.sizes import in_sizes, training_command
from bitwright.cli.targets import asked_program, let_words
from bitwright.errors import InputError, OtherKindError, ProofError, counted, listing

if TYPE_CHECKING:
    from bitwright.checking.exhaustion import NetworkCertificate, ProofTask
    from bitwright.checking.exhaustion.certificate import BitInState
    from bitwright.networks import AnyNetwork
    from bitwright.program import Algorithm
    from bitwright.program.cell_names import BitNames
    from bitwright.program.pattern import Pattern
    from bitwright.workers import Workers

_LONG = 5  # seconds from which on a GPU is looked for
MINUTES = 10  # what a proof may take without being asked for twice


@dataclass(frozen=True)
class NetworkProof:
    """What was asked for on the command line."""

    target: str
    network: Path
    output: Path | None
    check: Path | None
    domain: str | None
    yes: bool
    workers: str
    resume: Path | None
    device: str | None  # None: a GPU if there is one and the proof is long
    state: str | None
    cells: bool
    sizes: str | None
    machine: str | None = None  # the letter that was given
    tile: int = 1  # of cells: how many neighbouring ones of the program are one
    graphs: str | None = None  # of the cells of a node program: on which graphs they are of the network's kinds
    names: BitNames = field(default_factory=dict)  # of cells: what the bits of the pattern are called in the program

    @property
    def is_of_cells(self) -> bool:
        """Whether the file holds a network of cells."""
        from bitwright.api.trained import is_of_cells

        found = is_of_cells(self.network)
        if not found and (self.cells or self.sizes is not None):
            raise InputError(
                f"{self.network} was trained on a whole program, not on cells; leave out --cells and --sizes"
            )
        return found


def prove_network(algorithm: Algorithm, asked: NetworkProof, as_json: bool, quiet: bool) -> int:
    """Proves, checks a certificate again, or looks at one state; gives the exit code."""
    from bitwright.checking.exhaustion.subject import one_file
    from bitwright.networks import load_any_network
    from bitwright.workers import Workers

    workers = Workers.parse(asked.workers, asked.device or "cpu")
    network = load_any_network(one_file(asked.network), algorithm.program)
    if asked.state is not None:
        return _look_at_state(algorithm, network, asked, as_json)
    if asked.check is not None:
        return _check(algorithm, network, asked, workers, as_json, quiet)
    return _prove(algorithm, network, asked, workers, as_json, quiet)


def prove_cells(algorithm: Algorithm, asked: NetworkProof, as_json: bool, quiet: bool) -> int:
    """Proves a network of cells, after looking that the cells of the algorithm are of its kinds."""
    from bitwright.api.cells import as_algorithm, load_cells, pattern_in
    from bitwright.api.sizes import at_size
    from bitwright.checking.exhaustion import NetworkCertificate
    from bitwright.checking.exhaustion.certificate_file import check_speaks_of
    from bitwright.checking.exhaustion.domains import check_domain
    from bitwright.checking.exhaustion.subject import one_file
    from bitwright.cli.certify import refused
    from bitwright.engines.cells.wiring import tile_of
    from bitwright.program.cell_names import bit_names
    from bitwright.workers import Workers

    pattern = pattern_in(asked.network)
    assert pattern is not None
    check_domain(pattern.program, asked.domain or "cells")
    (network,) = load_cells([one_file(asked.network)], pattern)
    certificate = None if asked.check is None else NetworkCertificate.load(asked.check)
    if certificate is not None:
        try:  # before its sizes are tried on this program
            check_speaks_of(certificate, as_algorithm(pattern, algorithm.name), network)
        except ProofError as error:
            return refused(str(error), as_algorithm(pattern, algorithm.name), as_json, quiet, of="network")
    claimed = None if certificate is None else certificate.sizes
    if claimed is not None and asked.sizes not in (None, claimed):
        raise InputError(f"{asked.check} names the sizes {claimed}, which --check looks at; leave out --sizes")
    try:
        with working("comparing kinds of cells") as progress:
            sizes = in_sizes(algorithm, asked.sizes or claimed)
            cells_of, tiles = [], set()
            for number, one in enumerate(sizes.programs):
                progress(number, len(sizes.programs))
                try:
                    tile, own = tile_of(one.algorithm.program, pattern)
                except OtherKindError as error:
                    if asked.state is not None:  # a local state can be looked at whatever the program has
                        continue
                    raise OtherKindError(f"{at_size(algorithm.name, one.size)}: {error}") from None
                tiles.add(tile)
                cells_of.append((one.algorithm.program, own))
    except InputError as error:
        if claimed is None:
            raise
        reason = f"the certificate says sizes = {claimed}, but {error}"
        return refused(reason, as_algorithm(pattern, algorithm.name), as_json, quiet, of="network")
    graphs = sizes.graphs if tiles == {1} else None  # tiles of a graph are not those of the schema
    asked = replace(
        asked, sizes=sizes.text, tile=max(tiles, default=1), graphs=graphs, names=bit_names(pattern, cells_of)
    )
    if asked.state is not None:
        cell = replace(as_algorithm(pattern, algorithm.name), description="one cell")
        state = _by_pattern(asked.state, pattern, asked.names)
        return _look_at_state(cell, network, replace(asked, domain=None, state=state), as_json)
    note(_covered(asked, algorithm.name, sorted(tiles)), quiet)
    cells = replace(
        as_algorithm(pattern, algorithm.name), description=f"cells of {counted(len(pattern.kinds), 'kind')}"
    )
    asked = replace(asked, domain=None if asked.check is not None else "cells")
    workers = Workers.parse(asked.workers, asked.device or "cpu")
    if asked.check is not None:
        return _check(cells, network, asked, workers, as_json, quiet)
    return _prove(cells, network, asked, workers, as_json, quiet)


def _covered(asked: NetworkProof, name: str, tiles: list[int]) -> str:
    """Which program was looked at, in just which sizes."""
    from bitwright.api.sizes import at_size

    several = asked.sizes is not None and ".." in asked.sizes
    graphs = "" if asked.graphs is None else f", on {asked.graphs},"
    what = name if graphs and asked.sizes is None else at_size(asked.target if several else name, asked.sizes)
    tiled = "" if tiles == [1] else f", {' or '.join(map(str, tiles))} neighbouring cells as one"
    return f"all cells of {what}{graphs} are of the network's kinds{tiled}"


def _by_pattern(text: str, pattern: Pattern, names: BitNames) -> str:
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


def _prove(
    algorithm: Algorithm, network: AnyNetwork, asked: NetworkProof, workers: Workers, as_json: bool, quiet: bool
) -> int:
    from bitwright.checking.exhaustion import ProofTask, certify_network
    from bitwright.files.storage import check_writable

    domain = "states" if asked.domain is None else asked.domain
    if asked.output is not None:
        check_writable(asked.output)
    task = _announced(ProofTask(algorithm, network, domain, asked.device or "cpu"), asked, workers, quiet)
    kept = asked.resume or (None if asked.output is None else asked.output.with_name(asked.output.name + ".part"))
    before: list[tuple[int, int]] = []  # how much had been done, and of how much
    try:
        with StepProgress(not quiet, "inputs" if domain == "runs" else "states") as progress:

            def look(done: int, size: int) -> None:
                if not before:
                    before.append((done, size))
                progress(done, size)

            certificate = certify_network(
                algorithm, network, domain, workers=workers, progress=look, file=kept, device=task.device
            )
    except KeyboardInterrupt:
        note(f"what is done so far is in {kept}; the same command goes on from there", quiet or kept is None)
        raise
    if before and before[0][0]:
        done, size = before[0]
        note(f"{done:,} of {size:,} {task.unit} had been tried before, as {kept} says", quiet)
    certificate = replace(certificate, sizes=asked.sizes if certificate.kinds is not None else None)
    if asked.output is not None:
        certificate.save(asked.output)
        note(f"wrote {asked.output}", quiet)
    if kept is not None and asked.resume is None:
        kept.unlink(missing_ok=True)
    _print(algorithm, asked, certificate, as_json, quiet, checked=False)
    return 0 if certificate.certified else 1


def _announced(task: ProofTask, asked: NetworkProof, workers: Workers, quiet: bool) -> ProofTask:
    """Says how much there is to do; raises InputError if that would take too long and nobody said yes.

    Gives the task, on a GPU where one is here, nobody chose a device, and the CPU would take long.
    """
    from bitwright.api.devices import gpu_name
    from bitwright.checking.exhaustion.task import MOST, check_size, duration, expected_seconds, how_many
    from bitwright.networks import IntegerNetwork

    if task.domain.size >= MOST and task.domain_name != "cells":
        many = f"there are {shorten(task.domain.size, 24)} {task.unit}, more than can be tried"
        raise InputError(f"{many}; {_shorter(task, asked, workers)}")
    check_size(task)
    size, seconds = how_many(task), expected_seconds(task, workers)
    movable = asked.device is None and workers.kind == "serial" and isinstance(task.network, IntegerNetwork)
    if seconds > _LONG and movable and (gpu := gpu_name()) is not None:
        note(f"on {gpu}; --device cpu would take about {duration(seconds)}", quiet)
        task = replace(task, device="cuda")
        seconds = expected_seconds(task, workers)
    if seconds > 60 * MINUTES and not asked.yes:
        begin = (
            "give --yes to begin, with --resume FILE so that it can be interrupted; --device cuda and --workers "
            "ray:ADDRESS are faster; "
        )
        raise InputError(
            f"{size} will take about {duration(seconds)} here, more than {MINUTES} minutes; "
            f"{begin * (seconds <= HOPELESS)}{_shorter(task, asked, workers)}"
        )
    note(f"{size} to try, about {duration(seconds)}", quiet)
    return task


def _shorter(task: ProofTask, asked: NetworkProof, workers: Workers) -> str:
    """What takes less time."""
    if asked.check is not None:
        return "--check tries all that the certificate speaks of; one of a smaller domain takes less time"
    if task.domain_name == "cells":
        fewer = "a smaller --tile of train has far fewer local states" if asked.tile > 1 else ""
        return fewer or "cells of fewer blocks have fewer local states"
    machine = "" if asked.machine is None else f" --machine {asked.machine}"
    target, algorithm, order = asked_program() or (asked.target, task.algorithm, None)
    with working("looking for a shorter proof"):
        return advice(task, training_command(target, algorithm, order) + machine, workers)


def _check(
    algorithm: Algorithm, network: AnyNetwork, asked: NetworkProof, workers: Workers, as_json: bool, quiet: bool
) -> int:
    from bitwright.checking.exhaustion import NetworkCertificate, ProofTask
    from bitwright.checking.exhaustion.certificate_file import check_speaks_of
    from bitwright.cli.certify import refused

    if asked.domain is not None or asked.output is not None or asked.resume is not None:
        raise InputError("--check does all of it again as the file says; leave out --domain, -o and --resume")
    assert asked.check is not None
    certificate = NetworkCertificate.load(asked.check)
    task = ProofTask(algorithm, network, certificate.domain, asked.device or "cpu")
    try:
        check_speaks_of(certificate, algorithm, network)
        task = _announced(task, asked, workers, quiet)
        with StepProgress(not quiet, task.unit) as progress:
            certificate.check(algorithm, network, workers=workers, progress=progress, device=task.device)
    except ProofError as error:
        return refused(str(error), algorithm, as_json, quiet, of="network")
    if certificate.kinds is not None:
        certificate = replace(certificate, sizes=asked.sizes)  # those that were looked at now
    _print(algorithm, asked, certificate, as_json, quiet, checked=True)
    return 0 if certificate.certified else 1


def _print(
    algorithm: Algorithm,
    asked: NetworkProof,
    certificate: NetworkCertificate,
    as_json: bool,
    quiet: bool,
    checked: bool,
) -> None:
    if as_json:
        document = {"name": algorithm.name} | asdict(certificate)
        if certificate.kinds is None:
            del document["sizes"]
        else:
            document |= {"local_states": certificate.states, "pattern_id": certificate.program_id}
            document |= {} if asked.graphs is None else {"graphs": asked.graphs}
            document["names"] = _names_of(asked.names, certificate.closest, certificate.counterexample)
        print_json(document | ({"holds": True} if checked else {}))
    elif quiet:
        click.echo(certificate.sentence)
    else:
        click.echo("\n".join(_report(algorithm, asked, certificate, checked)))


def _report(algorithm: Algorithm, asked: NetworkProof, c: NetworkCertificate, checked: bool) -> Iterator[str]:
    from bitwright.checking.exhaustion.certificate import covered_by_cells

    name = f"{algorithm.name} ({algorithm.description})" if algorithm.description else algorithm.name
    covers = c.covers if c.kinds is None else covered_by_cells(c.sizes, asked.graphs)
    yield f"{c.verdict.upper()}: {name}, this network, {covers}"
    if c.kinds is not None:
        examples = counted(c.examples, "example")
        yield f"  cells     {counted(c.kinds, 'kind')}, {examples}; each kind alone, its own ports"
    weights = f"whole numbers of {c.weight_bits} bits" if c.weight_bits else c.arithmetic
    yield f"  network   width {c.width:,}, {weights}; sha256 {c.network_sha256}"
    yield f"  states    {c.states:,} tried, {c.wrong:,} wrong" + (
        f", {c.undecided:,} not decided" if c.undecided else ""
    )
    ns = [n for n, _, _ in c.by_n]
    yield f"  matches   n = {min(ns):,} to {max(ns):,}" if ns else "  matches   none"
    if c.closest is not None and c.distance is not None:
        where = f"{_called(c.closest.bit, asked.names)} at n = {c.closest.n}"
        if c.weight_bits:
            yield f"  distance  {c.distance:,} at least from the other answer: {where}; margin {c.margin:.3f}"
        else:
            yield f"  margin    {c.margin:.3f} at least beyond every error of summation: {where}"
    if c.counterexample is not None:
        yield from _counterexample(c.counterexample, asked, "wrong" if c.wrong else "unproved")
    if checked:
        yield "  checked   every state was tried again, and every number of the file came out the same"
    yield f"  {'program' if c.kinds is None else 'pattern'}   {c.program_id}"


def _called(bit: str, names: BitNames) -> str:
    """A bit, and what it is called in the first cell of its kind."""
    return f"{bit} ({listing(names[bit], 4)})" if bit in names else bit


def _names_of(names: BitNames, *found: BitInState | None) -> dict[str, list[str]]:
    """What the bits of these states are called in the first cells, for JSON."""
    bits: Iterable[str] = dict.fromkeys(bit for one in found if one is not None for bit in (one.bit, *one.on))
    return {bit: list(names[bit]) for bit in bits if bit in names}


def _counterexample(found: BitInState, asked: NetworkProof, word: str) -> Iterator[str]:
    sums = "" if found.sum is None else f"; G = {found.sum:,}, T = {found.threshold:,}"
    yield f"  {word:<9} {_called(found.bit, asked.names)} must be {found.expected} at n = {found.n}{sums}"
    on = [_called(bit, asked.names) for bit in found.on]
    yield f"  state     on: {listing(on, 12) or 'no bit'}"
    alone = found.bit.partition("_")[0] if asked.names else "none"  # with no bit on, the kind says which cell it is
    state = shlex.quote(" ".join(found.on) or alone)
    sizes = let_words() if asked.sizes is None else ["--sizes", asked.sizes]
    machine = [] if asked.machine is None else ["--machine", asked.machine]
    target, network = shlex.join([asked.target, *sizes, *machine]), shlex.quote(str(asked.network))
    if asked.names:
        smallest = ", in the smallest size that has one" if ".." in (asked.sizes or "") else ""
        yield f"  names     in brackets: bits of the first cell of the kind, and what its port sets{smallest}"
    yield f"  see it    bitwright certify {target} --network {network} --state {state}"


def _look_at_state(algorithm: Algorithm, network: AnyNetwork, asked: NetworkProof, as_json: bool) -> int:
    """What the network says of every bit of one state, beside what the rules give."""
    from bitwright.checking.exhaustion.one_state import look_at_state, state_with

    given = (asked.domain, asked.output, asked.check, asked.resume)
    if any(value is not None for value in given):
        raise InputError("--state looks at one state; leave out --domain, -o, --check and --resume")
    found = look_at_state(algorithm.program, network, *state_with(algorithm.program, asked.state or ""))
    if as_json:
        names = {bit: list(own) for bit, own in asked.names.items() if bit in {*found.on, *(b.bit for b in found.bits)}}
        print_json({"name": algorithm.name} | asdict(found) | ({"names": names} if asked.names else {}))
        return 0 if found.right else 1
    click.echo(f"n = {found.n}: {counted(found.n, 'example')} matched" + f", {'right' if found.right else 'WRONG'}")
    for line in found.bits:
        said = "" if line.sum is None else f"  G = {line.sum:>12,}  T = {line.threshold:>12,}"
        mark = "" if line.given == line.expected else f"  must be {line.expected}"
        click.echo(f"  {_called(line.bit, asked.names):<24} {line.given}{said}{mark}")
    return 0 if found.right else 1
