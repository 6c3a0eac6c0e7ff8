"""Reports the problems and warnings of a source file: rules, SBN, SUBLEQ, an image, or a transformer task."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from os import PathLike, fspath
from pathlib import Path
from typing import Any

from bitwright.common.errors import Problem, ProgramError, counted, printable
from bitwright.common.files.storage import as_path
from bitwright.rules import Algorithm, NodeProgram
from bitwright.rules.text import parse_any, read_text
from bitwright.verbs.open import package_of
from bitwright.verbs.reports import Summary

Facts = dict[str, Any]


@dataclass(frozen=True, repr=False, kw_only=True)
class Checked(Summary):
    """The problems and warnings of a file. A warning is about a rule that is valid but probably a mistake.

    >>> from pathlib import Path
    >>> from bitwright import check
    >>> _ = Path("or.bw").write_text("bits x y; block x; when x=1 write y; input x".replace("; ", chr(10)))
    >>> check("or.bw").problems
    (Problem(line=1, column=8, message="y is not in any block; add a 'block' for it", place=''),)
    """

    problems: tuple[Problem, ...] = ()
    warnings: tuple[Problem, ...] = ()

    @property
    def ok(self) -> bool:
        """Whether there are no problems."""
        return not self.problems

    def report(self) -> list[str]:
        """Returns the problems, the headline, and the meaning of a task."""
        return [*(f"{self.data['file']}:{problem}" for problem in self.problems), self.sentence, *self.lines]


def check(path: str | PathLike[str], lets: Mapping[str, int] | None = None) -> Checked:
    """Finds all problems and warnings of a program; for a transformer task (.task), the first problem or its meaning.

    Raises InputError if a file cannot be read.

    Args:
        path: a .bw, .sbn, .sq, .dec or .task file, or rule text of several lines.
        lets: values that replace those in the `let` lines.

    >>> from pathlib import Path
    >>> _ = Path("one.bw").write_text("bits x y; block x y; when x=1 y=1 write y; input x".replace("; ", chr(10)))
    >>> found = check("one.bw")
    >>> found.ok, found.warnings[0].line
    (True, 3)
    >>> check("bits x\\nblock x\\nwhen x=1 write y").problems[0].line
    3
    """
    text = path if isinstance(path, str) and "\n" in path else None
    file = "program" if text is not None else fspath(as_path(path, "a program"))
    try:
        facts = _read(Path(file), lets) if text is None else _rules(text, "program", lets)
        problems: tuple[Problem, ...] = ()
    except ProgramError as error:
        facts, problems = {}, error.problems
    warnings = tuple(facts.get("warnings", ()))
    meaning: list[list[str]] = facts.get("meaning", [])
    width = max((len(name) for name, _ in meaning), default=0)
    data = {"file": file, "name": Path(file).stem, "program_id": facts.get("program_id"), "ok": not problems}
    data |= {"problems": _located(problems), "warnings": _located(warnings)} | ({"meaning": meaning} if meaning else {})
    doubtful = f", {counted(len(warnings), 'warning')}" if warnings else ""
    return Checked(
        headline=f"{counted(len(problems), 'problem')} in {file}"
        if problems
        else f"{file}: no problems{doubtful} ({facts['size']})",
        lines=[f"  {name:{width}}  {text}" for name, text in meaning],
        data=data,
        good=not problems,
        problems=problems,
        warnings=warnings,
    )


def first_warning(path: str, algorithm: Algorithm) -> str | None:
    """Returns the first warning about a rule file, as `check` prints it, or None."""
    from bitwright.rules.text.lint import QUICK, lint

    if Path(path).suffix.lower() != ".bw" or algorithm.program.templates > QUICK:
        return None
    if not (found := lint(read_text(Path(path)), algorithm)):
        return None
    first = found[0]
    more = "" if len(found) == 1 else f" (and {counted(len(found) - 1, 'more warning')}: bitwright check {path})"
    return f"{path}:{first.line}:{first.column}: warning: {first.message}{more}"


def _read(path: Path, lets: Mapping[str, int] | None) -> Facts:
    """Returns the size of the program in a file, its warnings and its id, or the meaning of a task."""
    if path.suffix.lower() == ".task":
        from bitwright.transformers.layout import count_inputs, describe_task
        from bitwright.transformers.task_text import TaskError, load_task

        try:
            task = load_task(path)
        except TaskError as error:
            raise ProgramError([error.problem]) from None
        size = f"{task.columns.statement}, for {count_inputs(task.inputs)} inputs"
        return {"size": size, "meaning": [[*row] for row in describe_task(task)]}
    if (package := package_of(str(path))) is not None:
        size, warnings = package.check_program(path)
        return {"size": size, "warnings": [Problem(0, 0, warning) for warning in warnings]}
    return _rules(read_text(path), printable(path.stem), lets)


def _rules(text: str, name: str, lets: Mapping[str, int] | None) -> Facts:
    from bitwright.rules.text.lint import lint

    found = parse_any(text, name, lets)
    if isinstance(found, NodeProgram):
        kinds = counted(len(found.kinds), "kind")
        return {"size": f"a node program with {found.sizes}; {kinds} of cells"}
    return {"size": found.program.sizes, "warnings": lint(text, found), "program_id": found.program.id}


def _located(problems: Iterable[Problem]) -> list[dict[str, object]]:
    return [{"line": p.line, "column": p.column, "message": p.message} for p in problems]
