"""Shows programs, algorithms, traces, runs, networks and certificates as HTML in notebooks."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from functools import singledispatch
from html import escape
from itertools import islice

from bitwright.common.bits import any_digits
from bitwright.common.errors import InputError, Report, counted
from bitwright.pages import cell_diagram_svg, graph_page, run_title, trace_page, trace_text
from bitwright.rules import Algorithm, GraphAlgorithm, Program, summary
from bitwright.rules.trace import Trace
from bitwright.runs.run import Run
from bitwright.verbs.network import Network

MOST_ROWS, MOST_STEPS, MOST_BYTES = 30, 120, 4 << 20  # notebooks store everything they show


@singledispatch
def html_of(thing: object) -> str:
    """Returns HTML for a notebook."""
    raise TypeError(f"there is no view of {type(thing).__name__}")


@html_of.register
def _(program: Program) -> str:
    rules = [(text[:300], f"{count:,}") for text, count in summary.rules(program)]
    try:
        picture = cell_diagram_svg(program)
    except InputError:  # too many kinds of cells for one picture
        picture = ""
    table = f"<details><summary>{counted(len(rules), 'rule')}</summary>{_table(rules)}</details>"
    return f"<div><strong>Program</strong>: {program.sizes}{table}{picture}</div>"


@html_of.register
def _(algorithm: Algorithm) -> str:
    words = [
        f"{what} {', '.join(f'{word.name} ({len(word.bits):,})' for word in found[:12])}"
        for what, found in (("in:", algorithm.inputs), ("out:", algorithm.outputs))
        if found
    ]
    about = f"<strong>{escape(algorithm.name)}</strong> {escape(algorithm.description)}"
    return f"<div>{about}<br>{'; '.join(words)}</div>{html_of(algorithm.program)}"


@html_of.register
def _(trace: Trace) -> str:
    lines = "\n".join(islice(trace_text(trace), MOST_STEPS))
    return f"<div><strong>Trace</strong>: {counted(trace.steps, 'step')}<pre>{escape(lines)}</pre></div>"


@html_of.register
def _(run: Run) -> str:
    page = ""
    if run.trace is not None and run.trace.packed.nbytes <= 8 * MOST_BYTES:
        try:
            page = graph_page(run) if isinstance(run.algorithm, GraphAlgorithm) else trace_page(run)
        except InputError:
            page = ""
    if 0 < len(page) <= MOST_BYTES:
        # Without allow-same-origin, the page cannot read the notebook around it.
        return (
            f'<iframe srcdoc="{escape(page)}" sandbox="allow-scripts" width="100%" height="640" '
            'style="border:1px solid #8884;border-radius:8px" title="Trace"></iframe>'
        )
    with any_digits():
        rows: list[tuple[str, ...]] = [(name, str(value)) for name, value in run.outputs.items()]
        if isinstance(run.algorithm, GraphAlgorithm):
            nodes = list(run.nodes.items())
            rows += [("node", *next(iter(run.nodes.values()), {}))]
            rows += [(str(node), *("" if one is None else str(one) for one in own.values())) for node, own in nodes]
    undone = "" if run.halted else "; did not halt within its step limit"
    return _report(f"{run_title(run)}{undone}", [*rows, *((line,) for line in run.sentences)], run.halted)


@html_of.register
def _(result: Report) -> str:
    headline, *lines = str(result).splitlines()
    return _report(headline, [re.split("  +", line.strip(), maxsplit=1) for line in lines], bool(result))


@html_of.register
def _(network: Network) -> str:
    claim = "unknown" if network.claim is None else network.claim.note
    return _report(f"Network: {network.sentence}", [("claim", claim), ("sha256", network.digest)], True)


def _report(headline: str, rows: Sequence[Sequence[str]], good: bool) -> str:
    """Returns a headline in the colour of the verdict, and rows below it."""
    colour = "#00815d" if good else "#c8321f"
    return f'<div><strong style="color:{colour}">{escape(headline)}</strong>{_table(rows)}</div>'


def _table(rows: Sequence[Iterable[str]]) -> str:
    """Returns rows of text as a table."""
    cells = [[f'<td style="text-align:left">{escape(cell)}</td>' for cell in row] for row in rows[:MOST_ROWS]]
    more = f"<p>and {len(rows) - MOST_ROWS:,} more</p>" if len(rows) > MOST_ROWS else ""
    return f"<table>{''.join(f'<tr>{chr(10).join(row)}</tr>' for row in cells)}</table>{more}"
