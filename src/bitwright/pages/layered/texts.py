"""How wide texts are, and texts in lines that fit."""

from __future__ import annotations

SIZE = 13  # of letters
JOINT = "\N{NO-BREAK SPACE}"


def text_width(text: str, size: float = SIZE) -> float:
    """About how wide a text is in a sans-serif font, rather too wide than too narrow."""
    wide, narrow = sum(char in "mwMW@%→" for char in text), sum(char in f"iljtfr.,:;|'[]() {JOINT}" for char in text)
    capitals = sum(char.isupper() and char not in "MW" for char in text)
    return size * (0.9 * wide + 0.33 * narrow + 0.72 * capitals + 0.58 * (len(text) - wide - narrow - capitals))


def wrapped(text: str, width: float, size: float = SIZE) -> list[str]:
    """The text in lines that are not wider; joints become spaces; a word that is too long for a line is broken."""
    lines: list[str] = []
    line = ""
    for word in text.split(" "):
        if line and text_width(f"{line} {word}", size) > width:
            lines.append(line)
            line = word
        else:
            line = f"{line} {word}" if line else word
        while text_width(line, size) > width and len(line) > 1:
            fits = max(n for n in range(1, len(line)) if n == 1 or text_width(line[:n], size) <= width)
            lines.append(line[:fits])
            line = line[fits:]
    return [one.replace(JOINT, " ") for one in (*lines, line)]
