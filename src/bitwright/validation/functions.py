"""User-supplied oracles: a Python function, or its name, that takes one input or whole arrays."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from importlib import import_module, invalidate_caches
from importlib.machinery import PathFinder
from importlib.util import find_spec, module_from_spec, spec_from_file_location
from inspect import iscoroutine
from pathlib import Path
from threading import Lock
from types import ModuleType
from typing import Any

import numpy as np

from bitwright.common.bits import shorten
from bitwright.common.errors import InputError, suggestion
from bitwright.rules import Algorithm
from bitwright.validation.oracles import Oracle, Values, is_wide, shown

Given = Oracle | Callable[..., Any] | str
_lock = Lock()


@dataclass(frozen=True)
class Function:
    """A user's Python function that takes the inputs by name: an object of this process, or MODULE:FUNCTION.

    It returns a dictionary of outputs, or the bare number if there is one output; None if a run never ends. With
    `arrays` it takes and returns NumPy arrays, one per word: int64, or Python integers if `wide`.

    The file of a named function is read once, and its text is sent to other processes, but not what it imports.
    """

    name: str
    outputs: tuple[str, ...]
    arrays: bool = False
    wide: bool = False
    function: Callable[..., Any] | None = None  # an object of this process
    folder: str = ""  # for a named function: the first place to look for its module
    text: bytes | None = field(default=None, repr=False)  # text of its file; None for packages and installed modules

    @classmethod
    def named(
        cls, where: str, folder: str, outputs: tuple[str, ...], arrays: bool = False, wide: bool = False
    ) -> Function:
        """MODULE:FUNCTION with the current text of its file; raises InputError if there is no such function."""
        module, _ = _names(where)
        found = cls(where, outputs, arrays, wide, folder=folder, text=_text(module, folder))
        found.load()
        return found

    def load(self) -> Callable[..., Any]:
        """Returns the function; raises InputError, which names what is missing."""
        if self.function is not None:
            return self.function
        module, name = _names(self.name)
        with _lock:
            loaded = _module(module, self.folder, self.text)
        function = getattr(loaded, name, None)
        if not callable(function):
            known = [word for word in vars(loaded) if callable(getattr(loaded, word)) and not word.startswith("_")]
            raise InputError(f"module {module} has no function '{shorten(name)}'{suggestion(name, known)}")
        return function  # type: ignore[no-any-return]

    def __call__(self, values: Values) -> Mapping[str, Any] | None:
        """The outputs by name, for one input or for arrays; None if the run of a single input never ends."""
        if not self.arrays:
            found = self._ask(values, ", ".join(f"{name}={value}" for name, value in values.items()))
            return found if found is None else self._by_name(found)
        single = not any(isinstance(value, np.ndarray) for value in values.values())
        if single:
            kind = object if self.wide else np.int64
            values = {name: np.array([value], dtype=kind) for name, value in values.items()}
        count = len(next(iter(values.values()), "1"))
        found = self._ask(values, f"arrays of {count:,} input{'s' * (count != 1)}")
        if found is None:
            raise InputError(
                f"the oracle {self.name} gave None for an array of inputs; only single-input oracles may do so"
            )
        named = self._by_name(found)
        if not single:
            return named
        return {name: column[0] if np.shape(column) == (1,) else column for name, column in named.items()}

    def _ask(self, values: Values, given: str) -> Any:
        try:
            found = self.load()(**values)
            if iscoroutine(found):
                found.close()
                raise InputError(f"the oracle {self.name} is async; it must be a plain function")
        except (KeyboardInterrupt, InputError):
            raise
        except BaseException as error:  # also SystemExit, which must not count as agreement
            raise InputError(f"the oracle {self.name} failed on {given}: {_said(error)}") from error
        return found

    def _by_name(self, found: Any) -> Mapping[str, Any]:
        if isinstance(found, Mapping):
            return found
        if len(self.outputs) != 1:
            wanted = ", ".join(self.outputs)
            raise InputError(f"the oracle {self.name} must return a dictionary with {wanted}, got {shown(found)}")
        return {self.outputs[0]: found}


def given_oracle(algorithm: Algorithm, given: Given, arrays: bool = False) -> Oracle:
    """Returns the requested oracle; files are read immediately, so that errors in them are reported at once.

    >>> from bitwright import addition
    >>> given_oracle(addition(2), lambda p, q: p + q)({"p": 1, "q": 2})
    {'sum': 3}
    """
    outputs, wide = tuple(word.name for word in algorithm.outputs), is_wide(algorithm)
    if isinstance(given, str):
        return Function.named(given, os.getcwd(), outputs, arrays, wide)
    if not callable(given):
        raise InputError(
            f"an oracle must be a function of the inputs or a name MODULE:FUNCTION, got a {type(given).__name__}"
        )
    if hasattr(given, "arrays") and hasattr(given, "name"):
        return given
    inner = getattr(given, "func", given)  # of functools.partial
    return Function(str(getattr(inner, "__name__", type(inner).__name__)), outputs, arrays, wide, given)


def _names(where: str) -> tuple[str, str]:
    module, colon, name = where.partition(":")
    if not (module and colon and name):
        raise InputError(f"an oracle must be named module:function, such as checks:expected, got '{shorten(where)}'")
    if module.endswith(".py") or "/" in module:
        path = Path(module.removesuffix(".py"))
        inside = not path.is_absolute() and ".." not in path.parts
        plain = ".".join(path.parts) if inside else path.name
        folder = "" if inside else f", from the folder {shorten(str(path.parent))}"
        wanted = f"{shorten(plain)}:{shorten(name)}{folder}"
        raise InputError(f"an oracle is named by its module, not its file; write {wanted}")
    return module, name


def _text(name: str, folder: str) -> bytes | None:
    """The text of a module in the folder; None for packages and installed modules, which are imported as they are."""
    if folder not in sys.path:
        sys.path.insert(0, folder)
    invalidate_caches()
    try:
        spec = PathFinder.find_spec(name, [folder]) if "." not in name else find_spec(name)
        spec = spec or find_spec(name)
        if spec is None:
            raise ModuleNotFoundError(f"No module named '{name}'")
        place = None if spec.origin is None or spec.submodule_search_locations is not None else Path(spec.origin)
        ours = place is not None and place.suffix == ".py" and place.is_relative_to(folder)
        return place.read_bytes() if place is not None and ours else None
    except BaseException as error:  # finding a module in a package imports the package
        raise _cannot_import(name, error) from None


@lru_cache(64)
def _module(name: str, folder: str, text: bytes | None) -> ModuleType:
    """Creates a module from this text, whatever its file now contains; without a text, imports the installed module."""
    try:
        if text is None:
            return import_module(name)
        spec = spec_from_file_location(name, Path(folder, *name.split(".")).with_suffix(".py"))
        assert spec is not None
        module = sys.modules[name] = module_from_spec(spec)
        exec(compile(text, str(spec.origin), "exec", dont_inherit=True), vars(module))
    except BaseException as error:  # a user's module can raise anything on import
        if text is not None:
            sys.modules.pop(name, None)
        raise _cannot_import(name, error) from None
    return module


def _cannot_import(name: str, error: BaseException) -> InputError:
    if isinstance(error, KeyboardInterrupt):
        raise error
    return InputError(f"cannot import the oracle's module '{shorten(name)}': {_said(error)}")


def _said(error: BaseException) -> str:
    """An exception in a few words, even if its own `str` fails."""
    try:
        return shorten(" ".join(f"{type(error).__name__}: {error}".split()), 200)
    except Exception:
        return type(error).__name__
