"""Runs a program once, many times at once, or on many graphs, with any engine."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from os import PathLike, fspath
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, overload
from warnings import warn

import numpy as np

from bitwright.common.bits import BoolArray, from_bit_rows, to_bit_rows
from bitwright.common.errors import BitwrightWarning, InputError, counted, option
from bitwright.common.lazy import is_a
from bitwright.engines.protocol import Engine
from bitwright.rules import Algorithm, Program
from bitwright.rules.algorithm import check_inputs
from bitwright.rules.ensure_runs import Runs
from bitwright.rules.ensures import joined
from bitwright.rules.given import is_node_program
from bitwright.runs.observers import Watch
from bitwright.runs.progress import Progress
from bitwright.runs.run import BatchRun, Run, run_batch, run_with
from bitwright.verbs.arguments import as_array, check_batch, check_named, check_once, check_values
from bitwright.verbs.engines import SETTINGS, engine_for
from bitwright.verbs.open import SIZED, MachineChoice, is_image, open_subleq, shipped, subject
from bitwright.verbs.telling import Listener, Teller, teller

if TYPE_CHECKING:
    from typing_extensions import TypeIs

    from bitwright.machines.subleq import MachineV
    from bitwright.machines.subleq.images import ImageRun
    from bitwright.networks import AnyNetwork
    from bitwright.networks.external import Model
    from bitwright.rules import NodeProgram
    from bitwright.verbs.images import ComputerRun
    from bitwright.verbs.network import Network

    What: TypeAlias = Algorithm | Program | NodeProgram | str | PathLike[str]
    Held: TypeAlias = str | PathLike[str] | Network | AnyNetwork | Model | Callable[..., Any]
    Networks: TypeAlias = Held | Sequence[Held]

_OPTIONS = (
    *("inputs", "graph", "on_error", "states", "images"),
    *("engine", "network", "steps", "record", "progress", "watch"),
)
_OF_MANY = ("workers", "margins")


@overload
def run(what: What, *, states: BoolArray, **settings: Any) -> BatchRun: ...
@overload
def run(
    what: MachineV, inputs: Sequence[bytes] = (), *, images: Sequence[Sequence[int]], **settings: Any
) -> list[ImageRun]: ...
@overload
def run(
    what: What,
    inputs: Any = None,
    *,
    graph: list[Any] | tuple[Any, ...],
    on_error: Literal["skip"],
    **settings: Any,
) -> list[Run | None]: ...
@overload
def run(what: What, inputs: Any = None, *, graph: list[Any] | tuple[Any, ...], **settings: Any) -> list[Run]: ...
@overload
def run(
    what: What,
    inputs: Mapping[str, int] | None = None,
    *,
    graph: Any = None,
    states: None = None,
    engine: str | Engine | None = None,
    network: Networks | None = None,
    steps: int | None = None,
    record: bool = False,
    progress: Teller | Progress | bool | None = None,
    watch: Watch | None = None,
    **values: Any,
) -> Run: ...
@overload
def run(what: What, inputs: Any = None, **values: Any) -> Any: ...
def run(
    what: What | MachineV,
    inputs: Any = None,
    *,
    graph: Any = None,
    on_error: Literal["raise", "skip"] = "raise",
    states: BoolArray | None = None,
    images: Sequence[Sequence[int]] | None = None,
    engine: str | Engine | None = None,
    network: Networks | None = None,
    steps: int | None = None,
    record: bool = False,
    progress: Teller | Progress | bool | None = None,
    watch: Watch | None = None,
    **values: Any,
) -> Run | BatchRun | list[Run] | list[Run | None] | ComputerRun | list[ImageRun]:
    """Runs a program on input values, given by name or as a dictionary.

    `what` is a program, a file or the name of a shipped algorithm, which is then as long as its values need. `engine`
    is an engine or its name, and its settings are given beside it: `rounding`, `padding`, `networks`, `seed`, `width`,
    `device`, `tile`, `evaluate`. `network` is a trained network, its file, or several of
    either. `steps` limits the number of steps. `record` keeps every state; `watch` looks at single steps. `progress` is
    True for lines on standard error, or a function of the steps made and the most there can be. Give an input with the
    name of a setting in the dictionary.

    >>> from bitwright import addition
    >>> run(addition(10), p=719, q=483).value
    1202
    >>> run("addition", {"p": 7, "q": 8}, engine="limit", rounding="sign").value
    15

    Arrays and lists of inputs make many runs at once; `outputs` are then arrays. So do `states`, an array of start
    states. `workers` is the number of threads, which changes no result; `margins` asks for the smallest margin of each.

    >>> import numpy as np
    >>> run(addition(4), p=np.arange(4), q=9).outputs["sum"]
    array([ 9, 10, 11, 12])

    A node program runs on a `graph`: one of networkx, an adjacency matrix, a file, or a shape such as "torus:20x30".
    Its inputs are given by node, or in a table, a .csv file; `nodes` of the run has what they put out. A list of graphs
    gives a list of runs, with the same inputs for all, or with a list of them. With `on_error="skip"` a graph that
    cannot be run has None in its place, and a warning says why.

    >>> from bitwright import parse
    >>> flood = parse("bits x; block x; when x=1 write x far.x; input source = x".replace("; ", chr(10)))
    >>> run(flood, graph="path:3", source="1", steps=1).nodes["2"]
    {'x': 1}
    >>> [done.steps for done in run(flood, graph=["path:3", "ring:4"], source="0")]
    [2, 2]

    A SUBLEQ file (.sq, .dec) runs on machine V: `inputs` are the bytes that it reads, and `output` of the run has those
    that it wrote. `instructions` and `seconds` are the most it may take, `memory` names words to show, such as "0:7",
    and an image without a shape of its own needs `words`, `word_width` and `dialect`.

    >>> from pathlib import Path
    >>> lines = [".words 32", ".width 8", ".dialect howerj", "out #72", "out #105", "halt"]
    >>> _ = Path("hi.sq").write_text(chr(10).join(lines))
    >>> run("hi.sq").output
    b'Hi'

    Many `images` run on one machine V, each of them as it would alone: `run(machine, images=[...])`. `inputs` are then
    the bytes that each reads, `instructions` is the most to execute, 10,000 by default, and `entry` the first address.
    """
    tell = teller(progress)
    file = isinstance(what, str | PathLike) and is_image(fspath(what))
    if images is not None or _is_machine_v(what) or file:
        others = {"graph": graph, "states": states, "steps": steps, "record": record or None, "watch": watch}
        for name in (name for name, value in others.items() if value is not None):
            raise InputError(f"{option(name)} does not go with images; leave it out")
        if file and images is None:
            return _image(fspath(what), inputs, {"engine": engine, "network": network, "progress": progress, **values})  # type: ignore[arg-type]
        return _images(what, images, inputs, engine, network, values, tell)
    settings = {name: values.pop(name) for name in (*SETTINGS, *_OF_MANY) if name in values}
    check_once(inputs, values)
    of_many = {name: settings.pop(name) for name in _OF_MANY if name in settings}
    if network is not None:
        from bitwright.verbs.network import open_networks

        network = open_networks(network)
    if isinstance(what, str | PathLike):
        what = _opened(what, {**(inputs if isinstance(inputs, Mapping) else {}), **values}, graph, network)
    if isinstance(what, Algorithm) or is_node_program(what):
        check_values(what, values, (*_OPTIONS, *SETTINGS, *_OF_MANY))
    how = {"engine": engine, "network": network, "steps": steps, "record": record, "watch": watch}
    if is_node_program(what):
        from bitwright.verbs.graphs import run_on_graph, run_on_graphs

        if states is not None or of_many:
            raise InputError(f"many runs of a node program are a list of graphs: give {option('graph')}=[...]")
        if on_error not in ("raise", "skip"):
            raise InputError(f"on_error is 'raise' or 'skip', got {on_error!r}")
        if isinstance(graph, list | tuple):
            more = {**how, "progress": progress, **settings}
            return run_on_graphs(what, graph, inputs, values, more, skip=on_error == "skip")
        if on_error == "skip":
            raise InputError("on_error='skip' goes with a list of graphs; leave it out")
        return run_on_graph(what, graph, inputs, values, {**how, "progress": progress, **settings})
    if on_error != "raise":
        raise InputError("on_error goes with a list of graphs; leave it out")
    if graph is not None:
        raise InputError(f"only a node program runs on a graph; leave out {option('graph')}")
    check_named(what, inputs)
    given = {name: as_array(name, value) for name, value in {**(inputs or {}), **values}.items()}
    algorithm = subject(what)
    assert isinstance(algorithm, Algorithm)
    if states is None and any(isinstance(value, list | tuple | range | np.ndarray) for value in given.values()):
        states = _states(algorithm, given)
    elif states is not None and given:
        raise InputError("states hold the inputs already; give states or inputs, not both")
    if states is None:
        if of_many:
            raise InputError(f"{' and '.join(of_many)} go with many runs; leave them out")
        algorithm.state(given)  # complains about inputs before anything long begins
        if not algorithm.allows(given):
            _warn_outside(algorithm, tell, "these inputs do")
        chosen = engine_for(algorithm, engine, network, settings, tell)
        # Where neither the program nor the caller limits the steps, the default limit says nothing of the time left.
        limited = steps is not None or algorithm.steps is not None or not hasattr(progress, "working")
        with tell.working("steps", at_most=algorithm.halt is not None) as told:
            shown = told if limited else lambda done, _: told(done, 0)
            return run_with(algorithm, given, chosen, limit=steps, record=record, progress=shown, watch=watch)
    if record or watch is not None:
        raise InputError("record and watch go with a single run; leave them out")
    check_batch(states, of_many.get("workers"))
    if algorithm.conditions:
        numbers = {word.name: from_bit_rows(states[:, list(word.bits)], word.signed) for word in algorithm.inputs}
        if outside := int(np.count_nonzero(~Runs(len(states), numbers, {}).all_hold(algorithm.conditions))):
            verb = "do" if outside > 1 else "does"
            _warn_outside(algorithm, tell, f"{outside:,} of {counted(len(states), 'run')} {verb}")
    chosen = engine_for(algorithm, engine, network, settings, tell)
    with tell.working("runs") as told:
        return run_batch(algorithm, states, engine=chosen, limit=steps, progress=told, **of_many)


def _warn_outside(algorithm: Algorithm, tell: Teller, which: str) -> None:
    """Warns of inputs that the `ensure` lines do not cover."""
    message = f"{which} not satisfy 'where {joined(algorithm.conditions)}', so no ensure line applies"
    if isinstance(tell, Listener):
        warn(message, BitwrightWarning, stacklevel=3)
    else:
        tell.note(message)


def _is_machine_v(what: object) -> TypeIs[MachineV]:
    return is_a(what, "bitwright.machines.subleq.machine:MachineV")


def _image(path: str, inputs: object, how: dict[str, Any]) -> ComputerRun:
    """Runs one image on the machine that its file or the options describe, and collects its output."""
    from bitwright.verbs.images import ImageConsole, run_image

    if not isinstance(inputs, bytes | None):
        raise InputError(f"an image reads bytes: give inputs such as b'text', got a {type(inputs).__name__}")
    machine = MachineChoice("V", *(how.pop(name, None) for name in ("words", "word_width", "dialect")))
    return run_image(open_subleq(path, machine), ImageConsole(inputs or b""), **how)


def _images(
    machine: Any,
    images: Sequence[Sequence[int]] | None,
    inputs: Any,
    engine: str | Engine | None,
    network: Networks | None,
    values: dict[str, Any],
    tell: Teller,
) -> list[ImageRun]:
    """Runs many images on one machine."""
    if not _is_machine_v(machine):
        raise InputError(f"images run on a machine V, such as machine('V', ...), got a {type(machine).__name__}")
    if images is None:
        raise InputError("a machine runs images: give images=[...], or run machine.algorithm(image)")
    spelt = {"instructions": "max_instructions", "entry": "start"}
    from bitwright.machines.subleq.images import run_images

    limits = {spelt[name]: values.pop(name) for name in spelt if name in values}
    chosen = engine_for(machine.algorithm(), engine, network, values, tell)
    with tell.working("images"):
        return run_images(machine, images, () if inputs is None else inputs, engine=chosen, **limits)


def _opened(path: str | PathLike[str], values: Mapping[str, Any], graph: Any, network: Any) -> Algorithm | NodeProgram:
    """The program of a path or a name; a shipped one in the size that its values or its network need."""
    from bitwright.verbs.graphs import as_node_program

    if graph is not None and (program := as_node_program(path)) is not None:
        return program
    if path not in SIZED:
        return subject(path)
    return shipped(str(path), values, networks=network or ())


def _states(algorithm: Algorithm, given: Mapping[str, Any]) -> BoolArray:
    """The start states of many runs; a single number is the same in all of them."""
    check_inputs(algorithm.name, [word.name for word in algorithm.inputs], given)
    several = {
        name: len(value)
        for name, value in given.items()
        if isinstance(value, list | tuple | range) or (isinstance(value, np.ndarray) and value.ndim)
    }
    lengths = sorted({(length, name) for name, length in several.items()})
    if len(set(several.values())) > 1:
        (short, one), (long, other) = lengths[0], lengths[-1]
        raise InputError(f"arrays of inputs have one length; {one} has {short:,} values and {other} has {long:,}")
    columns = []
    for word in algorithm.inputs:
        value = given[word.name] if word.name in several else [given[word.name]]
        bits = to_bit_rows(value, len(word.bits), f"input {word.name}", word.signed)
        columns.append(np.broadcast_to(bits, (lengths[0][0] if lengths else 1, len(word.bits))))
    return algorithm.states(np.concatenate(columns, axis=1))
