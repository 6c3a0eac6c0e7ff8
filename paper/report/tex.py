"""Values as TeX: numbers with thin groups, cells of documentation tables, definitions."""

from __future__ import annotations

import re

_SPECIAL = {"&": r"\&", "%": r"\%", "#": r"\#", "_": r"\_", "$": r"\$", "~": r"\textasciitilde{}"}


def whole(value: float | str) -> str:
    """An integer in groups of three, in text and in formulas alike.

    >>> whole(1048576)
    '1{,}048{,}576'
    """
    return f"{round(float(value)):,}".replace(",", "{,}")


def fixed(value: float | str, digits: int = 3) -> str:
    """A number with this many digits after the decimal point."""
    return f"{float(value):.{digits}f}"


def powers(value: float | str) -> str:
    """A power of two as one, any other integer as it is.

    >>> powers(1 << 30), powers(345)
    ('2^{30}', '345')
    """
    number = int(value)
    return f"2^{{{number.bit_length() - 1}}}" if number & (number - 1) == 0 else whole(number)


def cell(text: str) -> str:
    """A cell of a table of the documentation: links and code lose their marks, powers become formulas.

    >>> cell("runs, of all 2^20 `products`")
    'runs, of all $2^{20}$ products'
    """
    text = re.sub(r"\[([^]]*)\]\([^)]*\)", r"\1", text.replace("`", ""))
    text = "".join(_SPECIAL.get(letter, letter) for letter in text)
    text = re.sub(r"(\d+)\^(\d+)", r"$\1^{\2}$", text)
    return re.sub(r"(\d),(?=\d{3})", r"\1{,}", text)


def row(*cells: str) -> str:
    return " & ".join(cells) + r" \\"


def definitions(kind: str, values: dict[str, str]) -> str:
    r"""Lines that `\N{key}` or `\rows{key}` reads, for use in the text."""
    return "".join(
        f"\\expandafter\\def\\csname {kind}:{key}\\endcsname{{{value}}}\n" for key, value in sorted(values.items())
    )
