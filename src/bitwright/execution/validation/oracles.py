"""Oracles: what the outputs should be, found without any engine that is validated."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from importlib import import_module
from inspect import iscoroutine
from operator import index
from typing import Any, Protocol

import numpy as np

from bitwright.bits import any_digits, shorten
from bitwright.errors import BitwrightError, InputError, suggestion
from bitwright.execution.sliced.lanes import MOST_BITS, Numbers
from bitwright.machines import Code, run_interpreter
from bitwright.program import Algorithm

Values = Mapping[str, Any]


class Oracle(Protocol):
    """Says what the outputs of an input are."""

    @property
    def name(self) -> str:
        """How a report calls it."""

    @property
    def arrays(self) -> bool:
        """Whether it can be asked about whole arrays at once."""

    def __call__(self, values: Values) -> Mapping[str, Any] | None:
        """The outputs by name; None where the run should not end."""


@dataclass(frozen=True)
class Arithmetic:
    """Python's own integers; the same expressions work on arrays of numbers that fit a machine word."""

    operation: str  # addition, multiplication or permutation
    order: tuple[int, ...] = ()
    arrays = True

    @property
    def name(self) -> str:
        return "Python's integers"

    def __call__(self, values: Values) -> Mapping[str, Any]:
        if self.operation == "addition":
            return {"sum": values["p"] + values["q"]}
        if self.operation == "multiplication":
            return {"product": values["multiplicand"] * values["multiplier"]}
        p = values["p"]
        return {"p": sum((p >> i & 1) << (place - 1) for i, place in enumerate(self.order))}


@dataclass(frozen=True)
class Interpreter:
    """The plain interpreter of SBN; an instruction takes at least a step, so it need not look further than a run."""

    code: Code
    limit: int
    arrays = False

    @property
    def name(self) -> str:
        return "the plain interpreter"

    def __call__(self, values: Values) -> Mapping[str, Any] | None:
        try:
            return run_interpreter(self.code, values, self.limit)
        except InputError:  # the values fit, so it is the limit
            return None


@dataclass(frozen=True)
class Function:
    """A Python function of the user's, `module:function`; it takes the inputs by name.

    It gives a dictionary of outputs, or the number itself where there is one output; None where no run should end.
    """

    where: str
    folder: str  # where to look for the module first
    outputs: tuple[str, ...]
    arrays = False

    @property
    def name(self) -> str:
        return self.where

    def __call__(self, values: Values) -> Mapping[str, Any] | None:
        function = self.load()
        given = ", ".join(f"{name}={value}" for name, value in values.items())
        try:
            found = function(**values)
            if iscoroutine(found):
                found.close()
                raise InputError(f"the oracle {self.where} is an async function; give a plain one")
        except (KeyboardInterrupt, InputError):
            raise
        except BaseException as error:  # also SystemExit: an oracle that ends the process has not agreed to anything
            raise InputError(f"the oracle {self.where} failed on {given}: {_said(error)}") from None
        if found is None or isinstance(found, Mapping):
            return found
        if len(self.outputs) != 1:
            raise InputError(
                f"the oracle {self.where} must give a dictionary with {', '.join(self.outputs)}, got {_shown(found)}"
            )
        return {self.outputs[0]: found}

    def load(self) -> Callable[..., Any]:
        """The function, or an InputError that says what is missing."""
        module, colon, name = self.where.partition(":")
        if not (module and colon and name):
            raise InputError(f"--oracle takes module:function, such as checks:expected, got '{shorten(self.where)}'")
        if self.folder not in sys.path:
            sys.path.insert(0, self.folder)
        try:
            loaded = import_module(module)
        except KeyboardInterrupt:
            raise
        except BaseException as error:  # whatever a module of the user's does when it is imported
            raise InputError(f"cannot import the oracle's module '{shorten(module)}': {_said(error)}") from None
        function = getattr(loaded, name, None)
        if not callable(function):
            known = [word for word in vars(loaded) if callable(getattr(loaded, word)) and not word.startswith("_")]
            raise InputError(f"module {module} has no function '{shorten(name)}'{suggestion(name, known)}")
        return function  # type: ignore[no-any-return]


def _said(error: BaseException) -> str:
    """An exception in a few words, even one that cannot say what it is."""
    try:
        return shorten(" ".join(f"{type(error).__name__}: {error}".split()), 200)
    except Exception:
        return type(error).__name__


def _shown(value: object) -> str:
    try:
        with any_digits():
            return shorten(repr(value))
    except Exception:
        return f"a {type(value).__name__}"


def _whole(value: object, oracle: Oracle, name: str) -> int:
    """An output as a whole number; nothing is rounded or read out of text."""
    try:
        return index(value)  # type: ignore[arg-type]
    except Exception:
        raise InputError(
            f"the oracle {oracle.name} must give whole numbers, got {_shown(value)} for output {name}"
        ) from None


def expected(oracle: Oracle, algorithm: Algorithm, values: Mapping[str, Numbers], count: int) -> list[Numbers]:
    """What the outputs should be, one array for each output word; None stands for a run that should not end.

    An answer about whole arrays is itself checked against single ones in a few places.
    """
    names = [word.name for word in algorithm.outputs]
    fits = all(len(word.bits) <= MOST_BITS for word in (*algorithm.inputs, *algorithm.outputs))
    if oracle.arrays and fits and values:
        found = oracle(values)
        assert found is not None
        for place in {0, count // 7, count // 3, count // 2, count - 1}:
            single = oracle({name: int(array[place]) for name, array in values.items()})
            if single is None or any(int(found[name][place]) != single[name] for name in names):
                raise BitwrightError(f"{oracle.name} and machine words disagree; please report this")
        return [np.asarray(found[name]) for name in names]
    columns: list[list[Any]] = [[] for _ in names]
    lists = {name: array.tolist() for name, array in values.items()}
    for place in range(count):
        answer = oracle({name: column[place] for name, column in lists.items()})
        if answer is not None and (missing := [name for name in names if name not in answer]):
            raise InputError(f"the oracle {oracle.name} says nothing about output {missing[0]}")
        for name, column in zip(names, columns, strict=True):
            column.append(None if answer is None else _whole(answer[name], oracle, name))
    return [np.array(column, dtype=object) for column in columns]
