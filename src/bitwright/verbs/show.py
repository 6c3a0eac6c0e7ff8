"""Summarizes a program: its sizes and rules, and its kinds of cells with their pattern."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from os import PathLike
from typing import Any

import numpy as np

from bitwright.common.errors import InputError, columns, counted, listing, option, printable, shorten
from bitwright.common.files.storage import as_path, check_output, write_atomically
from bitwright.pages.cell_diagram import cell_diagram_svg
from bitwright.rules import Algorithm, NodeProgram, NodeSchema, Program, summary
from bitwright.rules import cells as of_program
from bitwright.rules.cells import Kind, Tile
from bitwright.rules.graph.schema import NodeWord
from bitwright.rules.pattern import Pattern, first_cells
from bitwright.verbs.open import check_tile, subject
from bitwright.verbs.reports import Summary
from bitwright.verbs.sizes import by_algorithm

_MOST_ROWS = 60  # in a table


@dataclass(frozen=True, repr=False, kw_only=True)
class KindsOfCells(Summary):
    """The kinds of cells of a program, and the pattern that networks of its cells are trained on.

    >>> from bitwright import addition
    >>> found = cell_kinds(addition(100))
    >>> [kind["cells"] for kind in found.data["tables"]], found.pattern.local_states
    ([99, 1], 16)
    """

    pattern: Pattern


def program_report(algorithm: Algorithm) -> Iterator[str]:
    """Yields the report that `bitwright show` prints: sizes, names, blocks and rules.

    >>> from bitwright import addition
    >>> list(program_report(addition(4)))[8].split()
    ['done', 'after', '8', 'steps']
    """
    program = algorithm.program
    inputs, outputs = (
        listing([f"{word.name} ({len(word.bits):,})" for word in words], 12) or "none"
        for words in (algorithm.inputs, algorithm.outputs)
    )
    never = int((program.writers == 0).sum())
    facts = {
        "bits (k)": f"{program.bits:,}",
        "blocks (b)": f"{program.blocks:,}",
        "templates (K)": f"{program.templates:,}",
        "writers of a bit": f"at most {int(program.writers.max()):,}",
        "never written": listing(summary.never_written(program, never), 5) or "none",
        "inputs": inputs,
        "outputs": outputs,
        "done": _ending(algorithm),
        "id": program.id,
    }
    yield printable(f"{algorithm.name}  {algorithm.description}")
    yield from (f"{name:<18}{value}" for name, value in facts.items())
    names, blocks, rules = summary.names(program), summary.blocks(program), summary.rules(program)
    yield from _table(
        ("name", "bits", "writers of each bit"),
        [(name, f"{bits:,}", _span(least, most)) for name, bits, least, most in names],
    )
    yield from _table(
        ("block", "how many", "templates in each"),
        [(" ".join(block), f"{count:,}", _span(least, most)) for block, count, least, most in blocks],
    )
    yield from _table(("rule", "templates"), [(shorten(text, 300), f"{count:,}") for text, count in rules])


def _table(headings: Sequence[str], rows: Sequence[Sequence[str]]) -> Iterator[str]:
    """Yields rows below their headings, after an empty line."""
    yield ""
    yield from columns([headings, *rows[:_MOST_ROWS]])
    if len(rows) > _MOST_ROWS:
        yield f"... and {len(rows) - _MOST_ROWS:,} more ({option('text')} prints everything)"


def _span(least: int, most: int) -> str:
    return f"{least:,}" if least == most else f"{least:,} to {most:,}"


def _ending(algorithm: Algorithm) -> str:
    if algorithm.halt is None:
        return f"after {counted(algorithm.steps or 0, 'step')}"
    when = (
        f"when {algorithm.program.layout.name_of(algorithm.halt)} is on"
        if isinstance(algorithm.halt, int)
        else "when a step changes nothing"
    )
    return when if algorithm.steps is None else f"{when}, in at most {counted(algorithm.steps, 'step')}"


def node_report(program: NodeProgram) -> Iterator[str]:
    """Yields the report on a node program, with its sizes on a graph of 16 nodes."""
    schema = program.schema()
    yield f"{program.name}  {program.description}"
    yield f"  a node program: {program.sizes}"
    for place, where in (("node", "at every node"), ("port", "at every port"), ("whole", "once")):
        if names := program.names_at(place):
            yield f"  {where:<14} {' '.join(names)}"
    yield f"  inputs         {listing([_word(word) for word in schema.inputs], 12) or 'none'}"
    yield f"  outputs        {listing([_word(word) for word in schema.outputs], 12)}"
    graphs = [*sorted(schema.requires), *([] if schema.degree is None else [f"degree {schema.degree}"])]
    yield f"  graphs         {', '.join(graphs) or 'any undirected graph'}"
    states = sum(kind.local_states for kind in program.kinds)
    yield (
        f"  cells          {counted(len(program.kinds), 'kind')}, {counted(states, 'local state')}; "
        f"see {option('cells')}"
    )
    yield "  rules"
    for rule in dict.fromkeys(schema.program.rules):
        yield f"    {rule}"


def _word(word: NodeWord) -> str:
    where = "of the whole" if word.place == "whole" else f"a {word.place}"
    return f"{word.name} ({counted(word.width, 'bit')} {where})"


def tiled(algorithm: Algorithm, tile: Tile) -> Algorithm:
    """Returns the same program with this many neighbouring cells treated as one."""
    program = algorithm.program
    return replace(algorithm, program=replace(program, grouped=program.cells.tiled(tile)))


def save_diagram(algorithm: Algorithm, path: str | PathLike[str], tile: Tile | None = None) -> None:
    """Saves a drawing of a program's kinds of cells as an .svg file, with `tile` neighbouring cells treated as one."""
    place = as_path(path, "a diagram")
    check_output(place, ".svg", "diagram")
    if tile == "all":
        raise InputError(f"{option('diagram')} draws cells, so {option('tile')} must be a number, got all")
    write_atomically(place, cell_diagram_svg(algorithm.program, algorithm.name, tile or 1).encode())


