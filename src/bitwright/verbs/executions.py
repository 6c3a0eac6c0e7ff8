"""Makes executions to learn from (states of runs, random states or a file), and training sets as NumPy files."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from os import PathLike, fspath
from typing import Any

import numpy as np

from bitwright.common.bits import BoolArray, shorten, whole_number
from bitwright.common.errors import InputError, counted, option
from bitwright.common.files.executions import Executions
from bitwright.common.files.storage import as_path, check_output
from bitwright.engines.cells.wiring import Wiring
from bitwright.networks.network import LearntFrom
from bitwright.networks.train import ExecutionSet
from bitwright.rules import Algorithm, Program
from bitwright.rules.cells import Tile
from bitwright.rules.pattern import Pattern
from bitwright.runs.progress import Progress
from bitwright.runs.successors import executions_of_inputs, lets_of, random_executions, random_states, successors
from bitwright.theory.encoding.training_set import Labels, StateSet, TrainingSet, check_dense, check_labels
from bitwright.verbs.open import as_algorithm
from bitwright.verbs.progress import Teller, teller
from bitwright.verbs.reports import Summary

_PER_TEMPLATE = 20  # default number of states per template; about 10 suffice for random states
_MAX_STEPS = 4_096  # of a run; some never end
_MOST = 10**6  # runs or states
_SOURCES = "executions must be runs, states or a .npz execution file"
LEAST = 2  # different examples needed for training
TOLERANCE = 1e-2  # of states, which are far from their thresholds and whose smallest eigenvalues are very slow
WIDER = 4  # times the width that suffices for the templates of cells


@dataclass(frozen=True)
class Sample:
    """A choice of executions to learn from: "runs", "states", a .npz file, or executions in memory.

    `runs` selects every step of that many runs, `states` selects that many states, `sample_seed` seeds the sampling;
    "runs:20" and "states:500" are short forms. `labels` are "scaled" or "plain".

    >>> from bitwright import addition, train
    >>> learnt = train(addition(2), tile="all", width=512, executions=Sample("runs", runs=10))
    >>> learnt.weights.origin.executions.examples
    9
    """

    source: str | PathLike[str] | Executions
    runs: int | None = None
    states: int | None = None
    labels: Labels = "scaled"
    sample_seed: int = 0

    def __post_init__(self) -> None:
        source = fspath(self.source) if isinstance(self.source, PathLike) else self.source
        if not isinstance(source, str | Executions):
            raise InputError(f"{_SOURCES}, got a {type(source).__name__}")
        if isinstance(source, str) and (found := re.fullmatch(r"(runs|states):([0-9]{1,9})", source)):
            source = found[1]
            object.__setattr__(self, source, int(found[2]))
        object.__setattr__(self, "source", source)
        path = as_path(source, "an execution file") if isinstance(source, str) else None
        if self.is_given and path is not None and path.suffix.lower() != ".npz":
            raise InputError(f"{_SOURCES}, got '{shorten(str(path))}'")
        for name, value in (("runs", self.runs), ("states", self.states)):
            if value is not None and not 1 <= whole_number(value, name) <= _MOST:
                raise InputError(f"{name} must be between 1 and {_MOST:,}, got {shorten(value)}")
        whole_number(self.sample_seed, "sample_seed", 0, 2**63)
        check_labels(self.labels)
        if self.runs is not None and (self.states is not None or source == "states"):
            raise InputError(
                "runs are every step of that many runs, and states are random states; leave out one of them"
            )
        if self.is_given and (self.runs is not None or self.states is not None or self.sample_seed):
            these = "these executions" if path is None else shorten(str(path))
            raise InputError(f"{these} cannot be sampled; leave out runs, states and {option('sample_seed')}")

    @property
    def is_given(self) -> bool:
        """Whether the states exist already, in a file or in memory."""
        return self.source not in ("runs", "states")


def executions(
    what: Algorithm | Program,
    source: str | PathLike[str] | Executions = "runs",
    *,
    runs: int | None = None,
    states: int | None = None,
    sample_seed: int = 0,
) -> Executions:
    """Returns states of a program, each with its successor, as input for `train` and `infer`.

    `source` is "runs" (states visited by runs on random inputs), "states" (random states), or a .npz file. `runs`
    selects every step of that many runs, `states` that many states.

    >>> from bitwright import addition
    >>> found = executions(addition(4), "states", states=100)
    >>> len(found), found.names[:4]
    (100, ('p[1]', 'p[2]', 'p[3]', 'p[4]'))
    """
    algorithm = as_algorithm(what)
    return executions_for(algorithm, Sample(source, runs, states, sample_seed=sample_seed))


def executions_for(algorithm: Algorithm, wanted: Sample) -> Executions:
    """Returns the requested states and their successors; steps in a file must agree with the program."""
    program, count = algorithm.program, wanted.states or _PER_TEMPLATE * algorithm.program.templates
    if wanted.is_given:
        given = wanted.source if isinstance(wanted.source, Executions) else Executions.load(wanted.source)
        found = _checked(given, program)
    elif wanted.source == "states":
        found = random_executions(program, count, wanted.sample_seed)
    elif wanted.runs is None:
        before = random_states(algorithm, count, wanted.sample_seed)
        found = Executions(before, successors(program, before), tuple(program.layout.names), program.id)
    else:
        found = executions_of_inputs(algorithm, wanted.runs, wanted.sample_seed, _MAX_STEPS)
    return replace(found, lets=lets_of(algorithm))


def _checked(found: Executions, program: Program) -> Executions:
    """Returns executions with their bits in the program's order; raises InputError if they are of another program."""
    own = tuple(program.layout.names)
    known, column = set(own), {name: at for at, name in enumerate(found.names)}
    if sorted(found.names) != sorted(own):
        other = next((name for name in found.names if name not in known), None)
        unlike = f"executions have {other}" if other else f"program has {next(n for n in own if n not in column)}"
        raise InputError(
            f"the executions have {counted(len(found.names), 'bit')}, the program has {len(own):,}; only the {unlike}; "
            "give executions of this program at this size"
        )
    columns = [column[name] for name in own]
    before, after = found.before[:, columns], found.after[:, columns]
    StateSet.of_states(program, before, after)  # rejects states with two successors, and empty executions
    unlike_rules = after != successors(program, before)
    if unlike_rules.any():
        row = int(unlike_rules.any(axis=1).argmax())
        bit = int(unlike_rules[row].argmax())
        raise InputError(
            f"the executions contradict the program: after state {row + 1:,}, {own[bit]} is {int(after[row, bit])}, "
            f"but by the rules it is {int(not after[row, bit])}"
        )
    return Executions(before, after, own, program.id)


