"""Types that stand in signatures of the Python API and have no entry of their own, each in a sentence."""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from importlib import import_module

ALIASES = {
    "AnyNetwork": "A `FloatNetwork` or an `IntegerNetwork` of `bitwright.networks`: the weights of a `Network`.",
    "Blocks": "Which bits are read together, for `infer`: a text such as that of a block line, a rule file, a program, "
    "or lists of names.",
    "BoolArray": "A NumPy array of bool.",
    "Exportable": "What `export` takes as a program: an `Algorithm`, a `Program`, a `NodeProgram`, or an image for "
    "machine V as a `SubleqProgram`.",
    "Float": "A NumPy array of floating-point numbers.",
    "FloatArray": "A NumPy array of floating-point numbers.",
    "Given": "What `validate` takes as an oracle: a function, its name as module:function, or an oracle of "
    "`bitwright.validation`; and what `infer` takes: `Executions`, or one or several .npz files of them; and what "
    "a `Model` is made of: an ONNX file, a PyTorch module or a function.",
    "Activation": 'The function of an MLP: `"gelu"`, `"gelu_tanh"`, `"relu"` or `"silu"`.',
    "Chain": "Matrices that are applied from left to right, as a tuple of `Linear`; empty for the identity.",
    "Group": "A step of decoding, the symbol that was written last, and the right symbol.",
    "Ints": "A NumPy array of integers.",
    "Method": 'How a claim was decided: `"ranges"`, `"boxes"`, `"all inputs"` or `"search"`.',
    "Report": "A function that is called with the progress of training: a stage, steps done and in all, seconds left.",
    "Step": "A function from a state and the symbols of a column to the next state and a symbol of the answer.",
    "Halt": 'When a run ends: the number of a bit, `"fixed point"`, or None for a fixed number of steps.',
    "Int8": "A NumPy array of integers of 8 bits.",
    "IntArray": "A NumPy array of integers.",
    "Networks": "What `run` and `validate` take as `network`: a `Network`, its file, or several of these in a list.",
    "Offsets": "Places around a cell of a grid, as pairs: rows down and columns right.",
    "PathName": "The name of a file, as a str or a `pathlib.Path`.",
    "Progress": "A function that long work calls on the way, with what is done and how much there is, such as "
    "`lambda done, total: print(done, total)`. `progress=True` writes lines to standard error instead.",
    "Provable": "What `certify` takes as `network`: a `Network` or its file; or a network of your own, as a `Model`, "
    "an ONNX file, a PyTorch module or a function of an array of rows.",
    "Reads": 'What a network of your own reads: `"states"`, `"templates"` or `"cells"`.',
    "Reader": "A function that gives the next byte of the input, or None where there is no more.",
    "Scale": 'What calibrated rounding measures in: `"ntk"`, `"last-layer"`, `"plain"` or `"scaled"`.',
    "Scope": 'What may be wrong with probability delta: `"input"`, `"inputs"` (all of them) or `"runs"`.',
    "Sized": "What `size` takes: an `Algorithm`, a `Program`, a `NodeProgram`, a file or a shipped name.",
    "Tile": 'How many neighbouring cells are taken as one, from 1 to 16, or `"all"`: the whole state.',
    "SizesAsked": "Sizes of a program: `'1..64'`, `'l=1..64,k=3'`, `range(1, 65)`, `[4, 5, 6]` or one number.",
    "Source": "Where executions come from: `'runs'`, `'states'`, a .npz file, or `Executions`.",
    "Sources": "The digests of an oracle's module and of all modules that it imports.",
    "Start": "The outputs of a network before training: `'zero'` or `'random'`.",
    "Subject": "A program: an `Algorithm`, a `Program`, a `NodeProgram`, the path of its file, or a shipped name.",
    "Terms": "An OR of ANDs of bits, as lists of their numbers from 1.",
    "Trainer": "A function from a program and a recipe to a `FloatNetwork`.",
    "Trainable": "What `train` takes: an `Algorithm`, a `Program`, a `NodeProgram`, or the path or name of one.",
    "Triple": "Three numbers that decide a bit in the limit: matches n, writers c, and those of them that match m.",
    "Undetermined": "What becomes of writes that no execution determines: `'off'`, `'on'` or `'refuse'`.",
    "What": "What a function is about: an `Algorithm`, a `Program`, a `NodeProgram`, a file or a shipped name.",
    "Writer": "A function that takes a byte of output.",
}
# Classes that one is handed, and need not make; their docstrings say what they are.
CLASSES = {
    "bitwright.api.chain": "ClaimChain",
    "bitwright.proofs.certificate": "LimitVerdict",
    "bitwright.proofs.exhaustion.certificate": "NetworkVerdict",
    "bitwright.api.certificates": "ProvedProgram StateReport",
    "bitwright.api.executions": "Sample",
    "bitwright.api.export.claims": "ExportClaim",
    "bitwright.proofs.claims": "Claim",
    "bitwright.api.images": "ComputerRun",
    "bitwright.api.network": "Training",
    "bitwright.machines.programs": "SubleqProgram",
    "bitwright.api.show": "KindOfCells",
    "bitwright.api.telling": "Teller",
    "bitwright.inference.contradiction": "Contradiction",
    "bitwright.inference.families.search": "FoundFamilies",
    "bitwright.inference.find_blocks": "FoundBlocks",
    "bitwright.inference.local_rule": "Disagreement",
    "bitwright.inference.recovered": "ProgramComparison Recovered",
    "bitwright.transformers.certificate": "DecoderCertificate",
    "bitwright.transformers.margins": "SmallestMargin WrongInputs",
    "bitwright.transformers.training": "TrainedDecoder",
    "bitwright.validation.task": "Inputs",
    "bitwright.theory.encoding.state_set": "StateSet",
    "bitwright.engines.cells.engine": "CellEngine",
    "bitwright.engines.cells.network": "CellTables",
    "bitwright.engines.cells.trained": "TrainedCells",
    "bitwright.machines.sbn.code": "Executed",
    "bitwright.networks.descent": "Plan",
    "bitwright.networks.train": "ExecutionSet",
    "bitwright.networks.foreign.model": "StateTable",
    "bitwright.networks.integer": "IntegerNetwork Rounded",
    "bitwright.networks.network": "FloatNetwork Origin",
    "bitwright.networks.quantize": "Cost",
    "bitwright.networks.start": "NetworkShape",
    "bitwright.program.algorithm": "Sizing",
    "bitwright.program.builder": "Rule",
    "bitwright.program.cells": "CellKinds Cells Kind",
    "bitwright.program.graph.schema": "NodeWord Schema",
    "bitwright.program.graph.topology": "Board",
    "bitwright.program.graph.wiring": "GraphWiring",
    "bitwright.program.ensures": "EnsureLine",
    "bitwright.program.pattern": "Pattern",
    "bitwright.program.program": "Wired",
    "bitwright.program.text.parser": "SyntaxTree",
    "bitwright.running.observers": "Watch",
    "bitwright.theory.closed_form": "Weights",
    "bitwright.theory.decisions": "Decisions",
    "bitwright.theory.width_bounds": "WorstSpread",
    "bitwright.theory.width_plan": "WorstError",
    "bitwright.pages.text": "Column",
    "bitwright.workers": "Workers",
}


def types() -> dict[str, str]:
    """Every such name, and what it is."""
    return dict(sorted([*ALIASES.items(), *_classes()]))


def _classes() -> Iterator[tuple[str, str]]:
    for room, names in CLASSES.items():
        for name in names.split():
            first = (inspect.getdoc(getattr(import_module(room), name)) or "").split("\n\n")[0]
            yield name, f"{' '.join(first.split())} ({room})"
