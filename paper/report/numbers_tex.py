"""Writes build/numbers.tex: every number and table row of the report, from what the repository stores.

    python -m paper.report.numbers_tex [FOLDER]

The text asks for a number by its name, `\\N{size addition calibrated}`, and for the rows of a table by `\\rows{cells}`.
Closed forms are computed anew; what was trained or run comes from tables, logs and pages below docs.
"""

from __future__ import annotations

import math
import re
import sys
from pathlib import Path
from typing import Any

import numpy as np

from bitwright import addition, multiplication, size
from bitwright.version import __version__
from paper.report import law
from paper.report.stored import line, log, page, page_table, said, table
from paper.report.tex import cell, definitions, fixed, powers, row, whole
from paper.width_integrals import Integrals

PER_EXAMPLE = 200  # hidden units for each example from which on the law is compared


def numbers() -> dict[str, str]:
    """Every number of the text by its name."""
    return {
        **_rounding(),
        **_training(),
        **_width(),
        **_integers(),
        **_cells(),
        **_executions(),
        **_graphs(),
        **_errata(),
    }


def rows() -> dict[str, str]:
    """The rows of every table by its name."""
    return {
        **law.terms(),
        "balanced": _lines(_balanced_row(cells) for cells in _balanced()),
        "width": _lines(_width_row(found) for found in log("width-law.jsonl", what="exact")),
        "proofs": _lines(_proof_row(found) for found in log("h200-proofs.jsonl", what="proof")),
        "bits": _lines(row(*map(cell, cells)) for cells in page_table("explanation/networks.md", "bits")),
        "cells": _lines(_cells_row(found) for found in log("cells.jsonl") if found.get("exact") == 10),
        "executions": _lines(_executions_row(cells) for cells in _executions_table()),
        "graphs": _lines(
            row(*(cell(re.sub(r" \(\d.*\)", "", text)) for text in cells))  # without what it is at other degrees
            for cells in page_table("explanation/results.md", "", "flooding", "breadth-first search")
            if cells[0] in _GRAPH_ROWS
        ),
    }


def _rounding() -> dict[str, str]:
    sizes = size(addition(10)).to_dict()
    found = {
        "version": __version__,
        "delta": f"{sizes['delta']:g}",
        "confidence": f"{1 - sizes['delta']:g}",
        "size addition printed": whole(sizes["sign"]["networks"]),
        "size addition tight": whole(sizes["sign_tight"]["networks"]),
        "size addition calibrated": whole(sizes["calibrated"]["networks"]),
        "random programs": said("explanation/theory.md", r"rejects \d+ of (\d+) such programs"),
        "random refused": said("explanation/theory.md", r"rejects (\d+) of \d+ such programs"),
        "random failing": said("explanation/theory.md", r"such programs, although only (\d+) of these"),
    }
    bits = max(int(one["bits"]) for one in table("figures/ensemble-complexity.csv", task="addition"))
    found["ensembles bits"] = whole(bits)
    for task in ("addition", "multiplication"):
        [last] = table("figures/ensemble-complexity.csv", task=task, bits=str(bits))
        found[f"ensembles {task} printed"] = whole(last["sign_printed"])
        found[f"ensembles {task} calibrated"] = whole(last["calibrated"])
    margins = table("figures/beyond-margin.csv")
    found["margin states"] = whole(_only(one["inputs"] for one in margins))
    found["margin trials"] = whole(len({one["trial"] for one in margins}))
    return found


def _training() -> dict[str, str]:
    [every] = table("figures/beyond-every.csv")
    steps = {cells[0].split()[0]: cells for cells in _balanced()}
    at_ten = {"K": 10, "what": "ensemble, fused kernels"}
    fast = line("h200-training.jsonl", **at_ten, descent="balanced")
    return {
        "every width": whole(every["width"]),
        "every K": whole(every["K"]),
        "every inputs": whole(every["inputs"]),
        "every evaluations": whole(every["evaluations"]),
        "every wrong": "none" if every["wrong_steps"] == every["wrong_answers"] == "0" else every["wrong_steps"],
        **{f"balanced {task}": _second(cells[4]) for task, cells in steps.items()},
        **{f"balanced {task} plain": _second(cells[3]) for task, cells in steps.items() if cells[3]},
        "balanced multiplication momentum": _second(steps["multiplication"][4]),
        "rate K": whole(fast["K"]),
        "rate width": whole(fast["width"]),
        "rate balanced": whole(fast["networks_per_second"]),
        "rate plain": whole(line("h200-training.jsonl", **at_ten, descent="plain")["networks_per_second"]),
        "rate authors": fixed(line("h200-training.jsonl", K=10, what="authors' loop")["networks_per_second"], 2),
    }


