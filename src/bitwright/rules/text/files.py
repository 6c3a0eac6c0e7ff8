"""Rule files: reading any file gives an algorithm or one clear error."""

from __future__ import annotations

from collections.abc import Mapping
from os.path import isfile  # unlike Path.is_file it accepts names of any length
from pathlib import Path
from typing import TYPE_CHECKING

from bitwright.common.errors import InputError, printable, problems_of
from bitwright.common.files.storage import as_path, open_file
from bitwright.common.scanner import unix_lines
from bitwright.rules.algorithm import Algorithm
from bitwright.rules.text import parse, parse_any

if TYPE_CHECKING:
    from bitwright.rules.graph.node_program import NodeProgram

MAX_BYTES = 64 << 20
_OTHERS = {  # hints for other files, by suffix
    ".safetensors": "a network: give a program here; bitwright show describes networks",
    ".json": "perhaps a certificate, which bitwright certify --check takes",
    ".npz": "an archive of arrays; executions are read by bitwright infer, and by train --from",
}


def load(path: str | Path, lets: Mapping[str, int] | None = None) -> Algorithm:
    """Loads the algorithm in a .bw file; raises InputError for the file, ProgramError for its contents.

    `lets` override the numbers of the file.

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
    """The algorithm or node program in a .bw file."""
    path = rule_path(path)
    with problems_of(path):
        return parse_any(read_text(path), printable(path.stem), lets)


def rule_path(path: object) -> Path:
    """The path of a rule file; raises InputError for values that are not paths."""
    return as_path(path, "a rule file")


def read_text(path: Path, suffix: str = ".bw", what: str = "a program") -> str:
    """The text of a source file; raises InputError if it cannot be read. `what` names its contents in messages."""
    shown = printable(str(path))
    if (other := _OTHERS.get(path.suffix.lower())) and suffix != path.suffix.lower() and isfile(path):
        raise InputError(f"{shown} is not {suffix} text, but {other}")
    try:
        if path.is_dir():
            raise InputError(f"{shown} is a folder; give a {suffix} file")
        with open_file(path) as file:
            data = file.read(MAX_BYTES + 1)
    except FileNotFoundError:
        hint = "; `bitwright examples` writes the examples here" if path.parts[:1] == ("examples",) else ""
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
