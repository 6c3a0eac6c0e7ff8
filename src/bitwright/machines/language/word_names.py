"""Names in compiled assembly: of words, functions and places in the code, all different and short enough."""

from __future__ import annotations

from bitwright.machines.assembly.reading import prelude_of
from bitwright.machines.assembly.subleq_assembler import SUBLEQ

_RESERVED = {"Z", "T", "P", "N", "subleq", "load", "store", *prelude_of(SUBLEQ)}
_LONGEST = 48


class WordNames:
    """Labels for things, each made when it is first asked for."""

    def __init__(self) -> None:
        self._taken = set(_RESERVED)
        self._labels: dict[tuple[str, ...], str] = {}
        self._count = 0

    def entrance(self, function: str) -> str:
        return self._label("entrance", function, wish=function)

    def exit(self, function: str) -> str:
        return self._label("exit", function, wish=f"{function}_exit")

    def result(self, function: str, at: int) -> str:
        return self._label("result", function, str(at), wish=f"{function}_result{at or ''}")

    def word(self, function: str, variable: str) -> str:
        """The word of a variable; `@1` is one of the compiler's own."""
        return self._label("word", function, variable, wish=f"{function}_{variable.replace('@', 't')}")

    def labels(self, *kinds: str) -> tuple[str, ...]:
        """New names for places in the code that belong together."""
        self._count += 1
        return tuple(self._label("place", kind, str(self._count), wish=f"{kind}{self._count}") for kind in kinds)

    def words(self) -> list[tuple[str, str, str]]:
        """Function, variable and label of every variable, and of every result with no name, in order of first use."""
        kinds = {"word", "result"}
        return [
            (key[1], key[2] if key[0] == "word" else "", label)
            for key, label in self._labels.items()
            if key[0] in kinds
        ]

    def _label(self, *key: str, wish: str) -> str:
        if key not in self._labels:
            label = wish = wish.lstrip("@")[:_LONGEST]
            number = 1
            while label in self._taken:
                number += 1
                label = f"{wish}_{number}"
            self._taken.add(label)
            self._labels[key] = label
        return self._labels[key]
