"""What --sizes says on the command line, and the command that trains a network in such sizes."""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING

import click

from bitwright.cli.targets import given_lets
from bitwright.errors import InputError

if TYPE_CHECKING:
    from bitwright import Algorithm
    from bitwright.api.sizes import InSizes

_SIZES = "bitwright.sizes"  # where a command line keeps what --sizes says


def in_sizes(algorithm: Algorithm, sizes: str | None) -> InSizes:
    """The algorithm in these sizes."""
    from bitwright.api import sizes as api

    return api.in_sizes(algorithm, keep_sizes(sizes))


def keep_sizes(sizes: str | None) -> str | None:
    """Keeps what --sizes says for `training_command`; raises InputError for a number that --let has given too."""
    asked = {part.partition("=")[0].strip() for part in (sizes or "").split(",") if "=" in part}
    for name in asked & set(given_lets()):
        raise InputError(f"{name} is given twice, by --sizes and --let")
    if sizes not in (None, "all") and not asked and given_lets():
        raise InputError(f"beside --let, --sizes names its number: --sizes NAME={sizes}")
    if sizes is not None and (context := click.get_current_context(silent=True)) is not None:
        context.meta[_SIZES] = sizes
    return sizes


def training_command(target: str, algorithm: Algorithm, order: str | None = None, machine: str | None = None) -> str:
    """The command that trains a network with all cells of this program, in the sizes that are asked for.

    It names many sizes only where these were seen to have all its cells.
    """
    from bitwright.api import sizes as api

    context, lets, own = click.get_current_context(silent=True), given_lets(), api.numbers_of(algorithm)
    sizes = None if context is None else context.meta.get(_SIZES)
    if sizes is None and algorithm.program.templates <= api.FEW_TEMPLATES:
        for name, value in islice(own.items(), 1):
            sizes = api.sizes_to_train(algorithm, name, value)
    words = [] if sizes is None else ["--sizes", sizes]
    varied = {part.partition("=")[0] for part in (sizes or "").split(",")}
    words += [word for name, value in lets.items() if name not in varied for word in ("--let", f"{name}={value}")]
    if order is not None:
        words += ["--order", order]
    elif sizes is None and api.BITS in own:
        words += ["--bits", str(own[api.BITS])]
    if machine is not None:
        words += ["--machine", machine]
    return " ".join(["bitwright train", target, *words, "-o FILE"])
