"""Values that override `let` lines: `--let l=16`, `lets={"l": 16}`."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping
from dataclasses import is_dataclass, replace
from typing import Any, TypeVar

from bitwright.bits import shorten
from bitwright.errors import InputError, ProgramError, listing, suggestion
from bitwright.program.text import syntax
from bitwright.program.text.lexer import MAX_NUMBER
from bitwright.program.text.parser import SyntaxTree
from bitwright.text.scanner import Token

Result = TypeVar("Result")
_PLAIN = re.compile(r"^\s*let\s+(\w+)\s*=\s*(\d+)\s*(?:#.*)?$", re.MULTILINE)


def check_lets(program: str, tree: SyntaxTree, lets: Mapping[str, int] | None) -> None:
    """Raises InputError for an impossible value, or for a name without a `let` line."""
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
    """The names among these that occur in the text, except in `let` lines whose value is overridden.

    A name that does not occur cannot change the program. Bits and indices of the same name count too, so this may be
    more than what the text depends on, never less.
    """
    found: set[str] = set()
    for item in tree.statements:
        if not (isinstance(item, syntax.Let) and item.name.text in lets):
            found |= words_of(item) & set(names)
    return found


def words_of(part: object) -> set[str]:
    """Every name in a part of a syntax tree."""
    found: set[str] = set()
    left = [part]
    while left:
        one: Any = left.pop()
        if isinstance(one, Token):
            found.add(one.text)
        elif isinstance(one, tuple | list):
            left += one
        elif is_dataclass(one):
            left += [getattr(one, name) for name in one.__dataclass_fields__]
    return found


def blaming(lets: Mapping[str, int], read: Callable[[Mapping[str, int]], Result]) -> Result:
    """The result of `read` for these values; problems that the text does not have without them mention the values."""
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
