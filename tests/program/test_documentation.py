"""Every public name of the room says what it is, with an example that runs (doctest runs them all)."""

from __future__ import annotations

import doctest
import inspect

from cases import for_each

import bitwright.program

PUBLIC = [name for name in bitwright.program.__all__ if name != "FIXED_POINT"]  # a constant


@for_each("name", PUBLIC)
def test_a_public_name_has_an_example(name: str) -> None:
    thing = getattr(bitwright.program, name)
    assert inspect.getdoc(thing)
    assert doctest.DocTestParser().get_examples(inspect.getdoc(thing) or "")


@for_each("name", [name for name in PUBLIC if inspect.isclass(getattr(bitwright.program, name))])
def test_a_public_method_says_what_it_does(name: str) -> None:
    for part, thing in vars(getattr(bitwright.program, name)).items():
        if not part.startswith("_") and (callable(thing) or isinstance(thing, property | classmethod)):
            assert inspect.getdoc(thing), f"{name}.{part}"
