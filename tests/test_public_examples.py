"""Every public name says what it is, with an example; doctest runs them all, with the other tests."""

import builtins
import inspect
from doctest import DocTestFinder
from functools import cache, cached_property
from importlib import import_module
from typing import Any

from cases import for_each

import bitwright
from bitwright.machines import Machine
from bitwright.machines.subleq import MachineV
from bitwright.rules.trace import Trace
from bitwright.theory.encoding.training_set import TrainingSet
from bitwright.validation import Validation

THINGS = {name: getattr(bitwright, name) for name in dir(bitwright)}
PUBLIC = [name for name, thing in THINGS.items() if callable(thing)]
CALLED = (  # classes whose methods people call; those of engines and batches are for the loop that drives them
    bitwright.Algorithm,
    bitwright.Builder,
    bitwright.Certificate,
    bitwright.Network,
    bitwright.Program,
    bitwright.Run,
    Trace,
    TrainingSet,
    Validation,
    Machine,
    MachineV,
)
METHODS = {
    f"{kind.__name__}.{name}": thing
    for kind in CALLED
    for name, thing in vars(kind).items()
    if not name.startswith("_") and (inspect.isfunction(thing) or isinstance(thing, classmethod))
}


@cache
def examples(module: str) -> set[str]:
    """The names in a module whose examples doctest finds."""
    return {found.name for found in DocTestFinder().find(import_module(module)) if found.examples}


def has_an_example(thing: Any) -> bool:
    return f"{thing.__module__}.{thing.__qualname__}" in examples(thing.__module__)


def test_only_constants_are_without() -> None:
    assert {name for name in THINGS if name not in PUBLIC} == {"__version__"}


@for_each("name", PUBLIC)
def test_a_public_name_has_an_example_that_runs(name: str) -> None:
    assert has_an_example(THINGS[name])


@for_each("name", METHODS)
def test_a_method_that_people_call_has_an_example_that_runs(name: str) -> None:
    assert has_an_example(METHODS[name])


@for_each("name", [name for name in PUBLIC if inspect.isclass(THINGS[name])])
def test_every_part_of_a_public_class_says_what_it_is(name: str) -> None:
    for part, thing in vars(THINGS[name]).items():
        if not part.startswith("_") and (inspect.isroutine(thing) or isinstance(thing, property | cached_property)):
            assert inspect.getdoc(thing), f"{name}.{part}"


def test_a_star_import_leaves_names_of_python_as_they_are() -> None:
    assert set(bitwright.__all__) & set(vars(builtins)) == set()
    assert set(dir(bitwright)) - set(bitwright.__all__) == {"open"}
    names: dict[str, Any] = {}
    exec("from bitwright import *", names)
    assert "open" not in names
