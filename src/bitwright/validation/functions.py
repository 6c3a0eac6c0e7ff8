"""Oracles of the user's: a Python function, or its name, of one input or of whole arrays."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from importlib import import_module, invalidate_caches
from importlib.machinery import PathFinder
from importlib.util import find_spec, module_from_spec, spec_from_file_location
from inspect import iscoroutine
from pathlib import Path
from threading import Lock
from types import ModuleType
from typing import Any, Self

import numpy as np

from bitwright.bits import shorten
from bitwright.errors import InputError, suggestion
from bitwright.program import Algorithm
from bitwright.validation.oracles import Oracle, Values, is_wide, shown
from bitwright.validation.sources import Sources, import_exactly, sources_of

Given = Oracle | Callable[..., Any] | str


def answer(function: Callable[..., Any], oracle: Function | HeldFunction, values: Values) -> Mapping[str, Any] | None:
    """The outputs by name, of one input or of arrays; None where the run of one input never ends."""
    name = oracle.name
    if not oracle.arrays:
        found = _ask(function, name, values, ", ".join(f"{name}={value}" for name, value in values.items()))
        return found if found is None else _by_name(found, name, oracle.outputs)
    single = not any(isinstance(value, np.ndarray) for value in values.values())
    if single:
        kind = object if oracle.wide else np.int64
        values = {name: np.array([value], dtype=kind) for name, value in values.items()}
    count = len(next(iter(values.values()), "1"))
    found = _ask(function, name, values, f"arrays of {count:,} input{'s' * (count != 1)}")
    if found is None:
        raise InputError(f"the oracle {name} gave None; where a run never ends, an oracle of single inputs can say so")
    named = _by_name(found, name, oracle.outputs)
    if not single:
        return named
    return {name: column[0] if np.shape(column) == (1,) else column for name, column in named.items()}


def said(error: BaseException) -> str:
    """An exception in a few words, even one that cannot say what it is."""
    try:
        return shorten(" ".join(f"{type(error).__name__}: {error}".split()), 200)
    except Exception:
        return type(error).__name__


def _ask(function: Callable[..., Any], name: str, values: Values, given: str) -> Any:
    try:
        found = function(**values)
        if iscoroutine(found):
            found.close()
            raise InputError(f"the oracle {name} is an async function; give a plain one")
    except (KeyboardInterrupt, InputError):
        raise
    except BaseException as error:  # also SystemExit: an oracle that ends the process has not agreed to anything
        raise InputError(f"the oracle {name} failed on {given}: {said(error)}") from error
    return found


def _by_name(found: Any, name: str, outputs: tuple[str, ...]) -> Mapping[str, Any]:
    if isinstance(found, Mapping):
        return found
    if len(outputs) != 1:
        raise InputError(f"the oracle {name} must give a dictionary with {', '.join(outputs)}, got {shown(found)}")
    return {outputs[0]: found}


@dataclass(frozen=True)
class Function:
    """A Python function of the user's, `module:function`; it takes the inputs by name.

    It gives a dictionary of outputs, or the number itself if there is one output; None if a run never ends.
    """

    where: str
    folder: str  # where to look for the module first
    outputs: tuple[str, ...]
    text: bytes | None = field(default=None, repr=False)  # of its file, once read: machines without the file get it too
    sources: Sources = field(default=Sources(), repr=False)  # once read: its module and all that it imports
    arrays = False
    wide = False

    @property
    def name(self) -> str:
        return self.where

    def read(self) -> Self:
        """The function as its files are now: a validation uses these texts from its beginning to its end."""
        name = self._names()[0]
        text = _text(name, self.folder)
        found = replace(self, text=text, sources=sources_of(name, text))
        found.load()
        return found

    def load(self) -> Callable[..., Any]:
        """The function, or an InputError that says what is missing."""
        module, name = self._names()
        loaded = _module(module, self.folder, self.text, self.sources)
        function = getattr(loaded, name, None)
        if not callable(function):
            known = [word for word in vars(loaded) if callable(getattr(loaded, word)) and not word.startswith("_")]
            raise InputError(f"module {module} has no function '{shorten(name)}'{suggestion(name, known)}")
        return function  # type: ignore[no-any-return]

    def __call__(self, values: Values) -> Mapping[str, Any] | None:
        """The outputs of one input, or of arrays."""
        return answer(self.load(), self, values)

    def _names(self) -> tuple[str, str]:
        module, colon, name = self.where.partition(":")
        if not (module and colon and name):
            given = shorten(self.where)
            raise InputError(f"an oracle is named as module:function, such as checks:expected, got '{given}'")
        if module.endswith(".py") or "/" in module:
            path = Path(module.removesuffix(".py"))
            inside = not path.is_absolute() and ".." not in path.parts
            plain = ".".join(path.parts) if inside else path.name
            there = "" if inside else f", from the folder {shorten(str(path.parent))}"
            wanted = f"{shorten(plain)}:{shorten(name)}{there}"
            raise InputError(f"an oracle is named by its module, not by a file; write {wanted}")
        return module, name


@dataclass(frozen=True)
class ArrayFunction(Function):
    """The same for a function of NumPy arrays, one for each input word: int64, or Python's integers if `wide`.

    It gives a dictionary of arrays, or the array itself if there is one output. It cannot say that runs never end.
    """

    wide: bool = False
    arrays = True


@dataclass(frozen=True, eq=False)
class HeldFunction:
    """A callable of this process, asked as `Function` is; it does not travel, and no file says what it was."""

    function: Callable[..., Any]
    outputs: tuple[str, ...]
    arrays: bool = False
    wide: bool = False

    @property
    def name(self) -> str:
        inner = getattr(self.function, "func", self.function)  # of functools.partial
        return str(getattr(inner, "__name__", type(inner).__name__))

    def __call__(self, values: Values) -> Mapping[str, Any] | None:
        return answer(self.function, self, values)

    def check_stays_here(self, shared: bool, resumed: bool) -> None:
        """Raises InputError where it would have to travel to other processes, or be the same tomorrow."""
        if shared or resumed:
            what = "workers cannot share it" if shared else "a file to resume from cannot say whether it is the same"
            raise InputError(
                f"{self.name} is a function of this process, so {what}; put it into a file and name it, "
                "oracle='MODULE:FUNCTION'"
            )


def given_oracle(algorithm: Algorithm, given: Given, arrays: bool = False) -> Oracle:
    """The oracle that is meant; functions in files are read now, so that what is wrong with them is said at once.

    >>> from bitwright import addition
    >>> given_oracle(addition(2), lambda p, q: p + q)({"p": 1, "q": 2})
    {'sum': 3}
    """
    outputs, wide = tuple(word.name for word in algorithm.outputs), is_wide(algorithm)
    if isinstance(given, str):
        if not arrays:
            return Function(given, os.getcwd(), outputs).read()
        return ArrayFunction(given, os.getcwd(), outputs, wide=wide).read()
    if not callable(given):
        raise InputError(
            f"an oracle is a function of the inputs, or its name MODULE:FUNCTION, got a {type(given).__name__}"
        )
    if hasattr(given, "arrays") and hasattr(given, "name"):
        return given
    return HeldFunction(given, outputs, arrays, wide)


_lock = Lock()
_made: dict[tuple[str, Sources], ModuleType] = {}  # modules by the texts that they are made of


def _text(name: str, folder: str) -> bytes | None:
    """The text of a module in the folder; None for a package, and for what is installed, which is imported as it is."""
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


def _module(name: str, folder: str, text: bytes | None, sources: Sources) -> ModuleType:
    """A module made of this very text, whatever its file holds now; without a text, the one that is installed."""
    with _lock:
        if (name, sources) in _made:
            return _made[name, sources]
        import_exactly([one for one in sources.modules if one[0] != name or text is None])
        try:
            if text is None:
                module = import_module(name)
            else:
                spec = spec_from_file_location(name, Path(folder, *name.split(".")).with_suffix(".py"))
                assert spec is not None
                module = sys.modules[name] = module_from_spec(spec)
                exec(compile(text, str(spec.origin), "exec", dont_inherit=True), vars(module))
        except BaseException as error:  # whatever a module of the user's does when it is imported
            if text is not None:
                sys.modules.pop(name, None)
            raise _cannot_import(name, error) from None
        _made[name, sources] = module
        return module


def _cannot_import(name: str, error: BaseException) -> InputError:
    if isinstance(error, KeyboardInterrupt):
        raise error
    return InputError(f"cannot import the oracle's module '{shorten(name)}': {said(error)}")