def _width() -> dict[str, str]:
    spreads = table("runs/width-law-h200.csv")
    if len({one["program"] for one in spreads}) != 7:
        raise LookupError("width-law-h200.csv: the text says that there are seven programs")
    compared = [float(one["ratio"]) for one in spreads if int(one["width"]) >= PER_EXAMPLE * int(one["K"])]
    widest = sorted({int(one["width"]) for one in spreads})[-2:]
    wide = [float(one["ratio"]) for one in spreads if int(one["width"]) in widest]
    exact = log("width-law.jsonl", what="exact")
    more = page_table("explanation/theory.md", "program", "domain", "K", "expected width")
    sizes = next(
        cells for cells in page_table("explanation/theory.md", "", "expected, all states") if "addition" in cells[0]
    )
    return {
        "width integrals": whole(len(vars(Integrals(np.array(2.0))))),
        "width bias": said("explanation/theory.md", r"up to (\d+)% of a standard deviation on average") + r"\,\%",
        "normal quantile": "1.96",
        "spread members": whole(_only(one["members"] for one in spreads)),
        "spread per example": whole(PER_EXAMPLE),
        "spread count": whole(len(compared)),
        "spread low": fixed(min(compared)),
        "spread high": fixed(max(compared)),
        "spread wide low": fixed(min(wide)),
        "spread wide high": fixed(max(wide)),
        "spread K most": whole(max(int(one["K"]) for one in spreads)),
        "narrow per example": said("explanation/theory.md", r"The width is at least (\d+) K, because with fewer units"),
        "exact seeds": whole(len({one["seed"] for one in table("figures/width-law-exact.csv")})),
        "size expected": cell(sizes[1]),
        "size runs": cell(sizes[2]),
        "width exact": whole(sum(one["exact"] for one in exact)),
        "width tried": whole(sum(one["seeds"] for one in exact)),
        "width exact more": whole(sum(int(cells[4].split(" of ")[0]) for cells in more)),
        "width tried more": whole(sum(int(cells[4].split(" of ")[1]) for cells in more)),
        "width first": said("explanation/theory.md", r"was exact in (\d+) of 400"),
        "fresh seeds": said("explanation/theory.md", r"of (\d+) fresh seeds each"),
    }


def _integers() -> dict[str, str]:
    product = line("h200-proofs.jsonl", what="proof", program="multiplication")
    return {
        "proof multiplication width": whole(product["width"]),
        "proof multiplication states": whole(product["states"]),
        "runs of four bits": whole(multiplication(4).steps * 4**4),  # no two of these states are counted as one
        "kernel wrong width": said(
            "explanation/networks.md", r"a miscompiled float16 kernel for a network of width (\d+)"
        ),
    }


def _cells() -> dict[str, str]:
    exact = {one["pattern"]: one for one in log("cells.jsonl") if one.get("exact") == 10}
    tile = exact["addition, 8 positions a cell"]
    forth = line("eforth-cells.jsonl")
    return {
        "cells addition bytes": whole(exact["addition, 1 position a cell"]["bytes"]),
        "cells multiplication bytes": whole(exact["multiplication, tile 1"]["bytes"]),
        "cells machine bytes": whole(exact["machine V, 64 and 128 words"]["bytes"]),
        "cells tile examples": whole(tile["examples"]),
        "cells tile states": whole(tile["local_states"]),
        "product steps": whole(multiplication(100).steps),
        "forth words": whole(forth["words"]),
        "forth templates": whole(forth["templates"]),
        "forth steps": whole(forth["steps"]),
        "forth width": whole(forth["cells"]["width"]),
        "forth local": whole(forth["cells"]["local_states"]),
    }


def _executions() -> dict[str, str]:
    return {
        "runs examples": next(cells[2] for cells in _executions_table() if cells[1] == "640 states of runs"),
        "runs local": whole(line("cells.jsonl", pattern="addition, 2 positions a cell")["local_states"]),
        "runs width": cell(
            said("explanation/networks.md", r"345 local states\), with 8-bit integers and width ([\d,]+)\.")
        ),
        "runs trials": whole(len({one["trial"] for one in table("figures/executions.csv")})),
        "unseen states": cell(said("explanation/networks.md", r"([\d,]+) states of 4-bit products contain")),
        "unseen shown": said("explanation/networks.md", r"states of 4-bit products contain (\d+) of the"),
        "unseen local": whole(line("cells.jsonl", pattern="multiplication, tile 1")["local_states"]),
        "unseen wrong": said("explanation/networks.md", r"trained on these was wrong in (\d+) others"),
    }


