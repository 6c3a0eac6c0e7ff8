"""Values in place of those that a text gives to its numbers: `--let l=16`, `lets={"l": 16}`."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping
from dataclasses import fields, is_dataclass, replace
from typing import TypeVar

from bitwright.bits import shorten
from bitwright.errors import InputError, ProgramError, listing, suggestion
from bitwright.program.text import syntax
from bitwright.program.text.lexer import MAX_NUMBER
from bitwright.program.text.parser import SyntaxTree
from bitwright.text.scanner import Token

_WORD = re.compile(r"\w+")
Result = TypeVar("Result")
_PLAIN = re.compile(r"^\s*let\s+(\w+)\s*=\s*(\d+)\s*(?:#.*)?$", re.MULTILINE)


def check_lets(program: str, tree: SyntaxTree, lets: Mapping[str, int] | None) -> None:
    """Raises InputError for a value that no number can have, or one of a number that the text does not have."""
    known = names_of_lets(tree)
    for name, value in (lets or {}).items():
        if not tree.problems and name not in known:  # a line with a problem may be the one that has it
            has = f"it has {listing(known)}" if known else "it has none"
            raise InputError(f"{program} has no line 'let {shorten(name)}'; {has}{suggestion(name, known)}")
        whole = isinstance(value, int) and not isinstance(value, bool)
        if not whole or abs(value) >= MAX_NUMBER:
            shown = shorten(value if whole else repr(value))
            raise InputError(f"let {shorten(name)} takes an integer below 2^31, got {shown}")


def plain_lets(text: str) -> dict[str, int]:
    """The `let` lines that are plain numbers, in their order; computed ones follow from these."""
    return {name: int(value) for name, value in _PLAIN.findall(text)}


def names_of_lets(tree: SyntaxTree) -> list[str]:
    """The numbers that a text gives values to."""
    return [item.name.text for item in tree.statements if isinstance(item, syntax.Let)]


def mentions(tree: SyntaxTree, lets: Mapping[str, int], names: Collection[str]) -> set[str]:
    """Those of these names that occur in the text, other than in a `let` line whose value is given.

    A name that does not occur cannot change what the text stands for. Bits and indices of the same name count too, so
    this may be more than what the text depends on, never less.
    """
    found: set[str] = set()
    for item in tree.statements:
        if not (isinstance(item, syntax.Let) and item.name.text in lets):
            found |= _words(item) & set(names)
    return found


def _words(part: object) -> set[str]:
    """Every name in a part of a syntax tree."""
    if isinstance(part, Token):
        return {part.text}
    if isinstance(part, syntax.PlainLine):
        return set(_WORD.findall(f"{part.left} {part.right}"))
    if is_dataclass(part):
        return set().union(*(_words(getattr(part, field.name)) for field in fields(part)))
    return set().union(*map(_words, part)) if isinstance(part, tuple | list) else set()


def blaming(lets: Mapping[str, int], read: Callable[[Mapping[str, int]], Result]) -> Result:
    """What `read` makes of these values; problems that are not there without them say which values were given."""
    try:
        return read(lets)
    except ProgramError as error:
        if not lets:
            raise
        given = f" (with {listing([f'{name}={value}' for name, value in lets.items()])} given)"
        own = _problems_without(read)
        raise ProgramError(
            problem if problem in own else replace(problem, message=problem.message + given)
            for problem in error.problems
        ) from None


def _problems_without(read: Callable[[Mapping[str, int]], object]) -> tuple[object, ...]:
    try:
        read({})
    except ProgramError as error:
        return error.problems
    return ()
