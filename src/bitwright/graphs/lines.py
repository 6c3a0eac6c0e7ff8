"""Lines of names and values: what edge lists, adjacency lists and tables of values have in common."""

from __future__ import annotations

import csv
import re
from collections.abc import Iterator

from bitwright.bits import shorten
from bitwright.errors import InputError

_COMMENT = re.compile(r"(?:^|\s)#.*")


def separator_of(text: str, suffix: str) -> str | None:
    """What stands between the columns; None for any white space. Other files than .csv and .tsv show it themselves."""
    if suffix in (".csv", ".tsv"):
        return "," if suffix == ".csv" else "\t"
    first = next((content for line in text.split("\n") if (content := _content(line, None).strip())), "")
    return "," if "," in first.partition("{")[0] else None  # behind the brace may be a dictionary of networkx


def rows(text: str, separator: str | None, path: object) -> Iterator[tuple[int, list[str]]]:
    """The number and the columns of every line that is not blank and no comment.

    Between commas or tabs a column may stand in double quotes.

    >>> list(rows("a b  # an edge\\n\\nc", None, "graph.txt"))
    [(1, ['a', 'b']), (3, ['c'])]
    """
    for number, line in enumerate(text.split("\n"), 1):
        content = _content(line, separator) if "#" in line else line
        if separator is None:
            if columns := content.split():
                yield number, columns
        elif content.strip():
            if '"' in content:
                yield number, _quoted(content, separator, f"{path}:{number}")
            else:
                yield number, [column.strip() for column in content.split(separator)]


def _content(line: str, separator: str | None) -> str:
    """The line without its comment, which is a # and what follows at the beginning or behind white space.

    Where columns may be quoted, a # in quotes is none.
    """
    if separator is None or line.lstrip().startswith("#"):
        return _COMMENT.sub("", line)
    quoted, quote, rest = line.rpartition('"')
    return quoted + quote + _COMMENT.sub("", rest)


def _quoted(line: str, separator: str, place: str) -> list[str]:
    try:
        return [column.strip() for column in next(csv.reader([line], delimiter=separator, strict=True))]
    except csv.Error as error:
        raise InputError(f"{place}: a quote is not closed or a name is too long ({error}): {shorten(line)!r}") from None
