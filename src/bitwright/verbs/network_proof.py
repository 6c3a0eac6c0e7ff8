"""Proves a network: finds the programs that it is for, and tries every state of a domain."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bitwright.common.errors import (
    BitwrightError,
    InputError,
    OtherKindError,
    ProofError,
    TrainCellsError,
    counted,
    option,
    shorten,
)
from bitwright.common.workers import Workers
from bitwright.engines.cells.network import TABLED
from bitwright.engines.cells.wiring import tile_of
from bitwright.engines.external import FittedModel
from bitwright.networks import IntegerNetwork
from bitwright.networks.external import as_model, is_model
from bitwright.networks.integer import check_belongs
from bitwright.proofs.certificate_file import check_certificate, check_subject
from bitwright.proofs.exhaustion.certificate import NetworkVerdict, certify_network
from bitwright.proofs.exhaustion.domains import check_domain, usual_domain
from bitwright.proofs.exhaustion.task import MOST, ProofTask, check_size, duration, expected_seconds
from bitwright.rules import Algorithm, Program
from bitwright.rules.cells import Tile
from bitwright.rules.pattern import Pattern, bit_names, is_pattern, pattern_of
from bitwright.verbs.devices import gpu_name
from bitwright.verbs.models import fit_model
from bitwright.verbs.network import as_network
from bitwright.verbs.progress import Teller
from bitwright.verbs.proof_target import NOTHING, ProofTarget
from bitwright.verbs.sizes import (
    InSizes,
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
    from bitwright.verbs.certify import Provable
    from bitwright.verbs.sizes import Programs

_LONG = 5  # seconds; longer proofs move to a GPU if there is one
_DAY = 86_400  # the longest proof that is started


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
    """Returns a network, and the program or the cells of programs that it is to be proved for."""
    weights: IntegerNetwork | FittedModel
    if is_model(network):
        model = as_model(network)
        if claimed is not None and claimed.model is not None:
            model = replace(model, reads=claimed.model["reads"], threshold=claimed.model["threshold"])
        weights, pattern = fit_model(model, programs, sizes, tile)
        if device not in (None, "cpu"):
            raise InputError(f"{model.name} is evaluated on the CPU; leave out {option('device')} {device}")
    else:
        own = as_network(network)
        weights, pattern = own.weights, own.pattern
        if not own.cells:
            if len(programs) > 1:
                raise InputError(f"this network is for one program, of whole states; got {len(programs):,} programs")
            program = by_algorithm(programs)[0].program
            check_belongs(own.weights, program)
            pattern = Pattern.of_state(program)
    if pattern.whole is None:
        check_domain(pattern.program, domain or "cells")
        described = f"cells of {counted(len(pattern.kinds), 'kind')}"
        cells = Algorithm(by_algorithm(programs)[0].name, pattern.program, description=described)
        target = ProofTarget(cells, pattern, weights)
        return _cells_target(programs, target, sizes, tell, claimed)
    (algorithm,) = by_algorithm(programs)
    if sizes is not None:
        raise InputError(f"this network was trained on a whole program, not on cells; leave out {option('sizes')}")
    own_size = NOTHING if is_pattern(algorithm.program) else in_sizes([algorithm])
    return ProofTarget(algorithm, pattern, weights, own_size, algorithm)


def _cells_target(
    programs: Programs,
    target: ProofTarget,
    sizes: SizesAsked | None,
    tell: Teller,
    claimed: Certificate | None,
) -> ProofTarget:
    """Returns a network of cells, after checking that all cells of the programs are of its kinds."""
    first, pattern = by_algorithm(programs)[0], target.pattern
    target = replace(target, tile=1)
    if first.program == pattern.program and len(programs) == 1 and sizes is None:
        return target
    with tell.working("comparing kinds of cells") as step:
        looked = _programs_to_compare(programs, pattern, sizes, claimed)
        here = [*looked.programs]
        if sizes is None and claimed is not None:  # also check the given program
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
                    raise ProofError(f"the certificate claims the sizes {claimed.sizes}, but {where}") from None
                raise OtherKindError(where) from None
            found.append((tile, (one.program, own)))
    tiles = sorted({tile for tile, _ in found}, key=str) or [1]
    target = replace(target, names=bit_names(pattern, [own for _, own in found]))
    looked.check_covered_by(pattern, first.name, tiles[-1])
    target = replace(
        target, programs=looked, stated=first if len(programs) == 1 and first is programs[0] else None, tile=tiles[-1]
    )
    tell.note(_covered(target, tiles))
    return target


def _programs_to_compare(
    programs: Programs, pattern: Pattern, sizes: SizesAsked | None, claimed: Certificate | None
) -> InSizes:
    """Returns the programs to compare: at every size if that can be proved and the network has all their kinds."""
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
    """Returns a note on the program and the sizes that were compared."""
    name, graphs = target.algorithm.name, target.about.graphs
    what = name if graphs and target.sizes is None else at_size(name, target.sizes)
    tiled = "" if tiles == [1] else f", with {' or '.join(map(str, tiles))} neighbouring cells as one"
    return f"all cells of {what}{f', on {graphs},' if graphs else ''} are of the network's kinds{tiled}"


@dataclass(frozen=True)
class ProofWork:
    """The settings of a proof that tries every state."""

    tell: Teller
    device: str | None = None
    workers: str = "1"
    file: Path | None = None  # keeps finished work

    @property
    def who(self) -> Workers:
        return Workers.parse(self.workers, str(self.device or "cpu"))

    def prepare(self, target: ProofTarget, domain: str, check: bool = False) -> ProofTask:
        """Returns the proof task, on a GPU if the CPU would take long and no device was chosen.

        Raises InputError if workers cannot share it, or if it would take more than a day.
        """
        assert target.network is not None
        task = ProofTask(target.algorithm, target.network, domain, str(self.device or "cpu"))
        error, shorter = _shorter_proof(task, target.tile, check)
        if task.domain.size >= MOST and domain != "cells":
            many = shorten(task.domain.size, 24)
            raise error(f"there are {many} {task.unit}, too many to try; {shorter or 'use a smaller program'}")
        check_size(task)
        size, seconds = counted(task.domain.size, task.unit[:-1]), expected_seconds(task, self.who)
        movable = self.device is None and self.who.kind == "serial" and isinstance(task.network, IntegerNetwork)
        if seconds > _LONG and movable and (gpu := gpu_name()) is not None:
            self.tell.note(f"on {gpu}; {option('device')} cpu would take about {duration(seconds)}")
            task = replace(task, device="cuda")
            seconds = expected_seconds(task, self.who)
        if seconds > _DAY:
            what = f"{size} would take about {duration(seconds)} here, more than a day"
            raise error("; ".join(filter(None, (what, shorter))))
        self.tell.note(f"trying {size} takes about {duration(seconds)}")
        return task


def _shorter_proof(task: ProofTask, tile: Tile, check: bool) -> tuple[type[InputError], str]:
    """Returns the error for a proof that takes too long, and advice."""
    if check:
        return InputError, f"{option('check')} tries every state that the certificate covers"
    if task.domain_name == "cells":
        fewer = f"train with a smaller {option('tile')}" if tile != 1 else "use cells with fewer blocks"
        return InputError, f"{fewer}, which have fewer local states"
    shorter = f"{option('domain')} runs tries only the states of all runs" * (task.domain_name == "states")
    if (states := _local_states(task.algorithm)) is None:
        return InputError, shorter
    return TrainCellsError, f"{shorter}; a network of its cells has {counted(states, 'local state')}".lstrip("; ")


def _local_states(algorithm: Algorithm) -> int | None:
    """Returns the number of local states of a program's cells, or None if there are too many."""
    try:
        states = pattern_of([algorithm.program]).local_states
    except BitwrightError:
        return None
    return states if states <= TABLED else None


def prove_network(target: ProofTarget, domain: str | None, work: ProofWork) -> NetworkVerdict:
    """Tries every state of the domain, and returns the verdict for a network."""
    task = work.prepare(target, domain or usual_domain(target.algorithm.program))
    with work.tell.working(task.unit) as step:
        how: dict[str, Any] = {"workers": work.who, "progress": step, "file": work.file, "device": task.device}
        found = certify_network(task.algorithm, task.network, task.domain_name, **how)
    return replace(found, sizes=target.sizes)


def check_network(own: NetworkVerdict, target: ProofTarget, work: ProofWork) -> NetworkVerdict:
    """Tries every state again, and returns the verdict of a certificate; raises ProofError if it does not hold."""
    assert target.network is not None
    check_subject(own, target.algorithm, target.network)
    task = work.prepare(target, own.domain, check=True)
    with work.tell.working(task.unit) as step:
        how: dict[str, Any] = {"workers": work.who, "progress": step, "device": task.device}
        return check_certificate(own, target.algorithm, target.network, **how)
