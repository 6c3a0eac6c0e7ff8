"""Programs of graphs whose templates are not written out before somebody asks for one.

A step needs the kinds of cells and how they are wired. A board may have 100 templates for each of a million cells.
"""

from __future__ import annotations

from functools import cached_property
from typing import Any, Protocol

from bitwright.bits import BoolArray
from bitwright.frozen import frozen
from bitwright.program.cells import CellKinds
from bitwright.program.program import Program

_OF_TEMPLATES = ("template_block", "template_config", "write_start", "write_bits", "rule_families")
_OF_CELLS = ("template", "first_template", "order")


class _Wiring(Protocol):
    def templates(self) -> int: ...
    def live(self) -> BoolArray: ...
    def written_out(self) -> dict[str, Any]: ...
    def template_numbers(self, program: Program) -> dict[str, Any]: ...


class GraphProgram(Program):
    """A program made from a node program and a graph; it is like any other, and its arrays of templates come last."""

    @classmethod
    def of(cls, **given: Any) -> GraphProgram:
        """The program without its templates."""
        made = object.__new__(cls)
        made.__setstate__(given)
        return made

    def __getattr__(self, name: str) -> Any:
        if name not in _OF_TEMPLATES or "wired" not in self.__dict__:
            raise AttributeError(name)
        self.__setstate__(self._wiring.written_out())
        return self.__dict__[name]

    @property
    def _wiring(self) -> _Wiring:
        return self.__dict__["wired"]  # type: ignore[no-any-return]

    @property
    def templates(self) -> int:
        return self._wiring.templates()

    @cached_property
    def live(self) -> BoolArray:
        return frozen(self._wiring.live())


class GraphKinds(CellKinds):
    """The kinds of its cells; the numbers of their templates come last."""

    program: Program

    @classmethod
    def of_wires(cls, **given: Any) -> GraphKinds:
        """The kinds and wires, without the templates."""
        made = object.__new__(cls)
        made.__setstate__(given)
        return made

    def __getattr__(self, name: str) -> Any:
        if name not in _OF_CELLS or "program" not in self.__dict__:
            raise AttributeError(name)
        program = self.__dict__["program"]
        self.__setstate__(program.wired.template_numbers(program))
        return self.__dict__[name]
