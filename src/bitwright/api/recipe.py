"""A recipe from the settings that a person gives by name."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from bitwright.api.arguments import check_options
from bitwright.errors import InputError
from bitwright.networks import Plan, Recipe

_OWN_DEFAULT = ("width", "tolerance", "padding", "descent")  # where None is given
_OF_PLAN = ("tolerance", "descent", "parametrization", "rate", "most_steps")
SETTINGS = ("width", "seed", "member", "start", "padding", *_OF_PLAN, "trainer", "device", "precision", "threads")


def make_recipe(
    width: Callable[[int], int], settings: Mapping[str, Any], given: Recipe | None = None, what: str = "train"
) -> Recipe:
    """The recipe with these settings, where `width` gives the default for a padding."""
    check_options(settings, SETTINGS, what)
    if not isinstance(given, Recipe | None):
        raise InputError(f"recipe is a Recipe, got a {type(given).__name__}; give single settings by their names")
    named = {name: value for name, value in settings.items() if value is not None or name not in _OWN_DEFAULT}
    own = {name: named.pop(name) for name in _OF_PLAN if name in named}
    if given is not None:
        made = replace(given, plan=replace(given.plan, **own), **named)
    else:
        made = Recipe(**{"width": 2, **named}, plan=Plan(**own))
        if "width" not in named:
            made = replace(made, width=width(made.padding))
    if made.trainer == "torch":
        from bitwright.networks.torch_trainer import check_device

        check_device(made.device)
    return made
