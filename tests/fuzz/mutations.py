"""Hostile input from good input: edits of text, of bytes, and of JSON documents, all decided by a seeded generator."""

import json
from collections.abc import Sequence
from random import Random
from typing import Any

# What has broken readers before: other line ends and spaces, digits that are none, depth, length, markup, escape codes.
NASTY = (
    *("", "\0", "\r", "\r\n", "\n", "\x0b", "\x85", "\u2028", "\ufeff", "\u200b", "\ud7ff", "²", "١", "é", "x\u0301"),
    *("\x1b[31m", "[/bold]", "%s%n", "{}", "\\", "'", '"', "`", "#", ";", "//", "..", "-", "--", "$(", "\t", " "),
    *("0", "-0", "-1", "1e9", "00", "0x", "0b2", "1_0", "2147483648", "9" * 25, "9" * 5000, "NaN", "Infinity"),
    *("(" * 300, "[" * 300, "-" * 300, "{" * 300, "a" * 300, "a" * 11_000, ")", "]", "}", "(" * 100_000, "a " * 3000),
)
_ODD: tuple[Any, ...] = (
    *(None, True, False, 0, 1, -1, 2**31, 2**63, 2**64, 10**30, 0.5, -0.0, 1e308, "", "x", "\n", "\x1b[0m", "a" * 500),
    *([], {}, [[]], [None], {"": 0}, {"format": 1}, [["sign"]], float("nan"), float("inf"), "9" * 50, ["lie"]),
)


def edit_text(rng: Random, text: str, words: Sequence[str] = ()) -> str:
    """A text with one to four edits: something nasty, a word of its language, or a piece of itself, put in or over."""
    for _ in range(rng.randint(1, 4)):
        begin = rng.randint(0, len(text))
        end = min(len(text), begin + rng.choice((0, 0, 1, 1, 2, 5, 30)))
        pick = rng.random()
        if pick < 0.35:
            piece = rng.choice(NASTY)
        elif pick < 0.7 and words:
            piece = rng.choice((" ", "")) + rng.choice(words) + rng.choice((" ", ""))
        elif pick < 0.9:
            other = rng.randint(0, len(text))
            piece = text[other : other + rng.choice((1, 3, 10, 60, 400))]
        else:
            piece, end = "", min(len(text), begin + rng.randint(1, 80))
        text = text[:begin] + piece + text[end:]
    return text


def edit_bytes(rng: Random, data: bytes) -> bytes:
    """Bytes with one to four edits: flipped bits, other values, pieces cut out, doubled or put in, a cut end."""
    found = bytearray(data)
    for _ in range(rng.randint(1, 4)):
        at = rng.randrange(len(found)) if found else 0
        match rng.randrange(6):
            case 0 if found:
                found[at] ^= 1 << rng.randrange(8)
            case 1 if found:
                found[at] = rng.choice((0, 1, 0x7F, 0x80, 0xFF, 0x0A))
            case 2:
                del found[at : at + rng.choice((1, 2, 8, 64, 1000))]
            case 3:
                found[at:at] = found[at : at + rng.choice((1, 4, 64, 1000))]
            case 4:
                found[at:at] = rng.choice(NASTY).encode("utf-8", "surrogatepass")[:2000]
            case _ if rng.random() < 0.3:
                del found[at:]
    return bytes(found)


def edit_document(rng: Random, document: Any) -> str:
    """JSON text of a document with one to three edits of its tree, or of the text itself."""
    for _ in range(rng.randint(1, 3)):
        document = edit_tree(rng, document)
    text = json.dumps(document, indent=rng.choice((None, None, 1)))
    pick = rng.random()
    if pick < 0.1:
        return edit_text(rng, text)
    if pick < 0.2 and text.startswith("{") and isinstance(document, dict) and document:  # a key twice
        name = rng.choice(sorted(document))
        return "{" + f"{json.dumps(name)}: {json.dumps(rng.choice(_ODD))}, " + text[1:]
    if pick < 0.23:
        return "[" * rng.choice((40, 2_000, 200_000)) + text
    return text


def edit_tree(rng: Random, node: Any) -> Any:
    """The tree with one node replaced, left out, doubled, renamed, or wrapped."""
    if isinstance(node, dict) and node and rng.random() < 0.8:
        name = rng.choice(sorted(node))
        match rng.randrange(8):
            case 0:
                return {key: value for key, value in node.items() if key != name}
            case 1:
                return {**node, rng.choice(("", "x", name + " ", name.upper(), "\n")): node[name]}
            case _:
                return {**node, name: edit_tree(rng, node[name])}
    if isinstance(node, list) and node and rng.random() < 0.8:
        at = rng.randrange(len(node))
        match rng.randrange(8):
            case 0:
                return node[:at] + node[at + 1 :]
            case 1:
                return node[: at + 1] + node[at:]
            case _:
                return [*node[:at], edit_tree(rng, node[at]), *node[at + 1 :]]
    if type(node) is int and rng.random() < 0.5:
        return node + rng.choice((-1, 1, 256, -(2**31)))
    if isinstance(node, str) and rng.random() < 0.4:
        return edit_text(rng, node)
    return [node] if rng.random() < 0.1 else rng.choice(_ODD)
