"""The counts of a validation, and their report as text and as JSON.

Tallies of parts add up to the tally of the whole.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any

from bitwright.common.errors import counted, option
from bitwright.common.files.documents import Check, check_fields, each, optional, real, table, text, whole
from bitwright.rules.ensures import joined
from bitwright.runs.run import program_id
from bitwright.theory.decisions import Triple
from bitwright.validation.oracles import Ensured

if TYPE_CHECKING:
    from bitwright.theory.decisions import Triple
    from bitwright.validation.validate import Validation

MOST_FAILURES = 10  # kept in a tally, smallest index first; all are counted


@dataclass(frozen=True)
class Failure:
    """An input whose run ended with outputs that contradict the oracle or an `ensure` line."""

    index: int
    inputs: dict[str, int]
    outputs: dict[str, int]
    expected: dict[str, int] | None  # None: it should not have ended; empty if the oracle does not know
    line: str | None = None  # the first `ensure` line that is false


@dataclass(frozen=True)
class BrokenBound:
    """An input whose run met a state with more matches than declared."""

    index: int
    inputs: dict[str, int]


@dataclass(frozen=True)
class Tally:
    """Counts of inputs, runs, and the states they passed through."""

    inputs: int = 0  # inputs that were run
    outside: int = 0  # inputs skipped because a `where` line is false
    wrong: int = 0  # runs whose outputs contradict the oracle or an `ensure` line
    unfinished: int = 0  # runs cut off by the step limit; their outputs are unknown
    endless: int = 0  # those that the oracle expects never to end
    unjudged: int = 0  # runs that ended, but whose outputs the oracle cannot judge
    failures: tuple[Failure, ...] = ()  # by index
    evaluations: int = 0  # steps taken, from every state of every run
    steps: int = 0  # of the longest run
    wrong_steps: int = 0  # evaluations whose result differs from the rules
    matches: frozenset[int] = frozenset()  # every n that occurred
    beyond: int = 0  # runs that met more matches than declared
    first_beyond: BrokenBound | None = None  # the run among them with the smallest index
    triples: frozenset[Triple] = frozenset()
    margin: float | None = None  # the smallest measured by an engine

    def __add__(self, other: Tally) -> Tally:
        failures = {failure.index: failure for failure in (*self.failures, *other.failures)}
        bounds = [first_beyond for first_beyond in (self.first_beyond, other.first_beyond) if first_beyond is not None]
        margins = [margin for margin in (self.margin, other.margin) if margin is not None]
        return Tally(
            **{name: getattr(self, name) + getattr(other, name) for name in _COUNTS},
            failures=tuple(failures[index] for index in sorted(failures)[:MOST_FAILURES]),
            steps=max(self.steps, other.steps),
            matches=self.matches | other.matches,
            first_beyond=min(bounds, key=lambda first_beyond: first_beyond.index, default=None),
            triples=self.triples | other.triples,
            margin=min(margins, default=None),
        )

    @property
    def undecided(self) -> int:
        """Number of runs not known to be right or wrong."""
        return self.unfinished - self.endless + self.unjudged

    @property
    def n_max(self) -> int:
        return max(self.matches, default=0)

    def to_json(self) -> dict[str, Any]:
        """As plain lists and numbers; values of any length are text in base 16."""
        return {
            **vars(self),
            "failures": [_to_text(failure) for failure in self.failures],
            "matches": sorted(self.matches),
            "first_beyond": None if self.first_beyond is None else _to_text(self.first_beyond),
            "triples": sorted(self.triples),
        }

    @classmethod
    def from_json(cls, document: dict[str, Any], source: object) -> Tally:
        """The inverse of `to_json`; raises InputError if the document is not a tally."""
        what = "a validation file"
        check_fields(document, source, what, _FIELDS)
        for failure in document["failures"]:
            check_fields(failure, source, what, _FAILURE)
        if document["first_beyond"] is not None:
            check_fields(document["first_beyond"], source, what, _CROWD)
        return cls(
            **{
                **document,
                "failures": tuple(Failure(**_from_text(failure)) for failure in document["failures"]),
                "matches": frozenset(document["matches"]),
                "first_beyond": None
                if document["first_beyond"] is None
                else BrokenBound(**_from_text(document["first_beyond"])),
                "triples": frozenset((n, c, m) for n, c, m in document["triples"]),
                "margin": None if document["margin"] is None else float(document["margin"]),
            }
        )


def _to_text(case: Failure | BrokenBound) -> dict[str, Any]:
    """Numbers are written in base 16, which Python converts at any length."""
    return {name: value if name == "line" else _each_number(hex, value) for name, value in vars(case).items()}


def _from_text(document: dict[str, Any]) -> dict[str, Any]:
    line = {"line": document["line"]} if "line" in document else {}
    numbers = {name: value for name, value in document.items() if name != "line"}
    return {name: _each_number(lambda text: int(text, 16), value) for name, value in numbers.items()} | line


def _each_number(convert: Callable[[Any], Any], value: Any) -> Any:
    """A number, a table of numbers, or None, converted."""
    if isinstance(value, dict):
        return {name: convert(number) for name, number in value.items()}
    return None if value is None else convert(value)


def _number(value: object) -> str | None:
    return None if isinstance(value, str) and re.fullmatch("-?0x[0-9a-f]+", value) else "a number in base 16"


_COUNTS = ("inputs", "outside", "wrong", "unfinished", "endless", "unjudged", "evaluations", "wrong_steps", "beyond")
_COUNT = whole(0, 2**200)
_VALUES, ANY_TABLE = table(_number), table(lambda _: None)
_CROWD: dict[str, Check] = {"index": _number, "inputs": _VALUES}
_FAILURE: dict[str, Check] = {**_CROWD, "outputs": _VALUES, "expected": optional(_VALUES), "line": optional(text())}
_FIELDS: dict[str, Check] = {
    **dict.fromkeys((*_COUNTS, "steps"), _COUNT),
    "failures": each(ANY_TABLE, most=MOST_FAILURES),
    "matches": each(_COUNT),
    "first_beyond": optional(ANY_TABLE),
    "triples": each(each(_COUNT, least=3, most=3)),
    "margin": optional(real(-1e300, 1e300)),
}
assert set(_FIELDS) == {field.name for field in fields(Tally)}


_SHOWN = 3  # failures in the report; JSON has all recorded ones


def document(done: Validation) -> dict[str, Any]:
    """All numbers of a validation, ready for JSON."""
    task, tally = done.task, done.tally
    engine = task.engine
    return {
        "name": task.algorithm.name,
        "program_id": program_id(task.algorithm.program),
        "engine": engine.name,
        "rounding": engine.rounding,
        "examples": task.examples,
        "networks": engine.networks,
        "seed": engine.seed,
        "network_digests": list(engine.digests),
        **({} if engine.cell_facts is None else {"cells": dict(engine.cell_facts)}),
        "oracle": oracle_name(done),
        "verdict": done.verdict,
        "exact": done.exact,
        "inputs": tally.inputs,
        "outside": tally.outside,
        "random": task.inputs.random is not None,
        "sample_seed": None if task.inputs.random is None else task.inputs.seed,
        "step_limit": task.limit,
        "steps": tally.steps,
        "evaluations": tally.evaluations,
        "evaluations_per_second": round(done.rate),
        "wrong": tally.wrong,
        "wrong_steps": tally.wrong_steps,
        "unfinished": tally.unfinished,
        "endless": tally.endless,
        "unjudged": tally.unjudged,
        "undecided": tally.undecided,
        "failures": [
            {"inputs": failure.inputs, "outputs": failure.outputs, "expected": failure.expected, "line": failure.line}
            for failure in tally.failures
        ],
        "n_max": tally.n_max,
        "declared": _declared(done),
        "margin": done.margin,
        "margin_at": done.worst,
        "triples": sorted(tally.triples),
        "misjudged": list(done.misjudged),
        "seconds": round(done.seconds, 3),
    }


def report(done: Validation, again: Callable[[Failure], str] | None = None) -> str:
    """The text report; `again` returns the command that reproduces a failure."""
    task, tally = done.task, done.tally
    name = task.algorithm.name
    about = f"{name} ({task.algorithm.description})" if task.algorithm.description else name
    engine = task.engine
    rounded = "" if engine.rounding is None else f", {engine.rounding} rounding, K = {task.examples:,}"
    scope = "exhaustive" if task.inputs.random is None else f"random, sample seed {task.inputs.seed}"
    if tally.outside:
        scope += f" with {joined(task.algorithm.conditions)}; {tally.outside:,} others were not run"
    lines = [
        f"{done.verdict.upper()}: {about}, engine {engine.name}{rounded}",
        f"  inputs    {tally.inputs:,}, {scope}; {tally.wrong:,} wrong by {_judges(done)}",
        f"  steps     at most {tally.steps:,} in a run; {tally.evaluations:,} evaluations, "
        f"{tally.wrong_steps:,} unlike the rules",
        f"  matches   n = {min(tally.matches, default=0):,} to {tally.n_max:,}; "
        f"{len(tally.triples):,} different (n, writers, matches)",
        *_networks(done),
        *_undecided(done),
    ]
    if done.margin is not None:
        where = "" if done.worst is None else f" at {_situation(done.worst)}"
        lines.append(f"  margin    {done.margin:.6g}{where}")
    if done.misjudged:
        lines.append(f"  misjudged {len(done.misjudged):,} of these, the first at {_situation(done.misjudged[0])}")
    if done.bound_broken:
        what, therefore = broken_bound(done)
        lines += [f"  declared  {what}", f"            {therefore}"]
    shown = tally.failures[:_SHOWN]
    for failure in shown:
        right = f"but ensure {failure.line}" if failure.line else "should not end"
        if failure.expected and failure.expected != failure.outputs:
            right = f"should give {_values(failure.expected)}"
        lines.append(f"  wrong     {_values(failure.inputs) or name} gives {_values(failure.outputs)}, {right}")
        lines += [] if again is None else [f"            {again(failure)}"]
    if tally.wrong > len(shown) > 0:
        more = len(tally.failures) > len(shown) and again is not None
        listed = f"; {option('json')} lists {len(tally.failures)}" if more else ""
        lines.append(f"            and {tally.wrong - len(shown):,} more{listed}")
    return "\n".join(lines)


def oracle_name(done: Validation) -> str:
    """The name of the source of the expected outputs."""
    return "the rules" if done.task.oracle is None else done.task.oracle.name


def _judges(done: Validation) -> str:
    """The oracle, and the `ensure` lines, which are evaluated besides any oracle."""
    name = oracle_name(done)
    return f"{name} or the ensure lines" if done.task.algorithm.ensures and name != Ensured.name else name


def broken_bound(done: Validation) -> tuple[str, str]:
    """The two lines about runs with more matches than declared, and the consequence for certificates."""
    tally, declared, n = done.tally, done.task.algorithm.matches, option("n")
    beyond = tally.first_beyond
    first = f", the first {_values(beyond.inputs)}" if beyond and beyond.inputs else ""
    doubt = f" (wrong steps may be the cause; try {option('engine')} templates)" if tally.wrong_steps else ""
    return (
        f"matches {declared} is violated: n = {tally.n_max:,} occurred{doubt}; {_runs(tally.beyond)} met more{first}",
        f"certificates that rely on {n} declared are void; use {n} reachable or {n} blocks",
    )


def _declared(done: Validation) -> dict[str, Any] | None:
    """The declared bound on n, and whether it holds."""
    tally, declared = done.tally, done.task.algorithm.matches
    if declared is None:
        return None
    first = tally.first_beyond.inputs if tally.first_beyond else None
    return {"matches": declared, "broken": done.bound_broken, "runs_beyond": tally.beyond, "first": first}


def _networks(done: Validation) -> list[str]:
    digests = done.task.engine.digests
    if not digests:
        return []
    more = f" and {len(digests) - 1:,} more, see {option('json')}" if len(digests) > 1 else ""
    return [f"  networks  {len(digests):,}, as read at the start: sha256 {digests[0][:16]}...{more}"]


def _undecided(done: Validation) -> list[str]:
    """Runs not compared with the oracle, or only with its statement that they never end."""
    task, tally, lines = done.task, done.tally, []
    cut = tally.unfinished - tally.endless
    limit = counted(task.limit, "step")
    if cut:
        declared = task.limit == task.algorithm.steps
        advice = "its 'steps' line allows no more" if declared else f"raise {option('steps')}"
        lines.append(f"  undecided {_runs(cut)} did not end within {limit}, so their outputs are unknown; {advice}")
    if tally.unjudged:
        lines.append(f"  undecided {_runs(tally.unjudged)} ended with outputs that {oracle_name(done)} cannot judge")
    if tally.endless:
        lines.append(f"  endless   {_runs(tally.endless)} did not end within {limit}, as the oracle expects")
    return lines


def _runs(count: int) -> str:
    return counted(count, "run")


def _situation(triple: Triple) -> str:
    n, writers, matching = triple
    return f"n = {n:,} where {matching:,} of {counted(writers, 'writer')} match{'es' * (matching == 1)}"


def _values(values: Mapping[str, int]) -> str:
    return " ".join(f"{name}={value}" for name, value in values.items())
