"""The work behind a request, without the web: checks a text, or runs a program and reports on it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from bitwright import Algorithm, Run
from bitwright.api.certify import certify
from bitwright.api.dataset import training_set_bytes
from bitwright.api.engines import EngineChoice
from bitwright.api.pasted import numbers_of
from bitwright.api.run import run as run_program
from bitwright.api.size import size as size_of
from bitwright.errors import BitwrightError, InputError
from bitwright.pages import graph_page, run_title, trace_page
from bitwright.web.choosing import describe, engine_for, read_source
from bitwright.web.computers import describe_computer, read_computer, run_computer
from bitwright.web.graphs import describe_nodes, node_rows, read_algorithm
from bitwright.web.limits import Limits
from bitwright.web.told import Files, Progress, attempt, json_file, problems_in

_INEXACT = "This is not what the rules give; use more networks or a wider one."


def check(source: Mapping[str, Any], limits: Limits) -> dict[str, object]:
    """The problems of a program by line and column, or its description."""
    try:
        if source["kind"] == "subleq":
            about = describe_computer(read_computer(source, limits), limits)
        elif source["kind"] == "nodes":
            about = describe_nodes(source, limits)
        else:
            about = describe(read_source(source, limits), limits)
    except BitwrightError as error:
        return problems_in(error)
    return {"ok": True, "problems": [], "count": 0, "about": about}


def run(request: Mapping[str, Any], limits: Limits, progress: Progress) -> tuple[dict[str, object], Files]:
    """Runs a program; returns the facts for the page, and the files to download."""
    if request["source"]["kind"] == "subleq":
        return run_computer(request, limits, progress)
    progress("reading the program")
    source, rounding = request["source"], request["rounding"]
    on_graph, values = source["kind"] == "nodes", dict[str, int]()
    algorithm = read_algorithm(request, limits) if on_graph else read_source(source, limits)
    if not on_graph:
        values = numbers_of(request["inputs"])
        algorithm.state(values)  # complains about inputs before anything long begins
    examples = EngineChoice(rounding=rounding).examples(algorithm)
    most = _most_steps(algorithm, request["max_steps"], limits)
    engine = engine_for(algorithm, request, limits, progress)
    done = run_program(
        algorithm,
        values,
        engine=engine,
        steps=most,
        record=True,
        progress=lambda step, limit: progress("running", step, limit),
    )
    progress("comparing with the rules")
    exact = done.exact
    progress("proving")
    proof = attempt(lambda: certify(algorithm, rounding=rounding))
    certificate = {"problem": proof} if isinstance(proof, str) else proof.to_dict()
    size = attempt(lambda: size_of(algorithm, request["delta"]).to_dict())
    progress("writing the trace")
    page, text = (graph_page(done), str(source["text"])) if on_graph else (trace_page(done), algorithm.text())
    files = {"trace.html": page.encode(), "program.bw": text.encode()}
    if not isinstance(proof, str):
        files["certificate.json"] = proof.text().encode()
    if not isinstance(size, str):
        files["size.json"] = json_file(size)
    missing = {}  # downloads that a run can do without, and why they are not there
    if isinstance(learnt := attempt(lambda: _training_set(algorithm, examples, limits)), str):
        missing["training-set.npz"] = learnt
    else:
        files["training-set.npz"] = learnt
    result = done.to_dict()
    files["run.json"] = json_file(result)
    shown: dict[str, Any] = {
        "title": run_title(done),
        "note": _unfinished(done, request["max_steps"]) or ("" if exact is not False else _INEXACT),
        "missing": missing,
        "certificate": certificate,
        "size": {"problem": size} if isinstance(size, str) else size,
        "templates": algorithm.program.templates,
        "exact": exact,
        "networks": list(engine.digests),  # by which one sees that it is the network that was proved
    }
    for name, values in (("inputs", done.inputs), ("outputs", done.outputs)):  # JavaScript would round long numbers
        shown[name] = {name: str(value) for name, value in values.items()}
    if on_graph:
        shown["nodes"] = node_rows(done.nodes)
    return {name: value for name, value in result.items() if name != "value"} | shown, files


def _most_steps(algorithm: Algorithm, asked: int | None, limits: Limits) -> int:
    allowed = min(limits.steps, limits.cells // algorithm.program.bits)
    if asked is None and algorithm.halt is None and (algorithm.steps or 0) > allowed:
        raise InputError(
            f"this program takes {algorithm.steps:,} steps; for its {algorithm.program.bits:,} bits this server makes "
            f"at most {allowed:,}; make it smaller, or give a step limit to see the beginning"
        )
    return allowed if asked is None else min(asked, allowed)


def _training_set(algorithm: Algorithm, examples: int, limits: Limits) -> bytes:
    program = algorithm.program
    if program.templates * max(program.templates, program.bits) > limits.cells:
        raise InputError(f"a training set of {examples:,} examples is too large for this server")
    return training_set_bytes(algorithm, examples)


def _unfinished(done: Run, asked: int | None) -> str:
    if done.halted:
        return ""
    why = "your step limit"
    if done.steps == done.algorithm.steps:
        why = "its 'steps' allows no more"
    elif asked is None or asked > done.limit:
        why = f"the most this server makes for {done.algorithm.program.bits:,} bits"
    return f"It did not halt within {done.steps:,} steps ({why}); what follows is the run so far."
