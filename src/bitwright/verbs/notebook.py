"""Views for notebooks: programs, algorithms, traces, runs, networks and certificates as HTML and SVG."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import singledispatch
from html import escape

from bitwright.common.bits import any_digits
from bitwright.common.errors import InputError, counted
from bitwright.pages.cell_diagram import cell_diagram_svg
from bitwright.pages.graph import graph_page
from bitwright.pages.page import run_title, trace_page
from bitwright.pages.svg import trace_svg
from bitwright.rules import Algorithm, GraphAlgorithm, Program, summary
from bitwright.rules.trace import Trace
from bitwright.runs.run import Run
from bitwright.transformers.decision import Decision
from bitwright.verbs.certificates import Certificate
from bitwright.verbs.network import Network
from bitwright.verbs.reports import Summary

MOST_ROWS, MOST_STEPS, MOST_BITS, MOST_BYTES = 30, 120, 400, 4 << 20  # notebooks store everything they show


@singledispatch
def html_of(thing: object) -> str | None:
    """HTML for a notebook, or None where there is nothing to show."""
    raise TypeError(f"there is no view of {type(thing).__name__}")


@singledispatch
def svg_of(thing: object) -> str | None:  # noqa: ARG001
    """A picture for a notebook, or None where there is none."""
    return None


@html_of.register
def _(program: Program) -> str:
    return f"<div><strong>Program</strong>: {program.sizes}{_rules(program)}{svg_of(program) or ''}</div>"


@html_of.register
def _(algorithm: Algorithm) -> str:
    program = algorithm.program
    words = [
        f"{what} {', '.join(f'{word.name} ({len(word.bits):,})' for word in found[:12])}"
        for what, found in (("in:", algorithm.inputs), ("out:", algorithm.outputs))
        if found
    ]
    about = f"<strong>{escape(algorithm.name)}</strong> {escape(algorithm.description)}"
    return f"<div>{about}<br>{'; '.join([*words, program.sizes])}{_rules(program)}{svg_of(program) or ''}</div>"


@html_of.register
def _(trace: Trace) -> str:
    picture, shown = svg_of(trace), min(trace.steps, MOST_STEPS)
    some = "" if shown == trace.steps else f"; the first {shown:,} are shown"
    sizes = f"{counted(trace.steps, 'step')} of {counted(trace.layout.size, 'bit')}{some}"
    return f"<div><strong>Trace</strong>: {sizes}<br>{picture or ''}</div>"


@html_of.register
def _(run: Run) -> str:
    title = f"<strong>{escape(run_title(run))}</strong>"
    with any_digits():
        rows = [(f"<code>{escape(name)}</code>", str(value)) for name, value in run.outputs.items()]
    tables = _table(("output", "value"), rows) if rows or not isinstance(run.algorithm, GraphAlgorithm) else ""
    tables += _nodes(run)
    facts = [counted(run.steps, "step"), f"engine {run.engine}"]
    facts += [f"{run.rounding} rounding"] * (run.rounding is not None)
    facts += [f"smallest margin {run.margin:.3g}"] if run.margin is not None else []
    facts += [] if run.halted else ["<em>did not halt within its step limit</em>"]
    short = f"<div>{title}<br>{', '.join(facts)}{tables}</div>"
    if run.trace is None or run.trace.packed.nbytes > 8 * MOST_BYTES:
        return short
    try:
        page = graph_page(run) if isinstance(run.algorithm, GraphAlgorithm) else trace_page(run)
    except InputError:
        return short
    if len(page) > MOST_BYTES:
        return short
    # Without allow-same-origin the page can read nothing of the notebook around it.
    return (
        f'<iframe srcdoc="{escape(page)}" sandbox="allow-scripts" width="100%" height="640" '
        'style="border:1px solid #8884;border-radius:8px" title="Trace"></iframe>'
    )


def _nodes(run: Run) -> str:
    """A row for each node of a graph, with its outputs."""
    if not isinstance(run.algorithm, GraphAlgorithm):
        return ""
    names = [*next(iter(run.nodes.values()))]
    with any_digits():
        rows = [
            [escape(str(node)), *("" if own[name] is None else escape(str(own[name])) for name in names)]
            for node, own in run.nodes.items()
        ]
    return _table(("node", *(f"<code>{escape(name)}</code>" for name in names)), rows)


@html_of.register
def _(certificate: Certificate) -> str:
    headline, *lines = certificate.report()
    return _report(headline, [(line[:12].strip(), line[12:]) for line in lines], certificate.certified)


@html_of.register
def _(summary: Summary) -> str:
    return _report(summary.sentence, [(line.strip(),) for line in summary.rows()], bool(summary))


def _report(headline: str, lines: Sequence[Sequence[str]], good: bool) -> str:
    """A headline in the colour of the verdict, and rows below it."""
    rows = [[escape(part) for part in line] for line in lines]
    colour = "#00815d" if good else "#c8321f"
    return f'<div><strong style="color:{colour}">{escape(headline)}</strong>{_table((), rows)}</div>'


@html_of.register
def _(decision: Decision) -> str:
    headline, *lines = str(decision).splitlines()
    return _report(headline, [line.strip().split("  ", 1) for line in lines], bool(decision))


@html_of.register
def _(network: Network) -> str:
    found = network.to_dict()
    rows = [
        ("trained for", escape(found["trained_for"])),
        ("width", f"{network.width:,}; {network.bytes:,} bytes of weights"),
        ("training", f"seed {found['seed']}, {found['steps']:,} steps, largest error {found['error']:.2g}"),
        ("claim", escape(found["claim"])),
        ("sha256", f"<code>{network.digest}</code>"),
    ]
    return f"<div><strong>Network</strong>: {escape(network.sentence)}{_table(('', ''), rows)}</div>"


@svg_of.register
def _(program: Program) -> str | None:
    try:
        return cell_diagram_svg(program)
    except InputError:  # too many kinds of cells for one picture
        return None


@svg_of.register
def _(algorithm: Algorithm) -> str | None:
    return svg_of(algorithm.program)


@svg_of.register
def _(trace: Trace) -> str | None:
    if trace.layout.size > MOST_BITS:
        return None
    return trace_svg(trace.first(MOST_STEPS))


@svg_of.register
def _(run: Run) -> str | None:
    return None if run.trace is None else svg_of(run.trace)


def _rules(program: Program) -> str:
    found = summary.rules(program)
    rows = [(f"<code>{escape(rule.text[:300])}</code>", f"{rule.count:,}") for rule in found]
    return f"<details><summary>{counted(len(rows), 'rule')}</summary>{_table(('rule', 'templates'), rows)}</details>"


def _table(headings: Sequence[str], rows: Sequence[Iterable[str]]) -> str:
    """Rows of HTML cells; the first column to the left."""
    head = "".join(f'<th style="text-align:left">{heading}</th>' for heading in headings)
    body = "".join(
        "<tr>" + "".join(f'<td style="text-align:left">{cell}</td>' for cell in row) + "</tr>"
        for row in rows[:MOST_ROWS]
    )
    more = f"<p>and {len(rows) - MOST_ROWS:,} more</p>" if len(rows) > MOST_ROWS else ""
    return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>{more}"