def _graphs() -> dict[str, str]:
    network = line("graphs.jsonl", what="network")
    small, large = log("graphs.jsonl", what="small graphs"), log("graphs.jsonl", what="large graphs")
    tori = line("graphs.jsonl", what="tori")
    if any(one["wrong"] for one in (*small, *large, tori)) or not network["proved"]:
        raise LookupError("graphs.jsonl: a run was wrong, and the text says that none was")
    if len(small) != 9 or len(large) != 9:
        raise LookupError("graphs.jsonl: the text says that nine programs ran")
    return {
        "graphs programs": {11: "Eleven"}.get(network["programs"], whole(network["programs"])),
        "graphs width": whole(network["width"]),
        "graphs examples": whole(network["examples"]),
        "graphs kinds": whole(network["kinds"]),
        "graphs local": whole(network["local_states"]),
        "graphs small": whole(sum(one["graphs"] for one in small)),
        "graphs small nodes": whole(max(one["nodes"][1] for one in small)),
        "graphs large": whole(sum(one["graphs"] for one in large)),
        "graphs large nodes": whole(max(one["nodes"][1] for one in large)),
        "graphs tori": whole(tori["graphs"]),
    }


def _errata() -> dict[str, str]:
    entries = re.findall(r"^(\d+)\. ", page("explanation/errata.md"), flags=re.MULTILINE)
    random = log("sbn-random-programs.jsonl")
    wrong = sum(one["mismatches"] for one in random)
    return {
        "errata count": whole(len(entries)),
        "errata carry": said("explanation/errata.md", r"with 2 bits, (\d+ of the \d+) sums are wrong"),
        "errata copy": said(
            "explanation/errata.md", r"with l copies, (\d+ of the \d+) products of 4-bit numbers are wrong"
        ),
        "sbn programs": whole(_only(one["programs"] for one in random)),
        "sbn instructions": whole(sum(one["instructions"] for one in random)),
        "sbn mismatches": "no" if wrong == 0 else whole(wrong),
        **_experiment(),
    }


def _experiment() -> dict[str, str]:
    """Networks to ninety per cent at the largest k, both parametrizations, by geometric means over trials."""
    k = str(max(int(one["k"]) for one in table("figures/experiment-1.csv")))
    found = {"experiment k": k}
    for parametrization in ("ntk", "standard"):
        trials = table("figures/experiment-1.csv", k=k, parametrization=parametrization)
        logs = [math.log(int(one["networks"])) for one in trials]
        found[f"experiment {parametrization}"] = whole(math.exp(sum(logs) / len(logs)))
        found["experiment trials"] = whole(len(trials))
    return found


_GRAPH_ROWS = (
    "templates, theirs, D = 3",
    "templates, ours, three edges",
    "examples, ours",
    "local states, ours",
    "networks, ours",
)


def _balanced() -> list[list[str]]:
    return page_table("explanation/networks.md", "", "K", "width", "plain", "momentum", "balanced")


def _balanced_row(cells: list[str]) -> str:
    return row(*(cell(text) or "--" for text in cells))


def _width_row(found: dict[str, Any]) -> str:
    proved = f"{found['exact']} of {found['seeds']}"
    widths = (whole(found[name]) for name in ("K", "width"))
    return row(cell(found["program"]), found["domain"], *widths, proved)


def _proof_row(found: dict[str, Any]) -> str:
    if found["verdict"] != "certified":
        raise LookupError("h200-proofs.jsonl: the text says that every one is certified")
    program = {"addition": addition, "multiplication": multiplication}[found["program"]](found["bits"]).program
    return row(
        f"{found['program']} of {found['bits']} bits",
        whole(program.templates),
        whole(found["width"]),
        {"states": "all states", "runs": "all runs"}[found["domain"]],
        whole(found["states"]),
        whole(found["wrong"]),
        fixed(found["margin"]),
        fixed(found["seconds"], 1),
    )


def _cells_row(found: dict[str, Any]) -> str:
    name = found["pattern"].replace("1 position a cell", "tile 1").replace(" positions a cell", "")
    name = re.sub(r"addition, (\d)$", r"addition, tile \1", name)
    states = powers(found["local_states"]) if found["local_states"] > 10**6 else whole(found["local_states"])
    return row(
        cell(name),
        whole(found["kinds"]),
        whole(found["examples"]),
        f"${states}$",
        whole(found["width"]),
        fixed(found["smallest_margin"]),
        whole(found["bytes"]),
    )


def _executions_table() -> list[list[str]]:
    return page_table("explanation/networks.md", "cells", "training data", "different examples")


def _executions_row(cells: list[str]) -> str:
    of, source, examples, *wrong = cells
    name = of.replace(" of 8 bits, 2 positions", ", tile 2").replace(" of 4 bits, 1 position", "")
    return row(name, cell(source), examples.split(",")[0], *map(cell, wrong))


def _second(text: str) -> str:
    """Of two numbers of steps, to an error of 1e-3 and of 1e-5, the second."""
    return text.split(", ")[1]


def _only(values: Any) -> str:
    """The value that all have."""
    [value] = set(values)
    return str(value)


def _lines(found: Any) -> str:
    return "\n".join(found)


def main() -> None:
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).parent / "build"
    folder.mkdir(parents=True, exist_ok=True)
    text = definitions("number", numbers()) + definitions("rows", rows())
    (folder / "numbers.tex").write_text("% Written by numbers_tex.py; do not edit.\n" + text, encoding="utf-8")


if __name__ == "__main__":
    main()
