"""Proofs: that the limit, or one network, takes every step of a program's rules; or a state that comes out wrong."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any, overload

from bitwright.api.asked import Asked, Held, Provable, asked_for, held_network
from bitwright.api.certificates import LimitCertificate, NetworkCertificate, StateLookedAt, chained
from bitwright.api.certify_limit import certify_limit
from bitwright.api.chain import Links
from bitwright.api.claimed import Subject, by_algorithm, opened_subjects, telling_of
from bitwright.api.models import fitted
from bitwright.api.shorter_proof import announced
from bitwright.api.sizes import SizesAsked
from bitwright.api.telling import Teller, say_compiling, teller
from bitwright.engines.cells.trained import as_algorithm
from bitwright.engines.foreign import FittedModel
from bitwright.errors import InputError, listing, option, shorten
from bitwright.files.storage import as_path
from bitwright.networks import AnyNetwork
from bitwright.networks.foreign import Model, as_model, is_model
from bitwright.networks.foreign.model import Given
from bitwright.program.cells import Tile
from bitwright.program.pattern import Pattern, is_pattern
from bitwright.proofs.exhaustion import ProofTask, certify_network
from bitwright.proofs.exhaustion.certificate_file import check_network_certificate, check_speaks_of
from bitwright.proofs.exhaustion.domains import check_domain, usual_domain
from bitwright.proofs.exhaustion.one_state import look_at_state, state_with
from bitwright.running.progress import Progress
from bitwright.theory.rounding import ROUNDINGS
from bitwright.transformers.decoder import Decoder
from bitwright.transformers.layout import ColumnTask
from bitwright.workers import Workers

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
    what: Subject | Sequence[Subject],
    network: None = None,
    *,
    sizes: SizesAsked | None = None,
    rounding: str | None = None,
    n: str | None = None,
    padding: int | None = None,
    tile: Tile | None = None,
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
    tile: Tile | None = None,
    state: None = None,
    device: str | None = None,
    workers: str | int = "1",
    yes: bool = False,
    resume: str | PathLike[str] | None = None,
    function: bool = False,
    oracle: Model | Given | None = None,
    progress: Teller | Progress | bool | None = None,
) -> NetworkCertificate: ...
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
) -> LimitCertificate | NetworkCertificate | StateLookedAt | Decision:
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
    smallest margin and, unless all is proved, counts the wrong inputs: `certify(task, decoder, module=network)`.

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
    if not isinstance(state, str | None):
        raise InputError(
            f"{option('state')} is a str of names of bits, those that are on, such as 'p[1] q[1]', got "
            f"{shorten(repr(state))}"
        )
    if network is None:
        _only_with_network(
            domain=domain, state=state, device=device, resume=resume, yes=yes, workers=workers, oracle=oracle
        )
        if n == "reachable" and not hasattr(progress, "working"):
            say_compiling()
        return certify_limit(what, sizes, rounding, n, padding, tile, tell, function)
    _only_of_limit(network, rounding, n=n, padding=padding, tile=None if is_model(network) else tile)
    held = held_network(network, what, sizes, tile)
    if oracle is not None and not isinstance(held.weights, FittedModel):
        raise InputError(f"{option('oracle')} goes with a network of your own: an ONNX file, a module or a function")
    against = None if oracle is None else _oracle(oracle, held, what, sizes)
    held = held.on(None if device is None else str(device))
    whole = held.pattern.whole is not None
    if whole and sizes is not None:
        raise InputError(f"{held.name} was trained on a whole program, not on cells; leave out {option('sizes')}")
    if state is not None:
        if domain is not None or resume is not None:
            raise InputError(
                f"{option('state')} looks at one state; leave out {option('domain')} and {option('resume')}"
            )
        return _look(asked_for(what, held, sizes, tell, skip=True), state, against)
    if not whole:
        check_domain(held.pattern.program, domain or "cells")
    who = Workers.parse(str(workers), str(device or "cpu"))
    asked = asked_for(what, held, sizes, tell, function=function)
    if against is not None:
        asked = replace(asked, oracle=against, links=Links())  # what the rules compute says nothing of it
    file = None if resume is None else as_path(resume, "the file to resume from")
    for used in (asked.network, asked.oracle):
        _check_travels(used, who, file)
    return _certify_network(asked, domain, who, None if device is None else str(device), yes, file, tell)


def _is_task(what: object) -> bool:
    """Whether this is the text or the file of a task of a transformer."""
    text = isinstance(what, str) and "\n" in what and re.search("^ *prompt ", what, re.MULTILINE) is not None
    return text or (isinstance(what, str | PathLike) and str(what).endswith(".task"))


def _certify_decoder(what: Any, network: Any, others: Mapping[str, object], **how: Any) -> Decision:
    from bitwright.api.decoders import certify_decoder

    for name, value in others.items():
        if value not in (None, False):
            raise InputError(f"{option(name)} does not go with a task of a transformer; leave it out")
    return certify_decoder(what, network, **how)


def _certify_network(
    asked: Asked, domain: str | None, who: Workers, device: str | None, yes: bool, file: Path | None, tell: Teller
) -> NetworkCertificate:
    name = usual_domain(asked.algorithm.program) if domain is None else domain
    task = ProofTask(asked.algorithm, asked.network, name, device or "cpu", asked.oracle)
    task = announced(task, who, device, yes, tell, tile=asked.tile)
    before: list[tuple[int, int]] = []  # how much had been done, and of how much
    with tell.working(task.unit) as step:

        def look(done: int, size: int) -> None:
            if not before:
                before.append((done, size))
            step(done, size)

        found = certify_network(
            asked.algorithm,
            asked.network,
            name,
            workers=who,
            progress=look,
            file=file,
            device=task.device,
            oracle=asked.oracle,
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
    oracle: Model | Given | None = None,
) -> NetworkCertificate:
    """Goes through the whole domain again; raises ProofError at the first claim that does not hold."""
    tell, held = teller(progress), held_network(_as_claimed(network, claimed), what, sizes, _tile_of(claimed))
    against, held = _claimed_oracle(claimed, oracle, held, what, sizes), held.on(device)
    who, tried = Workers.parse(str(workers), str(device or "cpu")), claimed.about.links.tried
    if held.pattern.whole is None:
        pattern = as_algorithm(held.pattern, by_algorithm(opened_subjects(what))[0].name)
        with telling_of(pattern, "network"):  # before its sizes are tried on this program
            check_speaks_of(claimed, pattern, held.weights)
            asked = asked_for(what, held, sizes, tell, claimed=claimed, function=tried)
    else:
        asked = asked_for(what, held, sizes, tell, function=tried)
    with telling_of(asked.algorithm, "network"):
        check_speaks_of(claimed, asked.algorithm, asked.network)
        task = ProofTask(asked.algorithm, asked.network, claimed.domain, str(device or "cpu"), against)
        task = announced(task, who, device, yes, tell, tile=asked.tile, check=True)
        with tell.working(task.unit) as step:
            own = check_network_certificate(
                claimed.own, asked.algorithm, asked.network, who, step, task.device, against
            )
        if against is not None:
            asked = replace(asked, links=Links())
        elif not is_pattern(by_algorithm(opened_subjects(what))[0].program):  # which says nothing of its program
            asked.links.check(claimed.about.links)
    return chained(NetworkCertificate(**{**vars(own), "sizes": asked.sizes, "about": replace(asked.about, holds=True)}))


def _tile_of(claimed: NetworkCertificate) -> Tile:
    return 1 if claimed.cells else "all"


def _as_claimed(network: Provable, claimed: NetworkCertificate) -> Provable:
    """A network of your own, read as its certificate says."""
    if claimed.model is None or not is_model(network):
        return network
    return replace(as_model(network), reads=claimed.model["reads"], threshold=claimed.model["threshold"])


def _claimed_oracle(
    claimed: NetworkCertificate,
    oracle: Model | Given | None,
    held: Held,
    what: Subject | Sequence[Subject],
    sizes: SizesAsked | None,
) -> FittedModel | None:
    """The oracle that a certificate names; raises InputError if it is missing, or given without being named."""
    named = None if claimed.model is None else claimed.model["oracle"]
    if named is None or oracle is None:
        if named is not None or oracle is not None:
            wanted = "no oracle; leave it out" if named is None else f"an oracle; give it as {option('oracle')}"
            raise InputError(f"this certificate names {wanted}")
        return None
    return _oracle(oracle, held, what, sizes)


def _oracle(
    oracle: Model | Given,
    held: Held,
    what: Subject | Sequence[Subject],
    sizes: SizesAsked | None,
) -> FittedModel:
    """The oracle, which reads what the network reads."""
    assert isinstance(held.weights, FittedModel)
    same = replace(as_model(oracle), reads=held.weights.columns.reads)
    return fitted(same, what, sizes, 1 if held.pattern.whole is None else "all")[0]


def _check_travels(network: AnyNetwork | FittedModel | None, who: Workers, file: Path | None) -> None:
    """Raises InputError for code of this process that others would need, or that a later run cannot recognize."""
    if not isinstance(network, FittedModel):
        return
    what = "workers cannot share it" if who.kind != "serial" and not network.shared else ""
    if file is not None and not network.model.covered:
        what = "a file to resume from cannot say whether it is the same"
    if what:
        raise InputError(f"{network.model.name} computes by code of this process, so {what}; export it to ONNX")


def _look(asked: Asked, state: str, oracle: FittedModel | None = None) -> StateLookedAt:
    """One state through the network; for cells a local state, in names of the pattern or of the program."""
    program, pattern = asked.algorithm.program, asked.pattern
    if pattern.whole is None:
        state = _by_pattern(state, pattern, asked.names or {})
    on, kind = state_with(program, state)
    if isinstance(asked.network, FittedModel):
        from bitwright.proofs.exhaustion.models import look_at_model

        found = look_at_model(asked.network, on, kind, oracle)
    else:
        found = look_at_state(pattern, asked.network, on, kind)
    return StateLookedAt(**vars(found), about=asked.about)


def _by_pattern(text: str, pattern: Pattern, names: dict[str, tuple[str, ...]]) -> str:
    """Translates bits of the first cell of each kind to bits of the pattern; other words stay as they are."""
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
