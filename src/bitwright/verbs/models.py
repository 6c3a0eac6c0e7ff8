"""Your own networks: the meaning of their columns, states to train them on, and their engines."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from bitwright.common.bits import BoolArray
from bitwright.common.errors import InputError, counted, option
from bitwright.engines.external import FittedModel, ModelColumns
from bitwright.networks.external import READS, StateTable, as_model
from bitwright.rules import Algorithm
from bitwright.rules.cells import Tile
from bitwright.rules.pattern import Pattern, pattern_of
from bitwright.verbs.sizes import (
    SizesAsked,
    as_programs,
    at_every_size_or_own,
    by_algorithm,
    in_sizes,
)

if TYPE_CHECKING:
    from bitwright.engines.protocol import Engine
    from bitwright.networks.external import Reads
    from bitwright.verbs.sizes import Programs, Subject

_MOST = 1 << 20  # rows of a table


def fit_model(
    model: Any, subjects: Programs, sizes: SizesAsked | None = None, tile: Tile | None = None
) -> tuple[FittedModel, Pattern]:
    """Returns a network with its columns, and the program or the kinds of cells that it is for.

    Exactly one of the ways in which a network can read a program must fit its numbers of columns.
    """
    model = as_model(model)
    inputs, outputs = model.stack.inputs, model.stack.outputs
    ways = [ModelColumns(of) for of in _ways(subjects, sizes, tile)]
    asked = [columns for columns in ways if model.reads in (None, columns.reads)]
    fitting = [columns for columns in asked if (columns.inputs, columns.outputs) == (inputs, outputs)]
    name = by_algorithm(subjects)[0].name
    if len(fitting) == 1:
        return FittedModel(model, fitting[0]), fitting[0].of
    if fitting:
        raise InputError(f"{model.name} could read states or cells of {name}; choose one with {option('reads')}")
    if not asked:
        raise InputError(f"{model.name} is declared to read {model.reads}, which these settings exclude for {name}")
    tried = " or ".join(columns.sentence for columns in asked)
    given = f"it takes {counted(inputs, 'column')} and gives {outputs:,}"
    raise InputError(f"{model.name} does not fit {name}: {given}. A network reads {tried}")


def _ways(subjects: Programs, sizes: SizesAsked | None, tile: Tile | None) -> Iterator[Pattern]:
    """Yields the whole state and the cells of these programs, where a network could read them."""
    if len(subjects) == 1 and isinstance(subjects[0], Algorithm) and sizes is None and tile in (None, "all"):
        yield Pattern.of_state(subjects[0].program)
    if tile != "all":
        yield kinds_of(subjects, sizes)


def kinds_of(programs: Programs, sizes: SizesAsked | None = None) -> Pattern:
    """Returns one cell of every kind in these programs: at every size if this can be proved, otherwise at their own."""
    every = sizes is None and len(programs) == 1
    looked = at_every_size_or_own(programs[0]) if every else in_sizes(programs, sizes)
    return pattern_of([one.program for one in looked.programs])


def state_table(what: Subject | Sequence[Subject], reads: Reads, sizes: SizesAsked | None) -> StateTable:
    """Returns the table for `Model.table`."""
    from bitwright.proofs.exhaustion.judges import states_of, written_bits

    if reads not in READS:
        raise InputError(f"{option('reads')} must be {' or '.join(READS)}, got {reads!r}")
    subjects = as_programs(what)
    if reads == "cells":
        columns = ModelColumns(kinds_of(subjects, sizes))
    elif sizes is None and len(subjects) == 1 and isinstance(subjects[0], Algorithm):
        columns = ModelColumns(Pattern.of_state(subjects[0].program))
    else:
        raise InputError(f"{option('sizes')}, several programs and node programs work only with cells")
    domain = states_of(columns, by_algorithm(subjects)[0], "states")
    if domain.size > _MOST:
        raise InputError(f"there are {domain.size:,} states, more than a table's limit of {_MOST:,}")
    parts = []

    def look(matched: BoolArray, numbers: Any, step: int, times: int, own: slice) -> None:  # noqa: ARG001
        asked = np.zeros((len(matched), columns.program.bits), dtype=bool)
        asked[:, own] = True
        parts.append((columns.rows(matched), written_bits(columns.program, matched) & asked, asked))

    domain.visit(0, domain.size, look)
    inputs, labels, asked = (np.concatenate(each) for each in zip(*parts, strict=True))
    given = columns.bits_given
    return StateTable(
        inputs.astype(np.float32),
        labels[:, given].astype(np.float32),
        asked[:, given],
        columns.input_names,
        columns.output_names,
    )


def model_engine(algorithm: Algorithm, given: Any) -> Engine:
    """Returns the engine that runs a program with your own network."""
    from bitwright.engines.cells.engine import CellEngine
    from bitwright.engines.external import ModelDecider

    found, of = fit_model(given, [algorithm])
    return CellEngine(algorithm.program, of, ModelDecider(found))
