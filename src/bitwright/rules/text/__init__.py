"""Parses .bw rule text, reports all its problems, and reads it from files."""

from __future__ import annotations

import re
from collections.abc import Mapping
from os.path import isfile  # unlike Path.is_file, accepts names of any length
from pathlib import Path
from typing import TYPE_CHECKING

from bitwright.common.bits import shorten
from bitwright.common.errors import InputError, Problem, ProgramError, printable, problems_of
from bitwright.common.files.storage import as_path, open_file
from bitwright.common.scanner import unix_lines
from bitwright.rules.algorithm import Algorithm
from bitwright.rules.layout import Layout
from bitwright.rules.text.expand import MAX_WORK
from bitwright.rules.text.rule_text import RuleText

if TYPE_CHECKING:
    from bitwright.rules.graph.node_program import NodeProgram

_FILE = re.compile(r"[^\n;#]*\.(bw|sbn|sq|dec|py)", re.IGNORECASE)  # no statement ends like this
__all__ = ["RuleText", "check_text", "parse", "parse_any", "parse_blocks", "parse_node_program"]


def parse(
    text: str,
    name: str = "program",
    lets: Mapping[str, int] | None = None,
    work: int = MAX_WORK,
    needs_rules: bool = True,
) -> Algorithm:
    """Parses the rule text of an algorithm; raises ProgramError with every problem, by line and column.

    `lets` overrides the values of `let` lines; `work` limits the rows of the expansion. With `needs_rules`, a text
    without rules is an error.

    >>> text = '''
    ... bits p[2]
    ... block p[i] for i in 1..2
    ... when p[1]=1 write p[2]
    ... '''
    >>> parse(text)
    Algorithm 'program': 2 bits, 2 blocks, 1 template
    >>> parse("let l = 2\\n" + text.replace("2", "l"), lets={"l": 5})
    Algorithm 'program': 5 bits, 5 blocks, 1 template
    """
    with problems_of(name):
        return RuleText.of(check_text(text)).at(lets, name, work, needs_rules)


def parse_node_program(text: str, name: str = "program", lets: Mapping[str, int] | None = None) -> NodeProgram:
    """Parses the rule text of a node program; raises ProgramError with every problem, by line and column.

    >>> lines = ["bits even odd", "block even odd", "when even=1 write even far.odd", "when odd=1 write odd far.even"]
    >>> lines += ["when even=1 odd=1 write even odd far.even far.odd", "input source = even"]
    >>> parse_node_program(chr(10).join(lines), "walks")
    NodeProgram 'walks': 2 bits of nodes, 3 templates
    """
    from bitwright.rules.graph.node_program import NodeProgram

    with problems_of(name):
        return NodeProgram(name, RuleText.of(check_text(text)), dict(lets or {}))


def parse_any(text: str, name: str = "program", lets: Mapping[str, int] | None = None) -> Algorithm | NodeProgram:
    """Parses an algorithm, or a node program if the text uses statements for graphs."""
    with problems_of(name):
        return RuleText.of(check_text(text)).program(lets, name)


def parse_blocks(layout: Layout, text: str) -> list[list[int]]:
    """Parses blocks in the form of `block` lines, separated by `;`, into lists of bits.

    >>> parse_blocks(Layout.of([("p", (2,)), ("c", ())]), "p[i] for i in 1..2; c")
    [[0], [1], [2]]
    """
    lines = [f"bits {field}" for field in layout.fields]
    lines += [f"block {part.strip()}" for part in text.replace("\n", ";").split(";") if part.strip()]
    program = parse("\n".join(lines), "blocks", needs_rules=False).program
    return [program.block_members(block).tolist() for block in range(program.blocks)]


def check_text(text: object) -> str:
    """Returns the text unchanged; raises InputError unless it is a str, and ProgramError for a file name."""
    if not isinstance(text, str):
        got = "bytes; decode them first" if isinstance(text, bytes) else type(text).__name__
        raise InputError(f"rule text must be a str, got {got}")
    if _FILE.fullmatch(text.strip()):
        name = shorten(text.strip())
        message = f"expected rule text, got a file name; read it with open('{name}')"
        raise ProgramError([Problem(1, 1, message)])
    return text


# Files.


MAX_BYTES = 64 << 20
_OTHERS = {  # hints for other files, by suffix
    ".safetensors": "a network; use `bitwright show` for networks",
    ".json": "JSON; check a certificate with `bitwright certify --check`",
    ".npz": "an archive of arrays; use executions with `bitwright infer` or `bitwright train --from`",
}


def load(path: str | Path, lets: Mapping[str, int] | None = None) -> Algorithm:
    """Loads an algorithm from a .bw file; raises InputError for an invalid file, ProgramError for its contents.

    `lets` overrides the numbers in the file.

    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder) / "double.bw"
    ...     _ = path.write_text("bits x[2]; block x[*]; when x[1]=1 write x[2]; input x".replace("; ", chr(10)))
    ...     load(path)
    Algorithm 'double': 2 bits, 1 block, 1 template
    """
    path = rule_path(path)
    with problems_of(path):
        return parse(read_text(path), printable(path.stem), lets)


def load_any(path: str | Path, lets: Mapping[str, int] | None = None) -> Algorithm | NodeProgram:
    """Loads an algorithm or a node program from a .bw file."""
    path = rule_path(path)
    with problems_of(path):
        return parse_any(read_text(path), printable(path.stem), lets)


def rule_path(path: object) -> Path:
    """Returns the path of a rule file; raises InputError for values that are not paths."""
    return as_path(path, "a rule file")


def read_text(path: Path, suffix: str = ".bw", what: str = "a program") -> str:
    """Reads a source file; raises InputError if it cannot be read. `what` describes the contents in messages."""
    shown = printable(str(path))
    if (other := _OTHERS.get(path.suffix.lower())) and suffix != path.suffix.lower() and isfile(path):
        raise InputError(f"{shown} is not {suffix} text, but {other}")
    try:
        if path.is_dir():
            raise InputError(f"{shown} is a folder; give a {suffix} file")
        with open_file(path) as file:
            data = file.read(MAX_BYTES + 1)
    except FileNotFoundError:
        hint = "; `bitwright examples` copies the examples here" if path.parts[:1] == ("examples",) else ""
        raise InputError(f"there is no file {shown}{hint}") from None
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or printable(str(error))
        raise InputError(f"cannot read {shown}: {reason}") from None
    if len(data) > MAX_BYTES:
        raise InputError(f"{shown} is larger than {MAX_BYTES >> 20} MiB, the limit for a {suffix} file")
    if not data.strip():
        raise InputError(f"{shown} is empty; write {what} into it")
    if b"\0" in data:
        raise InputError(f"{shown} is a binary file, not {suffix} text")
    try:
        return unix_lines(data.decode("utf-8").removeprefix("\ufeff"))
    except UnicodeDecodeError as error:
        raise InputError(f"{shown} is not UTF-8 text (byte {error.start:,} is 0x{data[error.start]:02x})") from None
