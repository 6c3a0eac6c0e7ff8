"""Reports of certificates: a headline with the verdict and its subject, and the numbers below it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from bitwright.common.errors import counted, listing, option, rounded_down, thousandths
from bitwright.proofs.claims import ONE_SIZE
from bitwright.proofs.sizes import CoveredSizes

if TYPE_CHECKING:
    from bitwright.proofs.exhaustion.certificate import BitInState
    from bitwright.verbs.certificates import BitNames, Certificate


def limit_report(c: Certificate) -> Iterator[str]:
    """Yields the report on the limit, without the other claims."""
    covers = f", {_covered(c)}" if c.cells else ""
    function = c.function
    if function is not None and function.verdict == "proved" and (at := _at(function.sizes)):
        covers += f"; what the rules compute is proved {at}{_elsewhere(c)}"
    verdict = c.sentence.replace(c.verdict, c.verdict.upper(), 1)
    if c.assumption:
        verdict = f"{verdict.replace(' assuming ', ' ASSUMING ')} (declared, not proved)"
    elif c.n_source == "reachable":
        verdict += f" (n <= {c.n_max:,})"
    yield f"{verdict}: {_function(c)}{_title(c)}in the limit of wide networks, with {c.rounding} rounding{covers}"
    padding = f", {c.padding:,} of them padding" if c.padding else ", no padding"
    yield f"  examples  K = {c.examples:,}{padding}"
    yield f"  matches   n = {c.n_min:,} to {c.n_max:,}, from {c.n_source} ({c.n_scope})"
    yield f"  writers   at most {c.writers_max:,}, at {c.writers_bit}"
    where = "a set bit" if c.rounding == "calibrated" else _situation(c.worst_bit, c.worst_matches, c.worst_writers)
    yield f"  margin    {c.margin_enclosure} at n = {c.worst_n:,}, of {where}, in units of the output"
    if c.masked_bits:
        yield f"  masked    {counted(c.masked_bits, 'bit')} that nothing writes, fixed to 0"
    if c.fails_from is not None:
        failing = _situation(c.fails_bit or "", c.fails_matches or 0, c.fails_writers or 0)
        if c.witness is None:
            yield f"  unproved  at n = {c.fails_from:,}: {failing}; it is not known whether a run reaches such a state"
        else:
            yield f"  fails     at n = {c.fails_from:,}: {failing}"
            yield f"  state     on: {listing(c.witness, 12) or 'no bit'}"
        yield f"  proposal  {c.proposal}"
        declared = c.about.declared
        if declared is not None and c.assumption is None and declared < c.n_max:
            yield f"  declared  the author declares n <= {declared:,}; {option('n')} declared assumes it"
    if c.holds:
        yield "  checked   every number in the file was proved again"
    yield f"  {'pattern' if c.cells else 'program'}   {c.program_id}"
    proves = f"{option('network')} FILE" if option("network") != "network" else "certify(what, network)"
    yield f"  scope     the limit only; {proves} certifies a network"


def network_report(c: Certificate) -> Iterator[str]:
    """Yields the report on a network, without the other claims."""
    title = "" if _computes(c) else _title(c).removesuffix(", ") + ": " * bool(c.about.name)
    yield f"{c.verdict.upper()}: {network_statement(c, title)}"
    yield f"  network   {c.claims[-1].sentence}"
    if c.model is not None:
        yield from _model(c, c.model)
    else:
        weights = f"width {c.width:,}, {counted(c.examples, 'example')}, integers of {c.weight_bits} bits"
        yield f"  weights   {weights}; sha256 {c.network_sha256}"
    ns = [n for n, _, _ in c.by_n]
    yield f"  matches   n = {min(ns):,} to {max(ns):,}" if ns else "  matches   none"
    if c.closest is not None and c.distance is not None and c.margin is not None:
        where = f"{_called(c.closest.bit, c.about.names)} at n = {c.closest.n}"
        if c.model is not None:
            threshold = f"{c.model['threshold']:g}"
            if c.margin < 0:
                yield f"  margin    an output is {-c.margin:.3g} on the wrong side of {threshold}: {where}"
            else:
                yield f"  margin    every output is at least {rounded_down(c.margin)} from {threshold}: {where}"
        else:
            margin = thousandths(c.margin)
            yield f"  distance  every sum is at least {c.distance:,} from its threshold: {where}; margin {margin}"
    if c.counterexample is not None:
        yield from _counterexample(c, c.counterexample)
    if c.holds:
        yield "  checked   every state was tried again, and every number in the file was confirmed"
    yield f"  {'program' if c.kinds is None else 'pattern'}   {c.program_id}"


def _model(c: Certificate, model: Mapping[str, Any]) -> Iterator[str]:
    """Yields the inputs of your own network, and why its outputs are certain."""
    reads = {"states": "a state", "cells": "a cell"}[model["reads"]]
    inputs, outputs = model["columns"]
    columns = f"{inputs:,} input columns ({reads}), {outputs:,} outputs, on above {model['threshold']:g}"
    yield f"  model     {model['form']}, {columns}; sha256 {c.network_sha256}"
    yield f"  numbers   {c.arithmetic}"
    ran = "not installed, so no state was run in it; pip install onnxruntime"
    if model["runtime"] is not None:
        ran = f"{model['runtime'].rpartition(' ')[0]} computes the same outputs in every state"
    yield f"  runtime   {ran}"


def _computes(c: Certificate) -> bool:
    """Whether the function that the network computes is proved."""
    return c.certified and bool(c.about.ensures) and c.function is not None and c.function.verdict == "proved"


def network_statement(c: Certificate, title: str = "") -> str:
    """Returns the subject of the verdict: the function if it is proved too, otherwise every step of the rules."""
    covers = c.covers if c.kinds is None else _covered(c)
    says, function = c.says, c.function
    if function is None or not _computes(c):
        return f"{_function(c)}{title}{says(covers)}"
    sizes = CoveredSizes.read(function.sizes)
    if c.sizes == "all" and sizes is not None and (common := _common(c, sizes)) is not None:
        return f"this network computes {c.about.statement}, at {common.words}"
    at = _at(function.sizes if sizes is None or c.sizes == "all" else c.sizes) or "in this program"
    at += _elsewhere(c)
    return f"this network computes {c.about.statement}, {at}; {says(covers).replace('this network', 'it', 1)}"


def _covered(c: Certificate) -> str:
    """Names the programs that a verdict for cells is about."""
    from bitwright.proofs.exhaustion.certificate import covered_by_cells

    every = _common(c, CoveredSizes()) or CoveredSizes()
    return covered_by_cells(c.sizes, c.about.graphs, every.words)


def _common(c: Certificate, sizes: CoveredSizes) -> CoveredSizes | None:
    """Returns the given sizes at which all cells are also of proved kinds; None if there are none."""
    cells = None if c.coverage is None else CoveredSizes.read(c.coverage.sizes)
    return None if cells is None else sizes & cells


def _at(sizes: str | None) -> str:
    """Returns `at size 8` or `at the sizes 8..12`, or nothing for every size and for a program of fixed size."""
    if sizes is None or sizes == ONE_SIZE:
        return ""
    if (covered := CoveredSizes.read(sizes)) is not None:
        return "" if covered.words == "every size" else f"at {covered.words}"
    return f"at {'the sizes' if '..' in sizes else 'size'} {sizes}"


def _elsewhere(c: Certificate) -> str:
    """Names the size at which a function proved at the program's own size is refuted, if no sizes were given."""
    found = None if c.function is None else c.function.counterexample
    if found is None or c.sizes is not None:
        return ""
    return f" (refuted at {', '.join(f'{name}={value}' for name, value in found['lets'].items())})"