def cell_kinds(what: Algorithm | Program | NodeProgram, tile: Tile = 1) -> KindsOfCells:
    """Returns a program's kinds of cells, with `tile` neighbouring cells treated as one, as `show --tile` prints them.

    For a node program, these are the kinds on its `graphs`; the number of cells is that of a small graph.

    >>> from bitwright import multiplication
    >>> found = cell_kinds(multiplication(8)).data["tables"]
    >>> len(found), found[0]["first"][:2]
    (5, ['multiplier[2]', 'to_shift_right[2]'])
    """
    check_tile(tile)
    tables: dict[Kind, dict[str, Any]] = {}
    rows: list[str] = []
    idle = 0
    algorithms = by_algorithm([subject(what)])
    for algorithm in algorithms:
        program = algorithm.program
        cells = program.cells.tiled(tile)
        found = program.kinds if tile == 1 else of_program.cell_kinds(program, cells)
        if not isinstance(algorithm, NodeSchema):  # which writes bits that belong to no cell
            idle += int(np.count_nonzero(found.of < 0))
        for number, (kind, first) in enumerate(zip(found.kinds, first_cells(program, cells, found), strict=True)):
            if kind in tables:
                continue
            members = cells.members(int(np.flatnonzero(found.of == number)[0])).tolist()
            count, names = int(found.counts[number]), [name for block in members for name in program.block_names(block)]
            tables[kind] = {
                "cells": count,
                "blocks": len(kind.blocks),
                "examples": kind.templates,
                "ports": len(kind.ports),
                "local_states": kind.local_states,
                "first": names,
                "first_ports": [list(bits) for bits in first.ports],
            }
            only = (
                f"; {len(kind.blocks)} of its {len(members)} blocks {'has' if len(kind.blocks) == 1 else 'have'} rules"
            )
            shown = f"the first is {listing(names, 8)}{only if len(kind.blocks) < len(members) else ''}"
            rows.append(f"  kind {len(tables)}: {counted(count, 'cell')}, each {kind}; {shown}")
            ports = (f"port[{port}] sets {listing(bits, 4)}" for port, bits in enumerate(first.ports, 1))
            rows += [f"    there {'; '.join(ports)}"] * bool(first.ports)
    one, pattern, total = algorithms[0], Pattern.of(tuple(tables)), sum(table["cells"] for table in tables.values())
    data = {
        "name": one.name,
        "program_id": one.program.id,
        "cell_count": total,
        "tile": tile,
        "kinds": len(tables),
        "tables": list(tables.values()),
        "examples": pattern.program.templates,
        "local_states": pattern.local_states,
        "pattern_id": pattern.program.id,
    }
    without = f" (and {counted(idle, 'cell')} without rules)" if idle else ""
    learnt = f"{counted(pattern.program.templates, 'example')}, {counted(pattern.local_states, 'local state')}"
    sentence = f"{one.name}: {counted(total, 'cell')} of {counted(len(tables), 'kind')}{without}; {learnt}"
    return KindsOfCells(headline=sentence, lines=rows, data=data, pattern=pattern)
