"""Templates of Rocq text: the files in `templates`, in Jinja."""

from __future__ import annotations

from collections.abc import Iterable
import re
from functools import cache
from importlib.resources import files
from typing import Any
from bitwright.exports.text import fill

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from bitwright.exports.rocq.families import Link
from bitwright.exports.rocq.forms import argument, natural
from bitwright.exports.rocq.words import output_name


def render(file: str, **pieces: object) -> str:
    """The text of a template with these pieces."""
    return _environment().get_template(f"{file}.v").render(pieces)


@cache
def _environment() -> Environment:
    found = Environment(
        loader=FileSystemLoader(str(files(__package__) / "templates")),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    found.filters |= {
        "nat": natural,
        "argument": argument,
        "each": each,
        "bool": rocq_bool,
        "bits_of": bits_of,
        "cases": cases,
        "output": output_name,
    }
    return found


def each(rows: Iterable[Any], form: str = "{0}", between: str = "; ") -> str:
    """A list in Rocq, each of its rows in this form.

    >>> each([(1, True)], "({0}, {1})")
    '[(1, true)]'
    """
    texts = (form.format(*map(rocq_bool, row if isinstance(row, tuple | list) else [row])) for row in rows)
    return f"[{between.join(texts)}]"


def rocq_bool(value: Any) -> Any:
    """Truths as Rocq writes them; anything else as it is."""
    return str(value).lower() if isinstance(value, bool) else value


def bits_of(mask: int) -> list[int]:
    """The numbers of the bits of a mask."""
    return [k for k in range(mask.bit_length()) if mask >> k & 1]


def cases(link: Link, tactic: str) -> str:
    """The case distinction on which residue a row has, and up to which row; `tactic` is a form of a piece and its row."""
    k = "i" if len(link) == 1 else "k"
    parts = []
    for *before, last in link:
        case = tactic.format(last, argument(last.row))
        for piece in reversed(before):
            case = f"up_to {k} {argument(piece.last)}; [{tactic.format(piece, argument(piece.row))} | {case}]"
        parts.append(case)
    return parts[0] if len(link) == 1 else f"residue i {len(link)}; [{' | '.join(parts)}]"


def comment(text: str) -> str:
    """A name in a comment, which it can neither end nor go on after."""
    return " ".join(text.replace("*", "+").replace('"', "'").split())


_HEAD = re.compile(r"^\(\*\*\* (\w+) \*\*\*\)\n", re.MULTILINE)


class Templates:
    """The sections of one file, and pieces that all of them may name."""

    def __init__(self, file: str, **pieces: object) -> None:
        self.file, self.pieces = file, pieces

    def __call__(self, section: str, **pieces: object) -> str:
        """A section with each {{name}} replaced by its piece."""
        return fill(_sections(self.file)[section], self.pieces | pieces)

    def line(self, section: str, **pieces: object) -> str:
        """A section without the end of its last line."""
        return self(section, **pieces).removesuffix("\n")


@cache
def _sections(file: str) -> dict[str, str]:
    _, *parts = _HEAD.split((files(__package__) / "templates" / f"{file}.v").read_text("utf-8"))
    return dict(zip(parts[::2], parts[1::2], strict=True))