def dataset(
    what: Algorithm | Program,
    path: str | PathLike[str],
    *,
    executions: str | Sample | None = None,
    padding: int | None = None,
    progress: Teller | Progress | bool | None = None,
) -> Summary:
    """Writes the training set of a program, or `executions`: states with their successors.

    `padding` is the number of added examples that never match. `executions` come from "runs" on random inputs, from
    random "states", or from a `Sample`, which also sets their number.

    >>> from bitwright import addition
    >>> print(dataset(addition(4), "states.npz", executions="states"))
    wrote states.npz: 320 random states and their successors, 12 bits
    """
    file, tell, algorithm = as_path(path, "the file to write"), teller(progress), as_algorithm(what)
    check_output(file, ".npz", "path")
    program, bits = algorithm.program, counted(algorithm.program.bits, "bit")
    about: dict[str, Any] = {"file": str(file), "name": algorithm.name, "program_id": program.id, "bits": program.bits}
    if executions is not None:
        if padding is not None:
            raise InputError(f"{option('padding')} works only with training sets; leave it out")
        sample = executions if isinstance(executions, Sample) else Sample(executions)
        with tell.working("executions"):
            found = executions_for(algorithm, sample)
            found.save(file)
        source = "file" if sample.is_given else str(sample.source)
        about |= {"states": len(found), "source": source, "runs": sample.runs, "sample_seed": sample.sample_seed}
        of = {"runs": "states of runs", "states": "random states"}.get(source, "states of a file")
        return Summary(f"wrote {file}: {len(found):,} {of} and their successors, {bits}", data=about)
    check_dense(program, padding or 0)
    examples = TrainingSet(program, padding or 0)
    with tell.working("writing"):
        examples.save(file)
    about |= {"examples": examples.examples, "padding": padding or 0, "templates": program.templates}
    return Summary(f"wrote {file}: {counted(examples.examples, 'example')} of {bits}", data=about)


def cell_set(pattern: Pattern, algorithms: Sequence[Algorithm], wanted: Sample, tile: Tile = 1) -> ExecutionSet:
    """Returns the distinct local states of all cells in these executions, as a training set for the pattern."""
    if wanted.is_given and len(algorithms) > 1:
        raise InputError("a file contains executions of a single program; give one program")
    found = [(one.program, executions_for(one, wanted).before) for one in algorithms]
    parts = [part for program, states in found for part in _local_states(pattern, program, states, tile)]
    matched, following = (np.concatenate(each) for each in zip(*parts, strict=True))
    examples = StateSet.of_matches(pattern.program, matched, following, wanted.labels)
    return _with_origin(examples, wanted, sum(len(states) for _, states in found))


def _local_states(
    pattern: Pattern, program: Program, states: BoolArray, tile: Tile
) -> Iterator[tuple[BoolArray, BoolArray]]:
    """Yields, for each kind, the templates of the pattern that its local states match, and the ports that they set."""
    wiring = Wiring(program, pattern, tile)
    for wired, numbers in zip(wiring.kinds, wiring.numbers(states), strict=True):
        matched = pattern.matched(wired.kind, np.unique(numbers))
        following = np.zeros((len(matched), pattern.program.bits), dtype=bool)
        own = pattern.local[wired.kind].truth(matched[:, pattern.templates_of(wired.kind)])
        following[:, pattern.port_bits(wired.kind)] = own
        yield matched, following


def _with_origin(examples: StateSet, wanted: Sample, states: int) -> ExecutionSet:
    if examples.examples < LEAST:
        raise InputError(
            f"{counted(states, 'state')} with {counted(examples.examples, 'different example')} are too few for "
            f"training; give at least {LEAST} states that match different templates"
        )
    source = "file" if wanted.is_given else str(wanted.source)
    seed = None if wanted.is_given else wanted.sample_seed
    return ExecutionSet(
        examples,
        LearntFrom(source, wanted.labels, states, examples.examples, wanted.runs, seed, examples.sha256),
    )


def unseen(executions: ExecutionSet) -> list[int]:
    """Returns the templates that no example matches, whose writes cannot be learnt."""
    return np.flatnonzero(~executions.set.matched.any(axis=0)).tolist()


def unseen_kinds(pattern: Pattern, executions: ExecutionSet) -> list[int]:
    """Returns the kinds of cells that match no template in the data."""
    seen = np.asarray(executions.set.matched.any(axis=0))
    first = pattern.first_template
    return [kind for kind in range(len(pattern.kinds)) if not seen[first[kind] : first[kind + 1]].any()]
