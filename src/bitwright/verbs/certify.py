"""Proofs: that the limit, or one network, takes every step of a program's rules; or a state that comes out wrong."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from os import PathLike
from typing import TYPE_CHECKING, Any, overload

from bitwright.common.errors import InputError, listing, option, shorten
from bitwright.common.files.storage import as_path
from bitwright.common.workers import Workers
from bitwright.engines.external import FittedModel
from bitwright.networks.external import Model, is_model
from bitwright.networks.external.model import Given
from bitwright.proofs import certificate
from bitwright.proofs.certificate import LimitVerdict
from bitwright.proofs.certificate_file import check_certificate, check_subject
from bitwright.proofs.exhaustion import NetworkVerdict, ProofTask, certify_network
from bitwright.proofs.exhaustion.domains import usual_domain
from bitwright.proofs.exhaustion.one_state import look_at_state, state_with
from bitwright.proofs.ranges import matches_range
from bitwright.rules.cells import Tile
from bitwright.runs.progress import Progress
from bitwright.theory.decisions import training_size
from bitwright.theory.rounding import ROUNDINGS, Rounding, check_rounding
from bitwright.transformers.decoder import Decoder
from bitwright.transformers.layout import ColumnTask
from bitwright.verbs.certificates import Certificate, StateReport
from bitwright.verbs.proof_target import ProofTarget, Provable, limit_target, network_target
from bitwright.verbs.shorter_proof import check_cost
from bitwright.verbs.sizes import SizesAsked, Subject, naming_program
from bitwright.verbs.telling import Teller, say_compiling, teller

if TYPE_CHECKING:
    from bitwright.transformers.decision import Decision
    from bitwright.transformers.modules import Module


@overload
def certify(
    what: ColumnTask | str,
    network: Decoder,
    *,
    module: Module | None = None,
    seconds: float | None = None,
    measure: bool = False,
    workers: str | int = "1",
    resume: str | PathLike[str] | None = None,
    progress: Teller | Progress | bool | None = None,
) -> Decision: ...
@overload
def certify(
    what: Subject | Sequence[Subject], network: Provable, *, state: str, sizes: SizesAsked | None = None
) -> StateReport: ...
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
    state: None = None,
    device: str | None = None,
    workers: str | int = "1",
    yes: bool = False,
    resume: str | PathLike[str] | None = None,
    function: bool = False,
    oracle: Model | Given | None = None,
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
    state: str | None = None,
    device: str | None = None,
    workers: str | int = "1",
    yes: bool = False,
    resume: str | PathLike[str] | None = None,
    function: bool = False,
    oracle: Model | Given | None = None,
    module: Module | None = None,
    seconds: float | None = None,
    measure: bool = False,
    progress: Teller | Progress | bool | None = None,
) -> Certificate | StateReport | Decision:
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
    certified: this network computes sum == p + q, at every size
    >>> certify("addition", adder, sizes="1..64").sizes
    '1..64'
    >>> print(certify("addition", adder, state="p[1]").sentence)
    n = 1: 1 example matched, right

    A network of your own is an ONNX file, a PyTorch module, a function of an array of rows, or a `Model` that says how
    it is read. It is proved where its arithmetic is known for every runtime, else tested on every state. An `oracle`,
    another such network, says what is right in place of the rules.

    Without a network the proof is of the limit, the mean of infinitely wide networks, with K and n as in a run with the
    same `rounding` ("calibrated" or "sign") and `padding`. `n` says how the number of matches is bounded: `blocks`
    (proved, the default), `declared` (an assumption, which the certificate names) or `reachable` (met in the runs of
    all inputs). With `sizes`, or a `tile` of 1 or more neighbouring cells, it is the limit of networks of cells; n is
    then a cell's own. Node programs are certified by their cells.

    >>> print(certify(multiplication(10)).sentence)
    certified
    >>> certify("multiplication", sizes="1..8").program_id == certify("multiplication", sizes=range(1, 9)).program_id
    True

    What the rules compute is proved too if the program has an `ensure` line: at every size if possible, else at the
    sizes looked at. `function=True` proves it of the code of a machine, which can take minutes.

    With a task of a transformer (`bitwright.transformers.read_task`, or its text) the network is a `Decoder`, which is
    proved on every input, or refuted by one. It is compared with the `module` that it describes: a function from tokens
    to logits, which replays the counterexample. No more is proved after `seconds` (600). `measure` also finds the
    smallest margin or, where it is refuted, counts the wrong inputs: `certify(task, decoder, module=network)`.

    progress=True says on standard error what is done, how much there is and about how long it takes; or give a function
    of what is done and how much there is.
    """
    if isinstance(what, ColumnTask) or isinstance(network, Decoder) or module is not None or _is_task(what):
        others: dict[str, object] = {"sizes": sizes, "domain": domain, "rounding": rounding, "n": n, "tile": tile}
        others |= {"state": state, "device": device, "function": function, "oracle": oracle, "yes": yes}
        how: dict[str, Any] = {"module": module, "seconds": seconds, "measure": measure, "workers": workers}
        how |= {"resume": resume, "progress": progress}
        return _certify_decoder(what, network, others | {"padding": padding}, **how)
    if seconds is not None or measure:
        name = option("measure" if measure else "seconds")
        raise InputError(f"{name} goes with a task of a transformer and its decoder; leave it out")
    tell = teller(progress)
    if network is None:
        given = {"domain": domain, "state": state, "device": device, "resume": resume, "oracle": oracle}
        _refuse_of_limit(**given, yes=yes or None, workers=None if str(workers) == "1" else workers)
        if n == "reachable" and not hasattr(progress, "working"):
            say_compiling()
        chosen = check_rounding(rounding or "calibrated")
        target = limit_target(what, sizes, tile, tell, n, padding)
        return Certificate(_prove_limit(target, chosen, n, padding, tell), target.chain(tell, function), target.about)
    _refuse_of_network(network, state, rounding, n=n, padding=padding, tile=None if is_model(network) else tile)
    if state is not None:
        if domain is not None or resume is not None:
            raise InputError(
                f"{option('state')} looks at one state; leave out {option('domain')} and {option('resume')}"
            )
        return _look(network_target(what, network, sizes, tile, tell, oracle=oracle, device=device, state=True), state)
    target = network_target(what, network, sizes, tile, tell, oracle=oracle, device=device, domain=domain)
    chain = target.chain(tell, function)
    domain = usual_domain(target.algorithm.program) if domain is None else domain
    task, who = _task(target, domain, workers, device, yes, resume, tell)
    return Certificate(_prove_network(task, who, resume, target.sizes, tell), chain, target.about)


