"""Rule text as Python programs read it: what it can hardly mean becomes a warning, since nobody runs `check` first."""

from __future__ import annotations

from collections.abc import Mapping
from os import PathLike
from warnings import warn

from bitwright.errors import BitwrightWarning, Problem, counted, printable, problems_of
from bitwright.program import text as rule_text
from bitwright.program.algorithm import Algorithm
from bitwright.program.text import files
from bitwright.program.text.doubts import doubts

MOST = 5  # warnings about one text
QUICK = 100_000  # templates up to which looking for doubts takes about as long as reading


def parse(text: str, name: str = "program", lets: Mapping[str, int] | None = None) -> Algorithm:
    """The algorithm that a rule text describes; raises ProgramError with every problem, by line and column.

    `lets` are values in place of those that the text gives to its numbers. What the text can hardly mean, such as a
    rule that never matches, is a `BitwrightWarning`; `warnings_of` lists all.

    >>> text = '''
    ... bits p[2]
    ... block p[i] for i in 1..2
    ... when p[1]=1 write p[2]
    ... input p
    ... '''
    >>> parse(text)
    Algorithm 'program': 2 bits, 2 blocks, 1 template
    >>> parse("let l = 2\\n" + text.replace("2", "l"), lets={"l": 5})
    Algorithm 'program': 5 bits, 5 blocks, 1 template
    """
    algorithm = rule_text.parse(text, name, lets)
    warn_about(text, algorithm, name)
    return algorithm


def load(path: str | PathLike[str], lets: Mapping[str, int] | None = None) -> Algorithm:
    """The algorithm in a .bw file; raises InputError for the file, ProgramError for what it says.

    `lets` are values in place of those that the file gives to its numbers. What it can hardly mean is a warning, as in
    `parse`.

    >>> from pathlib import Path
    >>> _ = Path("double.bw").write_text("bits x[2]; block x[*]; when x[1]=1 write x[2]; input x".replace("; ", "\\n"))
    >>> load("double.bw")
    Algorithm 'double': 2 bits, 1 block, 1 template
    """
    path = files.rule_path(path)
    with problems_of(path):
        text = files.read_text(path)
        algorithm = rule_text.parse(text, printable(path.stem), lets)
    warn_about(text, algorithm, str(path))
    return algorithm


def warnings_of(text: str, lets: Mapping[str, int] | None = None) -> list[Problem]:
    """What a rule text can hardly mean, though it is well formed, each with line and column; no problems are listed.

    Such are rules that never match, outputs that nothing writes, and inputs that nothing reads. `check` has them of
    files of all sorts.

    >>> text = "bits x y; block x; block y; when y=1 write x; when x=1 write x; input x"
    >>> for warning in warnings_of(text.replace("; ", chr(10))):
    ...     print(warning)
    4:1: this rule never matches: y can never be on, since no input, no start and no rule that can match sets it
    """
    return doubts(text, rule_text.parse(text, lets=lets))


def warn_about(text: str, algorithm: Algorithm, name: str, above: int = 3) -> None:
    """Warns of the first of them; whoever called so many functions `above` is shown as the place."""
    if algorithm.program.templates > QUICK:
        return
    found = doubts(text, algorithm)
    for doubt in found[:MOST]:
        where = f"{name}:{doubt.line}:{doubt.column}" if doubt.line else name
        warn(f"{where}: {doubt.message}", BitwrightWarning, stacklevel=above)
    if len(found) > MOST:
        more = counted(len(found) - MOST, "more warning")
        warn(f"{name}: and {more}; warnings_of(text) lists all", BitwrightWarning, stacklevel=above)
