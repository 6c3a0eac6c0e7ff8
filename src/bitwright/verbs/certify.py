"""Proves that the limit, or one network, makes every step of a program's rules, or finds a state where it fails."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, overload

from bitwright.common.errors import (
    BitwrightError,
    InputError,
    ProofError,
    TrainCellsError,
    counted,
    option,
    shorten,
)
from bitwright.common.workers import Workers
from bitwright.engines.cells.network import TABLED
from bitwright.networks import IntegerNetwork
from bitwright.networks.external import is_model
from bitwright.proofs import certificate
from bitwright.proofs.certificate import LimitVerdict
from bitwright.proofs.certificate_file import check_certificate, check_subject
from bitwright.proofs.exhaustion.certificate import NetworkVerdict, certify_network
from bitwright.proofs.exhaustion.domains import usual_domain
from bitwright.proofs.exhaustion.task import MOST, ProofTask, check_size, duration, expected_seconds, how_many
from bitwright.proofs.ranges import matches_range
from bitwright.rules import Algorithm
from bitwright.rules.cells import Tile
from bitwright.rules.pattern import pattern_of
from bitwright.runs.progress import Progress
from bitwright.theory.decisions import training_size
from bitwright.theory.rounding import ROUNDINGS, Rounding, check_rounding
from bitwright.transformers.decoder import Decoder
from bitwright.transformers.layout import ColumnTask
from bitwright.verbs.certificates import Certificate
from bitwright.verbs.chain import prove_chain
from bitwright.verbs.devices import gpu_name
from bitwright.verbs.progress import Teller, say_compiling, teller
from bitwright.verbs.proof_target import ProofTarget, Provable, limit_target, network_target
from bitwright.verbs.reports import refuse
from bitwright.verbs.sizes import Programs, SizesAsked, Subject, as_programs, by_algorithm

_LONG = 5  # seconds; longer proofs move to a GPU if there is one
_DAY = 86_400  # the longest proof that is started

if TYPE_CHECKING:
    from bitwright.transformers.decision import Decision
    from bitwright.transformers.modules import Module


@overload
def certify(
    what: ColumnTask,
    network: Decoder,
    *,
    module: Module | None = None,
    seconds: float | None = None,
    progress: Teller | Progress | bool | None = None,
) -> Decision: ...
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
    tile: Tile | None = None,
    device: str | None = None,
    workers: str | int = "1",
    progress: Teller | Progress | bool | None = None,
) -> Certificate: ...
def certify(
    what: Subject | Sequence[Subject] | ColumnTask,
    network: Provable | Decoder | None = None,
    *,
    sizes: SizesAsked | None = None,
    domain: str | None = None,
    rounding: str | None = None,
    n: str | None = None,
    padding: int | None = None,
    tile: Tile | None = None,
    device: str | None = None,
    workers: str | int = "1",
    module: Module | None = None,
    seconds: float | None = None,
    progress: Teller | Progress | bool | None = None,
) -> Certificate | Decision:
    """Proves or refutes that a network makes every step of the rules; without a network, that the limit does.

    With a `network`, every state of a `domain` is tried in exact arithmetic. Without a network, the proof is about the
    limit, the mean of infinitely wide networks, with K and n as in a run with the same `rounding` and `padding`.

    >>> from bitwright import addition, multiplication, train
    >>> adder = train(addition(4))
    >>> print(certify(addition(9), adder).sentence)
    certified: this network computes sum == p + q, at every size
    >>> certify(addition(4), adder, sizes="1..64").sizes
    '1..64'
    >>> print(certify(multiplication(10)).sentence)
    certified

    A network of your own is a PyTorch module, or a `Model`, which also reads ONNX files and describes their inputs and
    outputs. It is a stack of affine layers and ReLU, and the proof holds for every runtime. For a task of a transformer
    (`bitwright.transformers.read_task`) the network is a `Decoder`, which is proved on every input or refuted by a
    counterexample.

    Args:
        what: a program, a list of programs whose cells are proved together, or a task of a transformer.
        network: the network to prove; None for the limit.
        sizes: the sizes at which the cells of the program are proved: "1..64", "l=1..64", range(1, 65), or "all".
        domain: the states to try: "states" (one choice in every block, the default), "runs" (all states that runs of
            all inputs meet), or "cells" (all local states), the only domain of a network of cells.
        rounding: for the limit: "calibrated" or "sign".
        n: for the limit, how the number of matches is bounded: "blocks" (proved, the default), "declared" (an
            assumption, which the certificate names) or "reachable" (met in the runs of all inputs).
        padding: for the limit, examples that are never matched.
        tile: prove networks of cells, with this many neighbouring cells taken as one; "all" for the whole state.
        device: where states are tried; by default a long proof moves to a GPU.
        workers: how many processes share the states; "all" or "ray".
        module: for a transformer, the function from tokens to logits that the decoder describes; it is compared with
            the decoder, and replays the counterexample.
        seconds: for a transformer, the time limit; 600 by default.
        progress: True for lines on standard error, or a function that takes the work done and the total.
    """
    if isinstance(what, ColumnTask) or isinstance(network, Decoder) or module is not None:
        from bitwright.verbs.decoders import certify_decoder

        others: dict[str, object] = {"sizes": sizes, "domain": domain, "rounding": rounding, "n": n, "tile": tile}
        others |= {"device": device, "workers": str(workers) != "1"}
        refuse("does not go with a task of a transformer", padding=padding, **others)
        return certify_decoder(what, network, module=module, seconds=seconds, progress=progress)  # type: ignore[arg-type]
    refuse("goes with a task of a transformer and its decoder", seconds=seconds)
    tell, programs = teller(progress), as_programs(what)
    if network is None:
        others = {"domain": domain, "device": device}
        why = f"goes with {option('network')}; the proof of the limit has no states to go through"
        refuse(why, workers=str(workers) != "1", **others)
        if n == "reachable" and not hasattr(progress, "working"):
            say_compiling()
        chosen = check_rounding(rounding or "calibrated")
        target = limit_target(programs, sizes, tile, tell, n, padding)
        verdict = _prove_limit(target, chosen, n, padding, tell)
        return Certificate(verdict, prove_chain(target, tell), target.about)
    _check_network_settings(network, rounding, n=n, padding=padding, tile=None if is_model(network) else tile)
    target = network_target(programs, network, sizes, tile, tell, device=device, domain=domain)
    chain, work = prove_chain(target, tell), ProofWork(tell, device, str(workers))
    task = work.prepare(target, domain or usual_domain(target.algorithm.program))
    return Certificate(_prove_network(task, work, target.sizes), chain, target.about)


def check(
    claimed: Certificate,
    programs: Programs,
    network: Provable | None,
    sizes: SizesAsked | None,
    tile: Tile | None,
    work: ProofWork,
) -> Certificate:
    """Proves every claim of a certificate again; raises ProofError at the first that does not hold."""
    if claimed.of == "limit" and network is not None:
        raise InputError("this is a certificate of the limit, which is proved without a network; leave it out")
    if claimed.of == "network" and network is None:
        raise InputError("this is the certificate of a network; give the network too")
    tell, own, checked = work.tell, claimed.own, by_algorithm(programs)[0]
    try:
        if network is None:
            target = limit_target(programs, sizes, tile, tell, claimed=claimed)
        else:
            cells: Tile = 1 if claimed.cells else "all"
            how: dict[str, Any] = {"device": work.device, "claimed": claimed}
            target = network_target(programs, network, sizes, cells, tell, **how)
        checked = target.algorithm
        if isinstance(own, LimitVerdict):
            with tell.working("checking") as step:
                check_certificate(own, target.algorithm, progress=step)
        else:
            assert target.network is not None
            check_subject(own, target.algorithm, target.network)
            task = work.prepare(target, own.domain, check=True)
            with tell.working(task.unit) as step:
                how = {"workers": work.who, "progress": step, "device": task.device}
                own = check_certificate(own, target.algorithm, target.network, **how)
        chain = prove_chain(target, tell)
        if target.programs.programs:  # a pattern by itself has no other claims
            chain.check(claimed.chain)
    except ProofError as error:
        raise ProofError(str(error), name=checked.name, of=claimed.of, program_id=checked.program.id) from None
    return Certificate(replace(own, sizes=target.sizes), chain, target.about, holds=True)


def _prove_limit(
    target: ProofTarget, rounding: Rounding, n: str | None, padding: int | None, tell: Teller
) -> LimitVerdict:
    examples = training_size(target.algorithm, rounding, padding)
    with tell.working("checking") as step:
        if target.cells:
            return replace(certificate.certify_cells(target.pattern, rounding, examples, step), sizes=target.sizes)
        within = matches_range(target.algorithm, n, step)
        return certificate.certify(target.algorithm.program, rounding, within, examples, step)


@dataclass(frozen=True)
class ProofWork:
    """The settings of a proof that tries every state."""

    tell: Teller
    device: str | None = None
    workers: str = "1"

    @property
    def who(self) -> Workers:
        return Workers.parse(self.workers, str(self.device or "cpu"))

    def prepare(self, target: ProofTarget, domain: str, check: bool = False) -> ProofTask:
        """The proof task, on a GPU if the CPU would take long and no device was chosen.

        Raises InputError if workers cannot share it, or if it takes more than a day.
        """
        assert target.network is not None
        task = ProofTask(target.algorithm, target.network, domain, str(self.device or "cpu"))
        error, shorter = _shorter_proof(task, target.tile, check)
        if task.domain.size >= MOST and domain != "cells":
            many = shorten(task.domain.size, 24)
            raise error(f"there are {many} {task.unit}, more than can be tried; {shorter or 'take a smaller program'}")
        check_size(task)
        size, seconds = how_many(task), expected_seconds(task, self.who)
        movable = self.device is None and self.who.kind == "serial" and isinstance(task.network, IntegerNetwork)
        if seconds > _LONG and movable and (gpu := gpu_name()) is not None:
            self.tell.note(f"on {gpu}; {option('device')} cpu would take about {duration(seconds)}")
            task = replace(task, device="cuda")
            seconds = expected_seconds(task, self.who)
        if seconds > _DAY:
            what = f"{size} would take about {duration(seconds)} here, more than a day"
            raise error("; ".join(filter(None, (what, shorter))))
        self.tell.note(f"{size} to try, about {duration(seconds)}")
        return task


def _shorter_proof(task: ProofTask, tile: Tile, check: bool) -> tuple[type[InputError], str]:
    """The error for a proof that takes too long, and what to do instead."""
    if check:
        return InputError, f"{option('check')} tries all that the certificate speaks of"
    if task.domain_name == "cells":
        fewer = f"a smaller {option('tile')} of train has" if tile != 1 else "cells of fewer blocks have"
        return InputError, f"{fewer} fewer local states"
    shorter = f"{option('domain')} runs tries the states of all runs alone" * (task.domain_name == "states")
    if (states := _local_states(task.algorithm)) is None:
        return InputError, shorter
    return TrainCellsError, f"{shorter}; a network of its cells has {counted(states, 'local state')}".lstrip("; ")


def _local_states(algorithm: Algorithm) -> int | None:
    """The number of local states of a program's cells, or None if there are too many."""
    try:
        states = pattern_of([algorithm.program]).local_states
    except BitwrightError:
        return None
    return states if states <= TABLED else None


def _prove_network(task: ProofTask, work: ProofWork, sizes: str | None) -> NetworkVerdict:
    with work.tell.working(task.unit) as step:
        how: dict[str, Any] = {"workers": work.who, "progress": step, "device": task.device}
        found = certify_network(task.algorithm, task.network, task.domain_name, **how)
    return replace(found, sizes=sizes)


def _check_network_settings(network: object, rounding: str | None, **given: object) -> None:
    """Raises InputError for a setting that does not go with a network."""
    if isinstance(network, str) and network in ROUNDINGS:
        raise InputError(f"'{network}' is a rounding, not a network; give it as {option('rounding')}")
    if rounding == "sign":
        raise InputError(
            f"{option('rounding')} sign does not go with {option('network')}: under it the limit is exactly 0 where "
            "one example matches, and chance would decide; networks are proved with calibrated rounding"
        )
    given |= {"rounding": None if rounding == "calibrated" else rounding}
    refuse(f"does not go with {option('network')}; the network file says how it was trained", **given)
