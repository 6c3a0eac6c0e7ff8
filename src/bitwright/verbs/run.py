"""Runs a program once, many times at once, or on many graphs, with any engine."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias, overload
from warnings import warn

import numpy as np

from bitwright.common.bits import BoolArray, from_bit_rows, to_bit_rows, whole_number
from bitwright.common.errors import BitwrightWarning, InputError, counted, option, suggestion
from bitwright.engines.protocol import Engine
from bitwright.rules import Algorithm, Program
from bitwright.rules.algorithm import check_inputs
from bitwright.rules.ensures import Runs, joined
from bitwright.runs.progress import Progress
from bitwright.runs.run import BatchRun, Run, run_batch, run_with
from bitwright.verbs.engines import SETTINGS, engine_for
from bitwright.verbs.open import is_for_machine_v, is_node_program, subject
from bitwright.verbs.progress import Listener, Teller, teller
from bitwright.verbs.reports import refuse

if TYPE_CHECKING:
    from bitwright.machines.programs import SubleqProgram
    from bitwright.networks.external import Model
    from bitwright.rules import NodeProgram
    from bitwright.verbs.images import ComputerRun
    from bitwright.verbs.network import Network

    What: TypeAlias = Algorithm | Program | NodeProgram
    RunNetwork: TypeAlias = Network | Model | Callable[..., Any]

_OPTIONS = (*("inputs", "graph", "states", "engine", "network", "steps", "record", "progress"),)
_OF_MANY = ("workers", "margins")


@overload
def run(what: What, *, states: BoolArray, **settings: Any) -> BatchRun: ...
@overload
def run(what: SubleqProgram, inputs: bytes = b"", **settings: Any) -> ComputerRun: ...
@overload
def run(
    what: What,
    inputs: Mapping[str, int] | None = None,
    *,
    graph: Any = None,
    states: None = None,
    engine: str | Engine | None = None,
    network: RunNetwork | None = None,
    steps: int | None = None,
    record: bool = False,
    progress: Teller | Progress | bool | None = None,
    **values: Any,
) -> Run: ...
@overload
def run(what: What, inputs: Any = None, **values: Any) -> Any: ...
def run(
    what: What | SubleqProgram,
    inputs: Any = None,
    *,
    graph: Any = None,
    states: BoolArray | None = None,
    engine: str | Engine | None = None,
    network: RunNetwork | None = None,
    steps: int | None = None,
    record: bool = False,
    progress: Teller | Progress | bool | None = None,
    **values: Any,
) -> Run | BatchRun | ComputerRun:
    """Runs a program on input values, given by name or in a dictionary.

    An input whose name is also an argument of `run` must be in the dictionary.

    Args:
        what: a program, or a machine V with an image.
        inputs: numbers by name; for a machine V, the bytes that it reads as input.
        graph: for a node program, a networkx graph, an adjacency matrix, a file, or a shape such as "torus:20x30".
        states: start states, one per row, instead of inputs.
        engine: an engine or its name: "templates" (the rules), "limit", "sampled" or "network".
        network: a trained network.
        steps: the step limit.
        record: keep every state.
        progress: True for lines on standard error, or a function that takes the steps done and the step limit.
        values: inputs, and engine settings: `rounding`, `padding`, `networks`, `seed`, `width`, `device`, `tile`. For
            many runs also `workers`, a number of threads, and `margins`, to get the smallest margin of each run.

    >>> from bitwright import addition
    >>> run(addition(10), p=719, q=483).value
    1202
    >>> run(addition(4), {"p": 7, "q": 8}, engine="limit", rounding="sign").value
    15

    Arrays and lists of inputs start many runs at once; `outputs` are then arrays.

    >>> import numpy as np
    >>> run(addition(4), p=np.arange(4), q=9).outputs["sum"]
    array([ 9, 10, 11, 12])

    Inputs of a node program are given for each node, or in a table (a .csv file); `nodes` holds the outputs by node.

    >>> from bitwright import parse
    >>> flood = parse("bits x; block x; when x=1 write x far.x; input source = x".replace("; ", chr(10)))
    >>> run(flood, graph="path:3", source="1", steps=1).nodes["2"]
    {'x': 1}

    For a machine V, `output` contains the bytes written, `instructions` and `seconds` limit the run, and `memory`
    selects words to return, such as "0:7".

    >>> from pathlib import Path
    >>> from bitwright.machines.programs import open_subleq
    >>> lines = [".words 32", ".width 8", ".dialect howerj", "out #72", "out #105", "halt"]
    >>> _ = Path("hi.sq").write_text(chr(10).join(lines))
    >>> run(open_subleq("hi.sq")).output
    b'Hi'
    """
    tell = teller(progress)
    if is_for_machine_v(what):
        from bitwright.verbs.images import ImageConsole, run_image

        others: dict[str, object] = {"graph": graph is not None, "states": states is not None, "record": record}
        refuse("cannot be used with an image", steps=steps, **others)
        if not isinstance(inputs, bytes | None):
            raise InputError(f"inputs of an image must be bytes, such as b'text', got a {type(inputs).__name__}")
        return run_image(what, ImageConsole(inputs or b""), engine=engine, network=network, progress=progress, **values)
    settings = {name: values.pop(name) for name in (*SETTINGS, *_OF_MANY) if name in values}
    check_once(inputs, values)
    of_many = {name: settings.pop(name) for name in _OF_MANY if name in settings}
    if isinstance(what, Algorithm) or is_node_program(what):
        check_values(what, values, (*_OPTIONS, *SETTINGS, *_OF_MANY))
    how = {"engine": engine, "network": network, "steps": steps, "record": record}
    if is_node_program(what):
        from bitwright.verbs.graphs import run_on_graph

        if states is not None or of_many:
            raise InputError("a node program runs on one graph at a time; leave out states, workers and margins")
        return run_on_graph(what, graph, inputs, values, {**how, "progress": progress, **settings})
    if graph is not None:
        raise InputError(f"only a node program runs on a graph; leave out {option('graph')}")
    check_named(what, inputs)
    given = {name: as_array(name, value) for name, value in {**(inputs or {}), **values}.items()}
    algorithm = subject(what)
    assert isinstance(algorithm, Algorithm)
    if states is None and any(isinstance(value, list | tuple | range | np.ndarray) for value in given.values()):
        states = _states(algorithm, given)
    elif states is not None and given:
        raise InputError("states already contain the inputs; give states or inputs, not both")
    if states is None:
        if of_many:
            raise InputError(f"{' and '.join(of_many)} work only with many runs; leave them out")
        algorithm.state(given)  # reports wrong inputs before any long work starts
        if not algorithm.allows(given):
            _warn_outside(algorithm, tell, "these inputs do")
        chosen = engine_for(algorithm, engine, network, settings, tell)
        # If neither the program nor the caller limits the steps, the default limit does not predict the time left.
        limited = steps is not None or algorithm.steps is not None or not hasattr(progress, "working")
        with tell.working("steps", at_most=algorithm.halt is not None) as told:
            shown = told if limited else lambda done, _: told(done, 0)
            return run_with(algorithm, given, chosen, limit=steps, record=record, progress=shown)
    if record:
        raise InputError("record works only with a single run; leave it out")
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
    """Warns about inputs that the `ensure` lines do not cover."""
    message = f"{which} not satisfy 'where {joined(algorithm.conditions)}', so no ensure line applies"
    if isinstance(tell, Listener):
        warn(message, BitwrightWarning, stacklevel=3)
    else:
        tell.note(message)


def _states(algorithm: Algorithm, given: Mapping[str, Any]) -> BoolArray:
    """Returns the start states of many runs; a single number applies to all of them."""
    check_inputs(algorithm.name, [word.name for word in algorithm.inputs], given)
    several = {
        name: len(value)
        for name, value in given.items()
        if isinstance(value, list | tuple | range) or (isinstance(value, np.ndarray) and value.ndim)
    }
    lengths = sorted({(length, name) for name, length in several.items()})
    if len(set(several.values())) > 1:
        (short, one), (long, other) = lengths[0], lengths[-1]
        raise InputError(f"arrays of inputs must have one length; {one} has {short:,} values and {other} has {long:,}")
    columns = []
    for word in algorithm.inputs:
        value = given[word.name] if word.name in several else [given[word.name]]
        bits = to_bit_rows(value, len(word.bits), f"input {word.name}", word.signed)
        columns.append(np.broadcast_to(bits, (lengths[0][0] if lengths else 1, len(word.bits))))
    return algorithm.states(np.concatenate(columns, axis=1))


def check_named(what: object, inputs: object) -> None:
    """Raises InputError unless inputs are a dictionary or None."""
    if not isinstance(inputs, Mapping | None):
        names = [word.name for word in what.inputs[:3]] if isinstance(what, Algorithm) else ["NAME"]
        form = ", ".join(f"'{name}': NUMBER" for name in names)
        raise InputError(
            f"inputs must be given by name, or in a dictionary such as {{{form}}}, got a {type(inputs).__name__}"
        )


def check_once(inputs: object, values: Mapping[str, object]) -> None:
    """Raises InputError for an input that is given by name and in the dictionary."""
    if isinstance(inputs, Mapping) and (twice := [name for name in values if name in inputs]):
        raise InputError(f"input {twice[0]} is given twice, by name and in the dictionary; leave out one of them")


def as_array(name: str, value: Any) -> Any:
    """Converts an array of another library, such as a PyTorch tensor, to NumPy; returns anything else unchanged."""
    if isinstance(value, np.ndarray) or not hasattr(value, "__array__") or not getattr(value, "ndim", 0):
        return value
    try:
        return np.asarray(value)
    except (TypeError, ValueError, RuntimeError) as error:
        raise InputError(f"input {name} cannot be converted to a NumPy array: {error}") from None


def check_values(what: Algorithm | NodeProgram, names: Iterable[str], options: Sequence[str]) -> None:
    """Raises InputError for a name that is not an input and is more similar to an option than to an input."""
    words = what.schema().inputs if is_node_program(what) else what.inputs
    known = [word.name for word in words]
    for name in names:
        if name not in known and not suggestion(name, known) and (hint := suggestion(name, options)):
            raise InputError(f"{what.name} has no input '{name}'{hint}")


def check_batch(states: object, workers: int | None) -> None:
    """Raises InputError unless states are an array of bool, and workers a number of threads."""
    if not isinstance(states, np.ndarray) or states.dtype != bool:
        got = f"an array of {states.dtype}" if isinstance(states, np.ndarray) else f"a {type(states).__name__}"
        raise InputError(f"states must be a NumPy array of bool, got {got}")
    if workers is not None and whole_number(workers, "workers") < 1:
        raise InputError(f"workers must be a number of threads, 1 or more, got {workers}")
