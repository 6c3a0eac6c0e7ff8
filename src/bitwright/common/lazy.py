"""Names imported on first use, so that heavy modules are loaded only when needed."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Any


def lazy_names(package: str, homes: Mapping[str, str]) -> tuple[list[str], Callable[[str], object]]:
    """Returns `__all__` and `__getattr__` for a package whose public names are defined in other modules.

    `homes` maps a module to the names it provides, separated by spaces; `there=here` renames one.
    """
    home: dict[str, tuple[str, str]] = {}
    for module, names in homes.items():
        for item in names.split():
            there, _, here = item.partition("=")
            home[here or there] = (module, there)

    def load(name: str) -> object:
        if name not in home:
            raise AttributeError(f"module '{package}' has no attribute '{name}'")
        module, there = home[name]
        return getattr(import_module(module), there)

    return list(home), load


def is_a(value: object, home: str) -> bool:
    """Returns whether a value is an instance of the class at `module:name`; does not import that module.

    >>> is_a(1, "fractions:Fraction")
    False
    """
    module, _, name = home.partition(":")
    return module in sys.modules and isinstance(value, getattr(sys.modules[module], name))


class Shown:
    """A result that notebooks display with a viewer, which is imported on first use."""

    def _repr_html_(self) -> str:
        viewer: Any = import_module("bitwright.verbs.notebook")
        return viewer.html_of(self)  # type: ignore[no-any-return]
