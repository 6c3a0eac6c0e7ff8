"""`bitwright train --cells`: one small network for the cells of a program."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from bitwright.cli.progress import working
from bitwright.cli.quantize import about_whole, finite
from bitwright.cli.reporting import note, print_json
from bitwright.cli.sizes import in_sizes
from bitwright.cli.targets import find_algorithm
from bitwright.cli.train_from import about_executions, say_cells
from bitwright.cli.training import train_shown
from bitwright.errors import InputError

if TYPE_CHECKING:
    from bitwright.api.cells import TrainedCells
    from bitwright.api.executions import Wanted
    from bitwright.networks import Recipe
    from bitwright.program import Algorithm
    from bitwright.program.pattern import Pattern


def train_network_of_cells(
    algorithm: Algorithm,
    others: Sequence[str],
    sizes: str | None,
    tile: int,
    how: dict[str, Any],
    output: Path,
    weight_bits: int,
    as_json: bool,
    quiet: bool,
    wanted: Wanted | None = None,
) -> int:
    """Trains, rounds, proves, writes; exit 1 if no seed was right in every local state."""
    from bitwright.api.cells import as_algorithm, check_tile, pattern_of, train_on_pattern
    from bitwright.checking.width import suggested_cells_width
    from bitwright.cli.train import make_recipe
    from bitwright.files.storage import check_writable
    from bitwright.networks import save_network

    if output.suffix != ".safetensors":
        raise InputError(f"-o takes a .safetensors file, got {output}")
    check_writable(output)
    if sizes is None:
        check_tile(algorithm, tile)
    with working("looking for kinds of cells"):
        looked = list(in_sizes(algorithm, sizes).programs)
        for other in others:
            looked += in_sizes(find_algorithm(other, cells=True), None).programs
        programs = [one.algorithm for one in looked]
        pattern = pattern_of([one.program for one in programs], tile)
        width = suggested_cells_width(pattern) if how["width"] is None else how["width"]
    recipe: Recipe = make_recipe(as_algorithm(pattern), padding=0, **{**how, "width": width})
    executions = None
    if wanted is not None:
        from bitwright.api.executions import WIDER, cell_set

        executions = cell_set(pattern, programs, wanted, tile)
        if how["width"] is None:
            recipe = replace(recipe, width=WIDER * recipe.width)
        say_cells(executions, recipe, pattern, quiet)
    begin = time.perf_counter()
    with working("training on the local states"):
        found = train_on_pattern(
            pattern,
            recipe,
            weight_bits,
            make=lambda program, recipe: train_shown(program, recipe, executions)[0],
            executions=executions,
        )
    seconds = time.perf_counter() - begin
    save_network(found.network, pattern.program, output)
    if as_json:
        print_json(
            {
                "file": str(output),
                "name": algorithm.name,
                "program_id": pattern.program.id,
                **about_cells(pattern, found),
                **about_executions(executions),
                "seed": found.network.origin.seed,
                "digest": found.network.digest,
                "seconds": round(seconds, 3),
            }
        )
    else:
        for line in _notes(found, output, seconds, tile):
            note(line, quiet)
        if sizes is None and not quiet:
            _note_sizes(algorithm, pattern, tile)
        click.echo(str(output))
    if not found.proved and found.tables is not None:
        from bitwright.api.advice import of_cells

        click.echo(f"bitwright: {of_cells(found, executions, '--from states')}", err=True)
        return 1
    return 0


def _note_sizes(algorithm: Algorithm, pattern: Pattern, tile: int) -> None:
    """Says where other sizes of the program have kinds of cells that this network has not."""
    from bitwright.api.sizes import at_size, missing_kinds

    with working("looking at other sizes"):
        missing = list(missing_kinds(algorithm, pattern, tile))
    for size, wanted in missing:
        advice = "" if wanted is None else f"; --sizes {wanted} trains one on those too"
        note(f"{at_size(algorithm.name, size)} has cells of other kinds, which this network does not run{advice}")


def about_cells(pattern: Pattern, found: TrainedCells) -> dict[str, object]:
    """What was trained, for JSON."""
    tables = found.tables
    assert found.cost is not None
    return {
        "domain": "cells",
        "kinds": len(pattern.kinds),
        "examples": pattern.program.templates,
        "local_states": pattern.local_states,
        "wrong": None if tables is None else tables.wrong,
        "margin": None if tables is None else finite(tables.margin),
        "seeds_tried": found.seeds,
        **about_whole(found.network, found.cost),
    }


def _notes(found: TrainedCells, file: Path, seconds: float, tile: int) -> list[str]:
    tried = "" if found.seeds in (None, 1) else f", after {found.seeds} seeds"
    smaller = "; a smaller --tile has far fewer" if found.tables is None and tile > 1 else ""
    size = f"{found.size} in a {file.stat().st_size:,}-byte file"
    return [f"{size}, in {seconds:.2f} s{tried}", found.sentence + smaller]
