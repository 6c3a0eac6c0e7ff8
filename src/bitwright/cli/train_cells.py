"""`bitwright train --cells`: one small network for the cells of a program, at every size."""

from __future__ import annotations

import re
import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from bitwright.cli.progress import working
from bitwright.cli.quantize import about_whole
from bitwright.cli.reporting import note, print_json
from bitwright.cli.targets import find_algorithm, given_lets
from bitwright.cli.train_from import about_executions, say_cells
from bitwright.cli.training import train_shown
from bitwright.errors import InputError, counted

if TYPE_CHECKING:
    from bitwright.app.cells import TrainedCells
    from bitwright.app.executions import Wanted
    from bitwright.networks import Recipe
    from bitwright.program import Algorithm
    from bitwright.program.pattern import Pattern

MOST_SIZES = 10_000


def sizes_of(text: str) -> range:
    """`1..64`, or one number."""
    found = re.fullmatch(r"(\d{1,18})(?:\.\.(\d{1,18}))?", text.strip(), re.ASCII)
    if found is None:
        raise InputError(f"--sizes is a range such as 1..64, got '{text[:40]}'")
    first, last = int(found[1]), int(found[2] or found[1])
    if not 1 <= first <= last or last - first >= MOST_SIZES:
        raise InputError(f"--sizes goes from at least 1 up, over at most {MOST_SIZES:,} sizes, got {text.strip()}")
    return range(first, last + 1)


def algorithms_of(target: str, algorithm: Algorithm, sizes: str | None, order: str | None) -> list[Algorithm]:
    """The algorithm, or it in every one of these sizes."""
    from bitwright.app.programs import SIZED
    from bitwright.program import NodeSchema

    if isinstance(algorithm, NodeSchema) and algorithm.node_program is not None:
        if sizes is not None:
            raise InputError("the cells of a node program are the same on every graph; leave out --sizes")
        return list(algorithm.node_program.schemas())
    if sizes is None:
        return [algorithm]
    name, equals, rest = sizes.partition("=")
    if equals and Path(target).suffix.lower() == ".bw":  # a number of the rule file in place of the bit length
        from bitwright.program import load

        return [load(target, {**given_lets(), name.strip(): size}) for size in sizes_of(rest)]
    if equals or target not in SIZED or order is not None:
        raise InputError(
            f"--sizes 1..64 goes with {', '.join(SIZED)}, whose size is a bit length, and --sizes l=1..64 with "
            "rule files"
        )
    return [find_algorithm(target, size) for size in sizes_of(sizes)]


def train_network_of_cells(
    target: str,
    algorithm: Algorithm,
    others: Sequence[str],
    order: str | None,
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
    from bitwright.app.cells import as_algorithm, check_tile, pattern_of, train_on_pattern
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
        programs = algorithms_of(target, algorithm, sizes, order)
        for other in others:
            programs += algorithms_of(other, find_algorithm(other, cells=True), None, None)
        pattern = pattern_of([one.program for one in programs], tile)
        width = suggested_cells_width(pattern) if how["width"] is None else how["width"]
    recipe: Recipe = make_recipe(as_algorithm(pattern), padding=0, **{**how, "width": width})
    executions = None
    if wanted is not None:
        from bitwright.app.executions import WIDER, cell_set

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
        for line in _notes(found, seconds):
            note(line, quiet)
        click.echo(str(output))
    if not found.proved and found.tables is not None:
        from bitwright.app.advice import of_cells

        click.echo(f"bitwright: {of_cells(found, executions, '--from states')}", err=True)
        return 1
    return 0


def about_cells(pattern: Pattern, found: TrainedCells) -> dict[str, object]:
    """What was trained, for JSON."""
    tables = found.tables
    return {
        "domain": "cells",
        "kinds": len(pattern.kinds),
        "examples": pattern.program.templates,
        "local_states": pattern.local_states,
        "wrong": None if tables is None else tables.wrong,
        "margin": None if tables is None else tables.margin,
        "seeds_tried": found.seeds,
        **about_whole(found.network, found.cost),
    }


def _notes(found: TrainedCells, seconds: float) -> list[str]:
    pattern, network = found.pattern, found.network
    tried = "" if found.seeds == 1 else f", after {counted(found.seeds, 'seed')}"
    lines = [
        f"{counted(len(pattern.kinds), 'kind')} of cells, {counted(pattern.program.templates, 'example')}; width "
        f"{network.shape.width:,}, {network.bytes:,} bytes, in {seconds:.2f} s{tried}"
    ]
    if found.tables is None:
        lines.append(
            f"{pattern.local_states:,} local states are more than are tried here, so it is not proved; "
            "a smaller --tile has far fewer"
        )
    else:
        right = "all right" if found.proved else f"{found.tables.wrong:,} wrong"
        lines.append(
            f"{counted(found.tables.states, 'local state')}, {right}; smallest margin {found.tables.margin:.3f}"
            + (": it runs every program of these kinds exactly, whatever its size" if found.proved else "")
        )
    return lines
