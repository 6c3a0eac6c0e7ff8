"""Rule text as Python programs read it: probable mistakes become warnings, since few run `check` first."""

from __future__ import annotations

from typing import TYPE_CHECKING
from warnings import warn

from bitwright.errors import BitwrightWarning, counted
from bitwright.program.algorithm import Algorithm
from bitwright.program.text import parse_any
from bitwright.program.text.doubts import doubts

if TYPE_CHECKING:
    from bitwright.program import NodeProgram

MOST = 5  # warnings about one text
QUICK = 100_000  # templates up to which looking for doubts takes about as long as reading


def parse(text: str, name: str = "program", **lets: int) -> Algorithm | NodeProgram:
    """The program that a rule text describes; raises ProgramError with every problem, by line and column.

    Numbers by name are values in place of those of the `let` lines, such as l=1000. A text that uses ports or `far` is
    a NodeProgram, which `run` takes with a graph. A probable mistake, such as a rule that never matches, is a
    `BitwrightWarning`; `check` lists all.

    >>> text = '''
    ... bits p[2]
    ... block p[i] for i in 1..2
    ... when p[1]=1 write p[2]
    ... input p
    ... '''
    >>> parse(text)
    Algorithm 'program': 2 bits, 2 blocks, 1 template
    >>> parse("let l = 2\\n" + text.replace("2", "l"), l=5)
    Algorithm 'program': 5 bits, 5 blocks, 1 template
    >>> parse("bits x; block x; when x=1 write x far.x; input source = x".replace("; ", chr(10)), "flood")
    NodeProgram 'flood': 1 bit of nodes, 1 template
    """
    found = parse_any(text, name, lets)
    if isinstance(found, Algorithm):
        warn_about(text, found, name)
    return found


def warn_about(text: str, algorithm: Algorithm, name: str, above: int = 3) -> None:
    """Issues the first few warnings; their place is the caller that many frames `above`."""
    if algorithm.program.templates > QUICK:
        return
    found = doubts(text, algorithm)
    for doubt in found[:MOST]:
        where = f"{name}:{doubt.line}:{doubt.column}" if doubt.line else name
        warn(f"{where}: {doubt.message}", BitwrightWarning, stacklevel=above)
    if len(found) > MOST:
        more = counted(len(found) - MOST, "more warning")
        warn(f"{name}: and {more}; check lists all", BitwrightWarning, stacklevel=above)
