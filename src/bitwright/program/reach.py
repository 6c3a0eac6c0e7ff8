"""Bits that may ever be on, by the rules alone: an overestimate, never too few."""

from __future__ import annotations

import numpy as np

from bitwright.bits import BoolArray
from bitwright.program.algorithm import Algorithm
from bitwright.program.layout import IntArray
from bitwright.program.program import Program


def possible(algorithm: Algorithm) -> tuple[BoolArray, BoolArray]:  # (k,), (K,)
    """Bits that some state of a run may have on, and templates that some state may match.

    A bit may be on if an input or the start sets it, or a template that may match writes it; a template may match if
    all bits that it wants on may be. What it wants off is left out of account.
    """
    program = algorithm.program
    wanting, wanted = wanted_bits(program)
    missing = np.bincount(wanting, minlength=program.templates)  # of the bits that each template wants on
    order = np.argsort(wanted, kind="stable")
    by_bit, first = wanting[order], np.searchsorted(wanted[order], np.arange(program.bits + 1))
    bits, templates = np.zeros(program.bits, dtype=bool), missing == 0
    bits[list(algorithm.start)] = True
    for word in algorithm.inputs:
        bits[list(word.bits)] = True
    bits[_slices(program.write_bits, program.write_start, np.flatnonzero(templates))] = True
    fresh = np.flatnonzero(bits)
    while len(fresh):
        touched, times = np.unique(_slices(by_bit, first, fresh), return_counts=True)
        missing[touched] -= times
        woken = touched[missing[touched] == 0]
        templates[woken] = True
        written = np.unique(_slices(program.write_bits, program.write_start, woken))
        fresh = written[~bits[written]]
        bits[fresh] = True
    return bits, templates


def wanted_bits(program: Program) -> tuple[IntArray, IntArray]:
    """Pairs of a template and a bit that it wants on."""
    sizes = np.diff(program.block_start)[program.template_block]
    templates = np.repeat(np.arange(program.templates), sizes)
    place = np.arange(len(templates)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    on = program.template_config[templates] >> place & 1 == 1
    bits = program.block_bits[program.block_start[program.template_block[templates]] + place]
    return templates[on], bits[on]


def _slices(values: IntArray, first: IntArray, rows: IntArray) -> IntArray:
    """values[first[r]:first[r + 1]] for all rows r, one after the other."""
    lengths = first[rows + 1] - first[rows]
    within = np.arange(int(lengths.sum())) - np.repeat(np.cumsum(lengths) - lengths, lengths)
    return np.asarray(values[np.repeat(first[rows], lengths) + within])
