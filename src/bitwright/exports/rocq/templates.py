"""Renders Rocq text from the Jinja templates in `templates`."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import cache
from typing import Any

from jinja2 import Environment

from bitwright.exports.rocq.families import Item, Link, Piece
from bitwright.exports.rocq.forms import argument, natural
from bitwright.exports.rocq.program import output_name
from bitwright.exports.templates import environment


def render(file: str, **pieces: object) -> str:
    """Renders a template with these values."""
    return _environment().get_template(f"{file}.v").render(pieces)


@cache
def _environment() -> Environment:
    filters: dict[str, Callable[..., Any]] = {
        "nat": natural,
        "argument": argument,
        "each": each,
        "bool": rocq_bool,
        "bits_of": bits_of,
        "cases": cases,
        "output": output_name,
        "item": item_text,
        "items": lambda items: each(map(item_text, items)),
        "written": written,
        "weight": weight,
        "lines": lambda rows: each(rows, between=";\n   "),
    }
    found = environment("rocq/templates", filters)
    found.globals["zip"] = zip
    return found


def each(rows: Iterable[Any], form: str = "{0}", between: str = "; ") -> str:
    """Formats a Rocq list with each row in this form.

    >>> each([(1, True)], "({0}, {1})")
    '[(1, true)]'
    """
    texts = (form.format(*map(rocq_bool, row if isinstance(row, tuple | list) else [row])) for row in rows)
    return f"[{between.join(texts)}]"


def rocq_bool(value: Any) -> Any:
    """Formats bools for Rocq; returns other values unchanged."""
    return str(value).lower() if isinstance(value, bool) else value


def bits_of(mask: int) -> list[int]:
    """Returns the numbers of the bits in a mask."""
    return [k for k in range(mask.bit_length()) if mask >> k & 1]


def cases(link: Link, tactic: str | Callable[[Piece], str]) -> str:
    """Returns a tactic that distinguishes rows by residue and range.

    Args:
        link: the pieces to distinguish.
        tactic: a function of a piece, or a format string for a piece and its row.
    """
    k = "i" if len(link) == 1 else "k"

    def text(pieces: Sequence[Piece]) -> str:
        piece, *others = pieces
        one = tactic(piece) if callable(tactic) else tactic.format(piece, argument(piece.row))
        return f"up_to {k} {argument(piece.last)}; [{one} | {text(others)}]" if others else one

    return text(link[0]) if len(link) == 1 else f"residue i {len(link)}; [{' | '.join(map(text, link))}]"


def item_text(item: Item) -> str:
    """Formats a bit, or all bits of an array up to an index."""
    if item.place is None:
        return f'flag "{item.array}"'
    return f'{"all" if item.whole else "at_"} "{item.array}" {argument(item.place)}'


def written(items: Sequence[Item]) -> str:
    """Formats the bits that a rule writes or to which a port is wired."""
    single = each(item_text(item) for item in items if not item.whole)
    wholes = [item_text(item) for item in items if item.whole]
    return f"({' ++ '.join([single] * (single != '[]') + wholes)})" if wholes else single


def weight(value: int) -> str:
    """Returns the name of a weight."""
    return f"{'m' if value < 0 else 'p'}{abs(value)}"