def _is_task(what: object) -> bool:
    """Whether this is the text or the file of a task of a transformer."""
    text = isinstance(what, str) and "\n" in what and re.search("^ *prompt ", what, re.MULTILINE) is not None
    return text or (isinstance(what, str | PathLike) and str(what).endswith(".task"))


def _certify_decoder(what: Any, network: Any, others: Mapping[str, object], **how: Any) -> Decision:
    from bitwright.verbs.decoders import certify_decoder

    for name, value in others.items():
        if value not in (None, False):
            raise InputError(f"{option(name)} does not go with a task of a transformer; leave it out")
    return certify_decoder(what, network, **how)


def check(
    claimed: Certificate,
    what: Subject | Sequence[Subject],
    network: Provable | None,
    *,
    sizes: SizesAsked | None,
    tile: Tile | None,
    device: str | None,
    workers: str | int,
    yes: bool,
    oracle: Model | Given | None,
    progress: Teller | Progress | bool | None,
) -> Certificate:
    """Proves every claim of a certificate again; raises ProofError at the first that does not hold."""
    tell, own = teller(progress), claimed.own
    with naming_program(what, claimed.of):
        if network is None:
            target = limit_target(what, sizes, tile, tell, claimed=claimed)
        else:
            cells: Tile = 1 if claimed.cells else "all"
            target = network_target(what, network, sizes, cells, tell, oracle=oracle, device=device, claimed=claimed)
    with naming_program(target.algorithm, claimed.of):
        if isinstance(own, LimitVerdict):
            with tell.working("checking") as step:
                check_certificate(own, target.algorithm, progress=step)
        else:
            assert target.network is not None
            check_subject(own, target.algorithm, target.network)
            task, who = _task(target, own.domain, workers, device, yes, None, tell, check=True)
            with tell.working(task.unit) as step:
                how: dict[str, Any] = {"workers": who, "progress": step, "device": task.device}
                own = check_certificate(own, target.algorithm, target.network, oracle=target.oracle, **how)
        chain = target.chain(tell, claimed.chain.tried)
        if target.oracle is None and target.programs.programs:  # a pattern by itself has no other claims
            chain.check(claimed.chain)
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


