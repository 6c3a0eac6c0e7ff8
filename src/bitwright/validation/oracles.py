"""Oracles: the expected outputs, usually from a Python function, computed without the engine under validation."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from enum import Enum
from functools import lru_cache
from importlib import import_module, invalidate_caches
from importlib.machinery import PathFinder
from importlib.util import find_spec, module_from_spec, spec_from_file_location
from inspect import iscoroutine
from operator import index
from pathlib import Path
from threading import Lock
from types import ModuleType
from typing import Any, Final, Literal, NamedTuple, Protocol

import numpy as np

from bitwright.common.bits import BoolArray, any_digits, shorten
from bitwright.common.errors import InputError, suggestion
from bitwright.rules import Algorithm
from bitwright.rules.ensures import EnsureLine, Runs
from bitwright.rules.expressions import Combined, Expression, Named, names_in
from bitwright.runs.sliced import Numbers

Values = Mapping[str, Any]


class Silence(Enum):
    """The answer of an oracle that does not know the expected outputs."""

    UNKNOWN = "unknown"


UNKNOWN: Final = Silence.UNKNOWN
Answer = Mapping[str, Any] | Literal[Silence.UNKNOWN] | None


class Oracle(Protocol):
    """Returns the expected outputs of an input."""

    @property
    def name(self) -> str:
        """Its name in reports."""

    def __call__(self, values: Values) -> Answer:
        """The outputs by name; None if the run never ends; UNKNOWN if it cannot tell."""


@dataclass(frozen=True)
class Expected:
    """The expected outputs for some inputs: an array per output word, and the inputs without expected outputs."""

    outputs: list[Numbers]
    endless: BoolArray  # (count,) the run never ends
    unknown: BoolArray  # (count,) the oracle cannot tell


def expected(oracle: Oracle, algorithm: Algorithm, values: Mapping[str, Numbers], count: int) -> Expected:
    """Evaluates the oracle on these inputs."""
    names = [word.name for word in algorithm.outputs]
    endless, unknown = np.zeros(count, dtype=bool), np.zeros(count, dtype=bool)
    columns = [np.zeros(count, dtype=object) for _ in names]
    lists = {name: array.tolist() for name, array in values.items()}
    for place in range(count):
        answer = oracle({name: column[place] for name, column in lists.items()})
        if answer is None:
            endless[place] = True
        elif isinstance(answer, Silence):
            unknown[place] = True
        else:
            for name, column in zip(names, columns, strict=True):
                column[place] = _output_of(answer, name, oracle)
    return Expected(columns, endless, unknown)


def _output_of(answer: Mapping[str, Any], name: str, oracle: Oracle) -> int:
    """Returns an output as an integer; neither rounds numbers nor parses text."""
    if name not in answer:
        raise InputError(f"the oracle {oracle.name} did not return the output {name}")
    value = answer[name]
    try:
        return index(bool(value) if isinstance(value, np.bool_) else value)
    except Exception:
        raise InputError(f"the oracle {oracle.name} must return integers, got {_shown(value)} for {name}") from None


def _shown(value: object) -> str:
    """Returns a short text for any value."""
    try:
        with any_digits():
            return shorten(repr(value))
    except Exception:
        return f"a {type(value).__name__}"


class Definition(NamedTuple):
    """A line `output == value`, or one bit of the output, perhaps under a condition on the inputs."""

    line: EnsureLine
    condition: Expression | None
    output: Named


def definitions(algorithm: Algorithm) -> Iterator[Definition]:
    """Yields the `ensure` lines that define an output as a function of the inputs."""
    outputs = {word.name for word in algorithm.outputs}

    def free(part: Expression) -> bool:
        return not any(name.text in outputs and not name.entered for name in names_in(part))

    for line in algorithm.ensures:
        truth, condition = line.truth, None
        if isinstance(truth, Combined) and truth.sign == "=>" and free(truth.left):
            condition, truth = truth.left, truth.right
        if isinstance(truth, Combined) and truth.sign == "==":
            for side, other in ((truth.left, truth.right), (truth.right, truth.left)):
                if isinstance(side, Named) and not free(side) and free(other):
                    yield Definition(line, condition, side)


def undetermined(algorithm: Algorithm, runs: Runs, count: int) -> BoolArray:  # (count,)
    """Returns the runs with an output that no line defines, or not all of its bits."""
    defined: dict[tuple[str, int | None], BoolArray] = {}
    never = np.zeros(count, dtype=bool)
    for line, condition, output in definitions(algorithm):
        for row in line.rows():
            key = output.text, None if output.index is None else int(line.value(output.index, {}, {}, row))
            applies = True if condition is None else np.asarray(runs.value(line, condition, row), dtype=bool)
            defined[key] = defined.get(key, never) | applies
    found = never
    for word in algorithm.outputs:
        bits = [defined.get((word.name, place), never) for place in range(1, len(word.bits) + 1)]
        found = found | ~(defined.get((word.name, None), never) | np.all(bits, axis=0))
    return found


_lock = Lock()


@dataclass(frozen=True)
class Function:
    """A user's Python function that takes the inputs by name: an object of this process, or MODULE:FUNCTION.

    It returns a dictionary of outputs, or just the number if there is a single output, or None if the run never ends.
    The file of a named function is read once, and its text is sent to other processes, without the files it imports.
    """

    name: str
    outputs: tuple[str, ...]
    function: Callable[..., Any] | None = None  # an object of this process
    folder: str = ""  # for a named function: the first place to look for its module
    text: bytes | None = None  # text of its file; None for packages and installed modules

    @classmethod
    def of(cls, algorithm: Algorithm, given: Callable[..., Any] | str) -> Function:
        """Makes the oracle from a function or its name; reads a file immediately, to report its errors early.

        >>> from bitwright import addition
        >>> Function.of(addition(2), lambda p, q: p + q)({"p": 1, "q": 2})
        {'sum': 3}
        """
        outputs = tuple(word.name for word in algorithm.outputs)
        if isinstance(given, str):
            return cls.named(given, os.getcwd(), outputs)
        if not callable(given):
            got = f"a {type(given).__name__}"
            raise InputError(f"an oracle must be a function of the inputs or a name MODULE:FUNCTION, got {got}")
        inner = getattr(given, "func", given)  # of functools.partial
        return cls(str(getattr(inner, "__name__", type(inner).__name__)), outputs, given)

    @classmethod
    def named(cls, where: str, folder: str, outputs: tuple[str, ...]) -> Function:
        """Makes an oracle from MODULE:FUNCTION and the text of its file; raises InputError if it is missing."""
        found = cls(where, outputs, folder=folder, text=_text(_names(where)[0], folder))
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
        """Returns the outputs by name; None if the run never ends."""
        try:
            found = self.load()(**values)
            if iscoroutine(found):
                found.close()
                raise InputError(f"the oracle {self.name} is async; it must be a plain function")
        except (KeyboardInterrupt, InputError):
            raise
        except BaseException as error:  # also SystemExit, which must not count as agreement
            given = ", ".join(f"{name}={value}" for name, value in values.items())
            raise InputError(f"the oracle {self.name} failed on {given}: {_brief(error)}") from error
        if found is None or isinstance(found, Mapping):
            return found
        if len(self.outputs) != 1:
            wanted = ", ".join(self.outputs)
            raise InputError(f"the oracle {self.name} must return a dictionary with {wanted}, got {_shown(found)}")
        return {self.outputs[0]: found}


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
        raise InputError(f"an oracle must be named by its module, not its file; write {wanted}")
    return module, name


def _text(name: str, folder: str) -> bytes | None:
    """Returns the text of a module in the folder; None for packages and installed modules, which are imported."""
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
    return InputError(f"cannot import the oracle's module '{shorten(name)}': {_brief(error)}")


def _brief(error: BaseException) -> str:
    """Returns a short text for an exception, even if its `str` fails."""
    try:
        return shorten(" ".join(f"{type(error).__name__}: {error}".split()), 200)
    except Exception:
        return type(error).__name__