def _function(c: Certificate) -> str:
    """Returns the part of a headline about a function that is refuted or not decided."""
    found = c.function
    if found is None or found.verdict in ("proved", "not stated"):
        return ""
    what = c.about.statement or "what they should"
    return f"the rules {'do not compute' if found.verdict == 'refuted' else 'may not compute'} {what}; "


def _counterexample(c: Certificate, found: BitInState) -> Iterator[str]:
    names, word = c.about.names, "wrong" if c.wrong else "unproved"
    sums = "" if found.sum is None else f"; G = {found.sum:,}, T = {found.threshold:,}"
    yield f"  {word:<9} {_called(found.bit, names)} must be {found.expected} at n = {found.n}{sums}"
    yield f"  state     on: {listing([_called(bit, names) for bit in found.on], 12) or 'no bit'}"
    if names and found.bit not in names:
        yield f"  program   has no cell of {found.bit.split('_')[0]} at these sizes, so this state cannot occur in it"
    if names:
        smallest = ", at the smallest size that has one" if ".." in (c.sizes or "") else ""
        yield f"  names     in brackets: bits of the first cell of this kind, and those that its port sets{smallest}"


def _title(c: Certificate) -> str:
    """Returns `addition (add two 4-bit numbers), `, or nothing if the program is not known."""
    described = f" ({c.about.description})" if c.about.description else ""
    return f"{c.about.name}{described}, " if c.about.name else ""


def _situation(bit: str, matching: int, writers: int) -> str:
    return f"{bit} where {matching:,} of {writers:,} writer{'s' * (writers != 1)} match{'es' * (matching == 1)}"


def _called(bit: str, names: BitNames) -> str:
    """Returns a bit with its names in the first cell of its kind."""
    return f"{bit} ({listing(names[bit], 4)})" if bit in names else bit