def _task(
    target: ProofTarget,
    domain: str,
    workers: str | int,
    device: str | None,
    yes: bool,
    resume: str | PathLike[str] | None,
    tell: Teller,
    check: bool = False,
) -> tuple[ProofTask, Workers]:
    """The proof to make, and who makes it; raises InputError for one that takes too long or cannot be shared out."""
    assert target.network is not None
    who = Workers.parse(str(workers), str(device or "cpu"))
    for used in (target.network, target.oracle):
        if isinstance(used, FittedModel):
            what = "workers cannot share it" if who.kind != "serial" and not used.shared else ""
            if resume is not None and not used.model.covered:
                what = "a file to resume from cannot say whether it is the same"
            if what:
                raise InputError(f"{used.model.name} computes by code of this process, so {what}; export it to ONNX")
    task = ProofTask(target.algorithm, target.network, domain, str(device or "cpu"), target.oracle)
    return check_cost(task, who, device, yes, tell, tile=target.tile, check=check), who


def _prove_network(
    task: ProofTask, who: Workers, resume: str | PathLike[str] | None, sizes: str | None, tell: Teller
) -> NetworkVerdict:
    file = None if resume is None else as_path(resume, "the file to resume from")
    before: list[tuple[int, int]] = []  # how much had been done, and of how much
    with tell.working(task.unit) as step:

        def look(done: int, size: int) -> None:
            before.append((done, size)) if not before else None
            step(done, size)

        how: dict[str, Any] = {"workers": who, "progress": look, "file": file, "device": task.device}
        found = certify_network(task.algorithm, task.network, task.domain_name, oracle=task.oracle, **how)
    if before and before[0][0]:
        done, size = before[0]
        tell.note(f"{done:,} of {size:,} {task.unit} had been tried before, as {file} says")
    return replace(found, sizes=sizes)


def _look(target: ProofTarget, state: str) -> StateReport:
    """One state through the network; for cells a local state, in names of the pattern or of the program."""
    program, pattern, network = target.algorithm.program, target.pattern, target.network
    if target.cells:
        state = _by_pattern(state, target)
    on, kind = state_with(program, state)
    assert network is not None
    read = network.columns.pattern if isinstance(network, FittedModel) else pattern
    found = look_at_state(read, network, on, kind, target.oracle)
    return StateReport(**vars(found), about=target.about)


def _by_pattern(text: str, target: ProofTarget) -> str:
    """Translates bits of the first cell of each kind to bits of the pattern; other words stay as they are."""
    theirs = {name: bit for bit, own in target.names.items() if "_block" in bit for name in own}
    kinds = (f"kind{number}" for number in range(1, 1 + len(target.pattern.kinds)))
    known = {*target.pattern.program.layout.names, *kinds, "none"}
    if unknown := [word for word in text.split() if word not in known and word not in theirs]:
        raise InputError(
            f"a network of cells is looked at one cell at a time; '{unknown[0]}' is in no first cell of a kind, which "
            f"have the bits {listing([*theirs], 12)}"
        )
    return " ".join(word if word in known else theirs[word] for word in text.split())


def _refuse_of_limit(**given: object) -> None:
    """Raises InputError for a setting that needs a network."""
    for name in (name for name, value in given.items() if value is not None):
        what = "the proof of the limit has no states to go through"
        raise InputError(f"{option(name)} goes with {option('network')}; {what}")


def _refuse_of_network(network: object, state: object, rounding: str | None, **given: object) -> None:
    """Raises InputError for a setting that does not go with a network."""
    if not isinstance(state, str | None):
        raise InputError(
            f"{option('state')} is a str of names of bits, those that are on, such as 'p[1] q[1]', got "
            f"{shorten(repr(state))}"
        )
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
