"""Images: a program as a list of words. A `.dec` file has them in decimal, separated by white space or commas."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from pathlib import Path

from bitwright.bits import shorten
from bitwright.errors import InputError, counted
from bitwright.machines.subleq.dialect import MAX_ADDRESS_BITS, Dialect, Shape
from bitwright.program.text.files import read_text

_WORD = re.compile(r"[+-]?[0-9]{1,20}")


def load_image(path: str | Path) -> list[int]:
    """The words of a .dec file, as they are written; raises InputError where something in it is no word."""
    return parse_image(read_text(Path(path), ".dec"), str(path))


def parse_image(text: str, source: str = "the image") -> list[int]:
    """The words of a text. From `#` or `;` to the end of a line is a comment.

    >>> parse_image("3, 4, 6   # copies nothing" + chr(10) + "7 7 7")
    [3, 4, 6, 7, 7, 7]
    """
    words: list[int] = []
    for number, line in enumerate(text.split("\n"), start=1):
        for piece in re.split(r"[\s,]+", re.split(r"[#;]", line, maxsplit=1)[0]):
            if not piece:
                continue
            if not _WORD.fullmatch(piece):
                raise InputError(f"{source}:{number}: '{shorten(piece)}' is not a word such as 12 or -1")
            words.append(int(piece))
            if len(words) > 1 << MAX_ADDRESS_BITS:
                raise InputError(f"{source} has more than 2^{MAX_ADDRESS_BITS} words, the most a machine can have")
    if not words:
        raise InputError(f"{source} has no words; an image is a list of numbers such as 3 4 6")
    return words


def image_text(words: Iterable[int]) -> str:
    """The words as the text of a .dec file, one instruction a line."""
    listed = [str(word) for word in words]
    return "\n".join(" ".join(listed[at : at + 3]) for at in range(0, len(listed), 3)) + "\n"


def no_ports(dialect: Dialect, count: int) -> str:
    """The message for `count` instructions that use a port in a dialect without ports."""
    subject = f"{counted(count, 'instruction')} name{'s' * (count == 1)} address -1"
    return f"{subject}, which dialects with io use as a port; {dialect.name} has none (try dialect howerj)"


def misfits(shape: Shape, image: Sequence[int]) -> list[str]:
    """Notes about an image that does not look as if it were written for this dialect; one line each.

    Nothing is certain here: any word can be data. But an image that begins with an instruction its dialect cannot
    execute was most likely made for another one.
    """
    modulus, dialect = 1 << shape.width, shape.dialect
    first = [word % modulus for word in [*image, 0, 0, 0][:3]]
    found = []
    ports = sum(-1 in image[at : at + 2] for at in range(0, len(image) - 2, 3))
    if not dialect.io and ports:
        found.append(no_ports(dialect, ports))
    if dialect.strict and max(first[:2]) >= shape.words:
        found.append(
            f"the first instruction names word {max(first[:2]):,} of {shape.words:,}, where {dialect.name} halts"
        )
    return found
