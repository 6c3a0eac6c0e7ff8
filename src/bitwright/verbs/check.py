"""Every problem and every warning of a source file: rules, SBN, SUBLEQ or an image."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from os import PathLike, fspath
from pathlib import Path
from typing import Any

from bitwright.common.errors import Problem, ProgramError, counted, printable, short_repr
from bitwright.common.files.storage import as_path
from bitwright.rules import Algorithm, NodeProgram
from bitwright.rules.text import parse_any
from bitwright.rules.text.files import read_text
from bitwright.verbs.open import package_of


@dataclass(frozen=True)
class Checked:
    """The problems and warnings of a file. Warnings are about rules that are valid but hardly intended.

    >>> from pathlib import Path
    >>> from bitwright import check
    >>> _ = Path("or.bw").write_text("bits x y; block x; when x=1 write y; input x".replace("; ", chr(10)))
    >>> check("or.bw").problems
    (Problem(line=1, column=8, message="y is in no block; add a 'block' for it", place=''),)
    """

    summary: str  # its size; empty where there are problems
    problems: tuple[Problem, ...] = ()
    warnings: tuple[Problem, ...] = ()
    program_id: str | None = None
    file: str = ""
    meaning: tuple[tuple[str, str], ...] = ()  # of a task of a transformer: what it says, by name

    @property
    def sentence(self) -> str:
        """How many problems and warnings there are."""
        if self.problems:
            return f"{counted(len(self.problems), 'problem')} in {self.file}"
        doubtful = f", {counted(len(self.warnings), 'warning')}" if self.warnings else ""
        return f"{self.file}: no problems{doubtful} ({self.summary})"

    def report(self) -> str:
        """The sentence, and what a task means."""
        width = max((len(name) for name, _ in self.meaning), default=0)
        return "\n".join([self.sentence, *(f"  {name:{width}}  {text}" for name, text in self.meaning)])

    __repr__ = short_repr

    def __str__(self) -> str:
        return "\n".join([*(f"{self.file}:{problem}" for problem in self.problems), self.report()])

    def to_dict(self) -> dict[str, Any]:
        """Everything, as `bitwright check --json` prints it."""
        return {
            "file": self.file,
            "name": Path(self.file).stem,
            "program_id": self.program_id,
            "ok": self.ok,
            "problems": _located(self.problems),
            "warnings": _located(self.warnings),
            **({"meaning": [[*row] for row in self.meaning]} if self.meaning else {}),
        }

    def __bool__(self) -> bool:
        return self.ok

    @property
    def ok(self) -> bool:
        """Whether there are no problems."""
        return not self.problems


def check(path: str | PathLike[str], lets: Mapping[str, int] | None = None) -> Checked:
    """All problems and warnings of a .bw, .sbn, .sq or .dec file, or of rule text of several lines.

    Of a task of a transformer (.task), the first problem, or what it means.

    Raises InputError if a file cannot be read.

    >>> from pathlib import Path
    >>> _ = Path("one.bw").write_text("bits x y; block x y; when x=1 y=1 write y; input x".replace("; ", chr(10)))
    >>> found = check("one.bw")
    >>> found.ok, found.warnings[0].line
    (True, 3)
    >>> check("bits x\\nblock x\\nwhen x=1 write y").problems[0].line
    3
    """
    if isinstance(path, str) and "\n" in path:
        try:
            return replace(_rules(path, "program", lets), file="program")
        except ProgramError as error:
            return Checked("", error.problems, file="program")
    file = as_path(path, "a program")
    try:
        found = _read(file, lets)
    except ProgramError as error:
        found = Checked("", error.problems)
    return replace(found, file=fspath(path))


def first_warning(path: str, algorithm: Algorithm) -> str | None:
    """The first warning about a rule file, as `check` prints it; None without one."""
    from bitwright.rules.text.lint import QUICK, lint

    if Path(path).suffix.lower() != ".bw" or algorithm.program.templates > QUICK:
        return None
    if not (found := lint(read_text(Path(path)), algorithm)):
        return None
    first = found[0]
    more = "" if len(found) == 1 else f" (and {counted(len(found) - 1, 'more warning')}: bitwright check {path})"
    return f"{path}:{first.line}:{first.column}: warning: {first.message}{more}"


def _read(path: Path, lets: Mapping[str, int] | None) -> Checked:
    if path.suffix.lower() == ".task":
        return _task(path)
    if (package := package_of(str(path))) is not None:
        size, warnings = package.check_program(path)
        return Checked(size, warnings=tuple(Problem(0, 0, warning) for warning in warnings))
    return _rules(read_text(path), printable(path.stem), lets)


def _task(path: Path) -> Checked:
    from bitwright.transformers.report import count_inputs, describe_task
    from bitwright.transformers.task_text import TaskError, load_task

    try:
        task = load_task(path)
    except TaskError as error:
        raise ProgramError([error.problem]) from None
    what = f"{task.columns.statement}, for {count_inputs(task.inputs)} inputs"
    return Checked(what, meaning=tuple(describe_task(task)))


def _rules(text: str, name: str, lets: Mapping[str, int] | None) -> Checked:
    from bitwright.rules.text.lint import lint, lint_nodes

    algorithm = parse_any(text, name, lets)
    if isinstance(algorithm, NodeProgram):
        kinds = counted(len(algorithm.kinds), "kind")
        return Checked(
            f"a node program with {algorithm.sizes}; {kinds} of cells", warnings=tuple(lint_nodes(text, algorithm))
        )
    program = algorithm.program
    return Checked(program.sizes, warnings=tuple(lint(text, algorithm)), program_id=program.id)


def _located(problems: Iterable[Problem]) -> list[dict[str, object]]:
    return [{"line": p.line, "column": p.column, "message": p.message} for p in problems]
