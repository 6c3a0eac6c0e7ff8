"""Proves that the limit or a network takes every step as a program's rules do, or finds a state in which it fails."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from os import PathLike
from typing import TYPE_CHECKING, Any, TypeAlias, overload

from bitwright.common.errors import InputError, ProofError, option
from bitwright.common.files.storage import as_path
from bitwright.common.lazy import is_a
from bitwright.verbs.certificates import Certificate
from bitwright.verbs.claims import check_claims, prove_function, prove_sizes
from bitwright.verbs.progress import Teller, say_compiling, teller
from bitwright.verbs.proof_target import ProofTarget, limit_target
from bitwright.verbs.reports import refuse
from bitwright.verbs.sizes import SizesAsked, as_programs, by_algorithm

if TYPE_CHECKING:
    from bitwright.networks import IntegerNetwork
    from bitwright.networks.external import Model
    from bitwright.proofs.certificate import LimitVerdict
    from bitwright.rules.cells import Tile
    from bitwright.runs.progress import Progress
    from bitwright.transformers.decision import Decision
    from bitwright.transformers.decoder import Decoder
    from bitwright.transformers.layout import ColumnTask
    from bitwright.transformers.modules import Module
    from bitwright.verbs.network import Network
    from bitwright.verbs.sizes import Subject

    Provable: TypeAlias = Network | IntegerNetwork | Model | Callable[..., Any]  # the last is a PyTorch module


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
    resume: str | PathLike[str] | None = None,
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
    resume: str | PathLike[str] | None = None,
    module: Module | None = None,
    seconds: float | None = None,
    progress: Teller | Progress | bool | None = None,
) -> Certificate | Decision:
    """Proves or refutes that a network, or the limit if none is given, takes every step as the rules do.

    For a `network`, every state of a `domain` is checked in exact arithmetic. Otherwise, the proof is about the limit,
    the mean of infinitely wide networks, with the K and n of a run with the same `rounding` and `padding`.

    >>> from bitwright import addition, multiplication, train
    >>> adder = train(addition(4))
    >>> print(certify(addition(9), adder).sentence)
    certified: this network computes sum == p + q, at every size
    >>> certify(addition(4), adder, sizes="1..64").sizes
    '1..64'
    >>> print(certify(multiplication(10)).sentence)
    certified

    Your own network can be a PyTorch module, or a `Model`, which also reads ONNX files and describes their inputs and
    outputs. It must be a stack of affine layers and ReLUs; the proof is valid for every runtime. For a transformer task
    (`bitwright.transformers.read_task`) the network is a `Decoder`, which is proved correct on every input or refuted
    by a counterexample.

    Args:
        what: a program, a list of programs whose cells are proved together, or a transformer task.
        network: the network to prove; None for the limit.
        sizes: the sizes for which the cells of the program are proved: "1..64", "l=1..64", range(1, 65), or "all".
        domain: the states to check: "states" (every combination of one choice per block, the default), "runs" (all
            states visited by runs on all inputs), or "cells" (all local states), the only domain for networks of cells.
        rounding: for the limit: "calibrated" or "sign".
        n: for the limit, how the number of matches is bounded: "blocks" (proved, the default), "declared" (an
            assumption that the certificate states) or "reachable" (the largest in the runs on all inputs).
        padding: for the limit, the number of examples that never match.
        tile: prove networks of cells, treating this many neighbouring cells as one; "all" for the whole state.
        device: the device on which states are checked; by default, long proofs use a GPU if there is one.
        workers: the number of processes that share the states, "all" or "ray".
        resume: a file that records finished work, so that the same proof can continue after an interruption.
        module: for a transformer, the function from tokens to logits that the decoder describes; it is compared with
            the decoder, and replays the counterexample.
        seconds: for a transformer, the time limit; 600 by default.
        progress: True for lines on standard error, or a function that takes the work done and the total.
    """
    transformer = is_a(what, "bitwright.transformers.layout:ColumnTask") or module is not None
    if transformer or is_a(network, "bitwright.transformers.decoder:Decoder"):
        from bitwright.verbs.decoders import certify_decoder

        others: dict[str, object] = {"sizes": sizes, "domain": domain, "rounding": rounding, "n": n, "tile": tile}
        others |= {"device": device, "workers": str(workers) != "1", "resume": resume}
        refuse("cannot be used with a transformer task", padding=padding, **others)
        return certify_decoder(what, network, module=module, seconds=seconds, progress=progress)  # type: ignore[arg-type]
    own: Any
    tell, programs = teller(progress), as_programs(what)  # type: ignore[arg-type]
    refuse("works only with a transformer task and its decoder", seconds=seconds)
    if network is None:
        others = {"domain": domain, "device": device, "workers": str(workers) != "1", "resume": resume}
        refuse(f"works only with {option('network')}, because a proof about the limit does not try states", **others)
        if n == "reachable" and not hasattr(progress, "working"):
            say_compiling()
        target = limit_target(programs, sizes, tile, tell, n, padding)
        own = _prove_limit(target, rounding, n, padding, tell)
    else:
        from bitwright.verbs.network_proof import ProofWork, network_target, prove_network

        _check_network_settings(network, rounding, n=n, padding=padding, tile=tile)
        target = network_target(programs, network, sizes, tile, tell, device=device, domain=domain)  # type: ignore[arg-type]
        file = None if resume is None else as_path(resume, "the file to resume from")
        own = prove_network(target, domain, ProofWork(tell, device, str(workers), file))
    return Certificate(own, prove_function(target, tell), prove_sizes(target), target.about)


def check(
    claimed: Certificate,
    what: Subject | Sequence[Subject],
    network: Provable | None,
    sizes: SizesAsked | None,
    tile: Tile | None,
    device: str | None,
    workers: str,
    progress: Teller | Progress | bool | None,
) -> Certificate:
    """Proves every claim of a certificate again; raises ProofError at the first that does not hold."""
    if claimed.of == "limit" and network is not None:
        raise InputError(
            "this certificate is about the limit, which is proved without a network; leave the network out"
        )
    if claimed.of == "network" and network is None:
        raise InputError("this certificate is about a network; give that network too")
    tell, programs = teller(progress), as_programs(what)
    own: Any = claimed.own
    checked = by_algorithm(programs)[0]
    try:
        if network is None:
            from bitwright.proofs.certificate_file import check_certificate

            target = limit_target(programs, sizes, tile, tell, claimed=claimed)
            checked = target.algorithm
            with tell.working("checking") as step:
                check_certificate(own, target.algorithm, progress=step)
        else:
            from bitwright.verbs.network_proof import ProofWork, check_network, network_target

            cells: Tile = 1 if claimed.cells else "all"
            target = network_target(programs, network, sizes, cells, tell, device=device, claimed=claimed)
            checked = target.algorithm
            own = check_network(own, target, ProofWork(tell, device, workers))
        own = replace(own, sizes=target.sizes)
        found = Certificate(own, prove_function(target, tell), prove_sizes(target), target.about, holds=True)
        if target.programs.programs:  # a pattern by itself has no other claims
            check_claims(claimed.premises, found.premises)
    except ProofError as error:
        raise ProofError(str(error), name=checked.name, of=claimed.of, program_id=checked.program.id) from None
    return found


def _prove_limit(
    target: ProofTarget, rounding: str | None, n: str | None, padding: int | None, tell: Teller
) -> LimitVerdict:
    from bitwright.proofs.certificate import certify, certify_cells
    from bitwright.proofs.ranges import matches_range
    from bitwright.theory.decisions import training_size
    from bitwright.theory.rounding import check_rounding

    chosen = check_rounding(rounding or "calibrated")
    examples = training_size(target.algorithm, chosen, padding)
    with tell.working("checking") as step:
        if target.cells:
            return replace(certify_cells(target.pattern, chosen, examples, step), sizes=target.sizes)
        return certify(target.algorithm.program, chosen, matches_range(target.algorithm, n, step), examples, step)


def _check_network_settings(network: object, rounding: str | None, **given: object) -> None:
    """Raises InputError for a setting that cannot be used with a network."""
    from bitwright.networks.external import is_model
    from bitwright.theory.rounding import ROUNDINGS

    if is_model(network):
        given["tile"] = None
    if isinstance(network, str) and network in ROUNDINGS:
        raise InputError(f"'{network}' is a rounding, not a network; give it as {option('rounding')}")
    if rounding == "sign":
        raise InputError(
            f"{option('rounding')} sign cannot be used with {option('network')}, because the limit is exactly 0 where "
            "one example matches, so that chance would decide; networks are proved with calibrated rounding"
        )
    given |= {"rounding": None if rounding == "calibrated" else rounding}
    refuse(f"cannot be used with {option('network')}, whose file records how it was trained", **given)
