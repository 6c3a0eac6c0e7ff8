"""The assembly language of SBN: its tokens, its directives, and its operations in terms of sbn."""

from __future__ import annotations

import re

from bitwright.bits import shorten
from bitwright.machines.assembly.reading import MAX_NAME, InstructionSet
from bitwright.text.macros import Form
from bitwright.text.scanner import MAX_LINE, NAME, SPACE, Scanner

END_OF_PROGRAM = "halt"  # the label behind the last instruction; nothing else may be called so
USE = ".use"  # these words get their addresses in this order, before others; only here

# -1 - 0 is negative and stays -1, so that sbn #0 #-1 always jumps. @scratch is 0 before and after each operation.
# A constant, #a, has a negative at hand.
_OPERATIONS = {
    "sub a b": ["sbn a b"],
    "clr x": ["sbn x x"],
    "jmp LABEL": ["sbn #0 #-1 LABEL"],
    "jneg x LABEL": [".use x", "sbn #0 x LABEL"],
    "inc x": [".use x", "sbn #-1 x"],
    "dec x": [".use x", "sbn #1 x"],
    "halt": ["sbn #0 #-1 halt"],
    "mov a b": [".use a b", "sbn a @scratch", "sbn b b", "sbn @scratch b", "sbn @scratch @scratch"],
    "mov #a b": [".use #-a", "sbn b b", "sbn #-a b"],
    "add a b": [".use a b", "sbn a @scratch", "sbn @scratch b", "sbn @scratch @scratch"],
    "add #a b": ["sbn #-a b"],
}

_SHORT = rf"[A-Za-z_][A-Za-z0-9_]{{0,{MAX_NAME - 1}}}"
_DIGITS = r"(?:0[xX][0-9a-fA-F]{1,64}|0[bB][01]{1,64}|[0-9]{1,66})"
_STOP = rf"(?=[{SPACE};:]|\Z)"  # a piece ends with space, a colon or a comment


def _unreadable(word: str) -> tuple[int, str]:
    legal = len(re.match(r"[A-Za-z0-9_@#.-]*", word)[0])  # type: ignore[index]  # it matches the empty text too
    if legal < len(word):
        return legal, f"unexpected character {shorten(word[legal])!r}; operands are separated by spaces"
    if len(word) > MAX_NAME:
        return 0, f"'{shorten(word)}' is too long; a name has at most {MAX_NAME} characters"
    return 0, f"'{shorten(word)}' is neither a name, nor a number such as 5, -1, 0x1f or 0b101"


SBN = InstructionSet(
    scanner=Scanner(
        {
            "comment": ";.*",
            "name": rf"@?{_SHORT}{_STOP}",
            "number": rf"{_DIGITS}{_STOP}",
            "sign": rf":|\#(?=-?(?:{_DIGITS}|{_SHORT}){_STOP})|-(?=(?:{_DIGITS}|{_SHORT}){_STOP})",
            "directive": rf"\.[A-Za-z]{{1,{MAX_NAME}}}{_STOP}",
            "other": rf"[^{SPACE};:]+",
        },
        {"other": _unreadable},
    ),
    forms={
        "sbn": Form("sbn a b, or sbn a b LABEL", 2, 3),
        ".width": Form(".width 8", 1, 1),
        ".in": Form(".in a b", 1, MAX_LINE),
        ".out": Form(".out r", 1, MAX_LINE),
        ".word": Form(".word one 1", 2, 2),
        ".const": Form(".const STEP 5", 2, 2),
        ".alias": Form(".alias sum b", 2, 2),
        USE: Form("", 1, 2),
    },
    prelude=_OPERATIONS,
    declares={".const": "a constant", ".word": "a word", ".alias": "an alias"},
    reserved={END_OF_PROGRAM: ("a label", "the end of the program")},
    separator=" ",
    directives_declare=True,
    most_parameters=16,
    most_pieces=1_000_000,
)


def is_name(text: str) -> bool:
    """Whether a word or a label of a program may be called so."""
    return bool(re.fullmatch(NAME, text)) and len(text) <= MAX_NAME and text != END_OF_PROGRAM
