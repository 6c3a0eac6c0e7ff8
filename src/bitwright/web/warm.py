"""A small request of every kind, which loads modules and compiles loops before a worker loses access to files."""

from __future__ import annotations

from dataclasses import replace

from bitwright.api.telling import keep_nothing
from bitwright.web import work
from bitwright.web.graphs import laid_out
from bitwright.web.limits import Limits
from bitwright.web.told import unheard

_HOW = {"inputs": {}, "console": "", "rounding": "calibrated", "networks": 1, "seed": 0, "width": None, "delta": 0.1}
_LIMITS = {"max_steps": None, "max_instructions": None}
_ADDITION = {"kind": "addition", "bits": 2, "counter": False}
_RULES = {"kind": "rules", "name": "n", "text": "bits x\nblock x\nwhen x=1 write x\nstart x\n"}
_RING = "bits x[64]\nblock x[i] for i in 1..64\nwhen x[i]=0 write x[i] for i in 1..64\nsteps 500\n"
_DENSE = {"kind": "rules", "name": "n", "text": _RING}
_GRAPH = {"shape": "path:2", "nodes": [], "edges": [], "directed": False}
_NODES = {"kind": "nodes", "name": "n", "text": "bits x\nblock x\nwhen x=1 write x far.x\ninput s = x", "graph": _GRAPH}
_SHAPE = {"words": 16, "width": 8, "dialect": "howerj"}
_IMAGE = "6 -1 3 7 7 -1 65"
_SUBLEQ = {"kind": "subleq", "name": "n", "language": "image", "text": _IMAGE, **_SHAPE}


def warm_up(limits: Limits, what: str) -> None:
    """Warms up a process for checks or for runs; loops that runs compile later are not kept."""
    if not limits.warm:
        work.check(_ADDITION, limits)
    else:
        _check(limits)
    if what != "check":
        _run(limits)
        keep_nothing()  # loops that are not compiled yet are compiled where they are needed, without files


def _check(limits: Limits) -> None:
    work.check(_ADDITION, limits)
    work.check(_NODES, limits)
    laid_out(_GRAPH, limits)
    for language, text in (("assembly", "dec n"), ("python", "def f(a):\n    return a\n")):
        work.check({"kind": "sbn", "name": "n", "text": text, "machine": "A", "language": language}, limits)
    for language, text in (("image", _IMAGE), ("assembly", "halt")):
        work.check({**_SUBLEQ, "language": language, "text": text}, limits)
    for text in (_RULES["text"], "bits"):
        work.check({**_RULES, "text": text}, limits)


def _run(limits: Limits) -> None:
    from bitwright.web.training import train_network

    small = replace(limits, width=64)
    for engine in ("templates", "kernel", "limit", "sampled", "network")[: None if limits.warm else 2]:
        request = {"source": _ADDITION, **_HOW, **_LIMITS, "inputs": {"p": "1", "q": "1"}, "width": 64}
        work.run({**request, "engine": engine}, small, unheard)
    if not limits.warm:
        return
    for engine, rounding in (("templates", "calibrated"), ("limit", "calibrated"), ("limit", "sign")):
        work.run({"source": _SUBLEQ, **_HOW, **_LIMITS, "engine": engine, "rounding": rounding}, limits, unheard)
    long = {**_HOW, "max_steps": None, "max_instructions": 2_000, "engine": "templates"}
    work.run({"source": {**_SUBLEQ, "text": "0 0 0"}, **long}, limits, unheard)  # instructions that repeat
    work.run({"source": _DENSE, **long}, limits, unheard)  # cells that all change
    work.run({"source": _NODES, **_HOW, **_LIMITS, "inputs": {"s": "0"}, "engine": "templates"}, limits, unheard)
    for of in ("cells", "whole"):
        train_network({"source": _RULES, "of": of, "seed": 0, "width": 64}, small, unheard)
