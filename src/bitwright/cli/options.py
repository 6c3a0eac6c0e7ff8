"""Every command-line option, declared once: its group in the help, its verbs and its meaning."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import click
from click.core import ParameterSource

from bitwright.cli.progress import QUIET
from bitwright.cli.targets import Target
from bitwright.common.errors import InputError
from bitwright.verbs.numbers import parse_values
from bitwright.verbs.open import MachineChoice


class _FileName(click.Path):
    """The name of a file or folder; rejects an empty name, which would mean the current folder."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        if value == "":
            self.fail("the file name is empty; give one", param, ctx)
        return super().convert(value, param, ctx)


FILE = _FileName(path_type=Path)
BESIDE = Path(".")  # the certificate next to the network


def _machine(text: str | MachineChoice) -> MachineChoice:
    """A, B or V with an optional size and dialect, such as V:256x16:howerj."""
    found = re.fullmatch(r"([AB])|V(?::(?:(\d{1,9})x(\d{1,3}))?(?::(.+))?)?", str(text))
    if found is None:
        raise InputError(
            f"--machine takes A, B, V or V:WORDSxWIDTH:DIALECT such as V:256x16:howerj, got '{text!s:.40}'"
        )
    words, width = (None if number is None else int(number) for number in found.groups()[1:3])
    return MachineChoice(found[1] or "V", words, width, found[4])


def _tile(text: str | int) -> str | int:
    """The number of neighbouring cells treated as one, or all; verbs reject other values."""
    return int(text) if str(text).isdecimal() and len(str(text)) < 9 else text


def _seed(text: str | int) -> int | range:
    """A seed, or for `train` a range of seeds to try in turn, such as 0..9."""
    found = re.fullmatch(r"(\d{1,20})(?:\.\.(\d{1,20}))?", str(text))
    first, last = (int(found[1]), int(found[2] or found[1])) if found else (1, 0)
    if not first <= last < 2**63:
        raise InputError(f"--seed must be between 0 and {2**63 - 1} or FROM..TO (FROM <= TO), got '{text!s:.50}'")
    return first if found and found[2] is None else range(first, last + 1)


def _with_network(context: click.Context, _: click.Parameter, value: Path | None) -> Path | None:
    """Makes network the default engine if there is a --network option."""
    if value is not None:
        context.default_map = {**(context.default_map or {}), "engine": "network"}
    return value


def _be_quiet(context: click.Context, _: click.Parameter, value: bool) -> None:
    context.meta[QUIET] = value


FORMATS = {
    "c": "one C99 file with a main program",
    "js": "a JavaScript module with type declarations",
    "page": "an HTML page that runs it offline in a browser",
    "onnx": "an ONNX model",
    "vnnlib": "a folder for verifiers with the model and a property for each state",
    "rocq": "a folder with a proof for Rocq (Coq), which make checks",
    "hub": "a folder for the Hugging Face Hub with a model card and the certificate",
    "dataset": "the training set of a program, as a NumPy file",
    "executions": "states of a program and their successors, as a NumPy file",
}
_RUNS = "add multiply run trace validate"
_PROGRAMS = "run show trace train validate export certify size"
# By group: an option, its value (none for a flag), its verbs and its help.
_TABLE = f"""
Options
--output FILE | trace
    Write a .html, .txt or .npz file.
--output FILE | show
    Save a drawing of the kinds of cells and the bits they write to this .svg file.
--output FILE | train
    The .safetensors file to write.
--output FILE | certify
    Write the certificate to this .json file.
--output FILE | export
    The file to write; for --to vnnlib or rocq, a new or empty folder; for hub, a folder.
--output FILE | infer
    The .bw file to write.
--text | show
    Print the whole program, with its cells, as canonical rule text.
--only NAMES | trace
    Names to show, such as p,q (default: all, or memory for .sbn). HTML pages always include every name.
--port N | serve
    The port; 0 picks a free one.
--check FILE | certify
    Prove every claim in this certificate file again; without FILE, use the certificate next to the network.
--network FILE | certify
    The network to prove (.safetensors or ONNX) instead of the limit; for a task, the decoder to prove.
--oracle MODULE:FUNCTION | validate
    A Python function that returns the correct outputs.
--domain NAME | certify
    With --network, the states to check: states (all states, the default), runs (those visited by the runs on all
    inputs), or cells (all local states; the only choice for a network of cells).
--domain NAME | size
    What must be right: one input, all inputs (the default) or all steps of all runs.
--delta P | size
    Maximum probability that any bit is wrong.
--to FORMAT | export
    {"; ".join(f"{form}: {what}" for form, what in FORMATS.items())}. By default, the suffix of -o selects it.
--blocks LAYOUT|NAME|TEXT|find | infer
    The blocks: those of a rule file or NAME, or text such as 'p[1] q[1]; c[1]', or find.  [default: find]
--line TEXT | infer
    For several sizes: add a line such as 'output sum = c[l] p' or 'ensure sum == p + q'; may be repeated.

The program
--bits N | add multiply infer {_PROGRAMS}
    Bit length of the numbers (default: the smallest that fits the inputs, or 4 if there are none).
--order ORDER | {_PROGRAMS}
    For a permutation: the destination of each bit, bit 1 first, such as 3,1,2.
--let NAME=NUMBER | check infer {_PROGRAMS}
    For rule files: override the value of a 'let' line, such as l=16; may be repeated.
--machine A|B|V:WxN:DIALECT | {_PROGRAMS}
    For .sbn programs: the paper's machine A, or B (the default). For SUBLEQ (.sq, .dec, machine-v): V, optionally with
    W words of N bits and a dialect (howerj, kth or plain), such as V:256x16:howerj.
--sizes SIZES | train certify
    For cells: cover every kind of cell at these sizes, such as 1..64 or l=1..64; 'all' covers every size, if this can
    be proved.
--program FILE|NAME | export
    The program that the network was trained for, if the network's file does not name one; for a network of cells with
    --to c, js, page, onnx or rocq, the program to run.
--graph [directed:]FILE|SHAPE | run trace export
    For node programs: an edge list, a .json file, or a shape such as torus:20x30. The prefix directed: makes the edges
    in an edge list directed.

The engine
--engine NAME | {_RUNS}
    The engine: templates (the rules), limit (the mean of infinitely wide networks), sampled (an ensemble drawn from the
    limit) or network (a trained network; without --network, one is trained first).
--rounding NAME | certify {_RUNS}
    How real-valued outputs are rounded to bits: calibrated (bitwright's own, the default) or sign (the paper's).
--padding N | train export certify size {_RUNS}
    Add N examples that never match (App. C of the paper).
--network FILE | {_RUNS}
    A trained network for --engine network; it determines the bit length.
--n BOUND | certify size
    How to bound n, the number of matches in a state: blocks (proved, the default), declared (assumed) or reachable
    (from the runs on all inputs).

Networks
--tile N|all | show train certify {_RUNS}
    Treat N neighbouring cells as one. 'all' treats the whole state as one cell; this covers only a single size.
--networks N | {_RUNS}
    For --engine sampled: the number of networks to average.  [default: 1]
--width N | train {_RUNS}
    Number of hidden units (default: for cells, the fewest that suffice; otherwise, the number from the width law).
--seed N | {_RUNS}
    Random seed of the networks.  [default: 0]
--seed N|N..M | train
    Random seed of the networks; seeds in a range are tried until a network is exact.  [default: 0; 0..9 for cells]
--tolerance X | train
    Largest error allowed on any example.  [default: 0.001; 0.01 for executions]
--device NAME | train certify {_RUNS}
    The device for networks: cpu or cuda.  [default: cpu; cuda for long proofs and validations]
--weight-bits N | train
    Number of bits per integer weight, from 2 to 8.  [default: 8]
--from runs|states|FILE | train export
    Use executions from runs, random states or a .npz file. runs:20 takes every step of 20 runs, and states:500 takes
    500 states; without a number, 20 executions per template are taken.

Inputs
--random N | validate
    Run N random inputs instead of all inputs.

Work and output
--max-steps N | {_RUNS}
    Stop after this many steps, or for an image, this many instructions.
--seconds N | run certify
    Stop after N seconds. For an image, time spent waiting for input does not count. For a task, the default is 600.
--workers WORKERS | certify validate
    Processes to use: 1 (this one), a larger number, all, ray, ray:2 or ray:ADDRESS.
--resume FILE | run certify validate
    Keep finished work in this file, and continue from it if it exists.
--memory FROM:TO | run
    For images: when the run ends, show the words from FROM through TO as signed numbers; a single ADDRESS, or a label
    in a .sq file, also works.
--json | add multiply check examples infer {_PROGRAMS}
    Print the result as JSON.
--quiet | add multiply run check trace train certify validate export infer
    Print only the result, without notes and progress.
"""
_COUNT, _SEEDS, _MANY = click.IntRange(0, 10**9), click.IntRange(0, 2**63), {"multiple": True}
# Settings beyond the table, prefixed with a verb if they are only for that verb. FILE and N are a file and an integer.
_MORE: dict[str, dict[str, Any]] = {
    "export --output": {"required": True},
    "--port": {"type": click.IntRange(0, 65535), "default": 8000, "show_default": True},
    "--check": {"is_flag": False, "flag_value": str(BESIDE)},
    "--tolerance": {"type": float},
    "--delta": {"type": float, "default": 0.01, "show_default": True},
    "--let": _MANY,
    "--machine": {"type": _machine},
    "--engine": {"default": "templates", "show_default": True},
    "validate --engine": {"default": "limit", "show_default": True},
    "--padding": {"type": _COUNT},
    **{f"{verb} --network": {"callback": _with_network} for verb in _RUNS.split()},
    "--tile": {"type": _tile},
    "--networks": {"type": click.IntRange(1, 10**9)},
    "--seed": {"type": _SEEDS},
    "train --seed": {"type": _seed},
    "--weight-bits": {"type": click.IntRange(2, 8)},
    "--max-steps": {"type": int},
    "--seconds": {"type": _COUNT},
    "--workers": {"default": "1", "show_default": True},
    "--memory": _MANY,
    "--line": _MANY,
    "--quiet": {"expose_value": False, "callback": _be_quiet},
}
_OTHER_NAMES = {
    "--output": ["-o"],
    "--quiet": ["-q"],
    "--networks": ["-n"],
    "--json": ["as_json"],
    "--from": ["source"],
}
_OTHER_NAMES |= {"--blocks": ["target"], "--line": ["lines"]} | {
    f"{verb} --network": ["file"] for verb in _RUNS.split()
}
GROUPS = tuple(part.strip().partition("\n")[0] for part in _TABLE.split("\n\n"))


_SPELT = {
    "diagram": "-o",
    "executions": "--from",
    "file": "--network",
    "inputs": "NAME=VALUE",
    "instructions": "--max-steps",
    "output": "-o",
    "path": "-o",
    "steps": "--max-steps",
    "what": "--program",
    "words": "--machine",
}


def spell_option(setting: str) -> str:
    """Returns the command-line option for a setting, or `setting=` if only Python has it."""
    option = _SPELT.get(setting, f"--{setting.replace('_', '-')}")
    return option if setting in _SPELT or f"\n{option} " in _TABLE else f"{setting}="


def options_of(verb: str) -> dict[str, list[click.Option]]:
    """Returns the options of a verb by group, in help order."""
    found: dict[str, list[click.Option]] = {}
    for group in _TABLE.split("\n\n"):
        title, _, rows = group.strip().partition("\n")
        for row in re.split(r"\n(?=--)", rows):
            head, _, text = row.partition("\n")
            words, _, verbs = head.partition(" | ")
            name, _, takes = words.partition(" ")
            if verb in verbs.split():
                usual = (
                    {"is_flag": True} if not takes else {"metavar": takes, "type": {"FILE": FILE, "N": int}.get(takes)}
                )
                how = usual | _MORE.get(name, {}) | _MORE.get(f"{verb} {name}", {})
                names = [name, *_OTHER_NAMES.get(name, []), *_OTHER_NAMES.get(f"{verb} {name}", [])]
                found.setdefault(title, []).append(click.Option(names, help=" ".join(text.split()), **how))
    return found


def grouped(command: click.Command, context: click.Context) -> dict[str, list[click.Option]]:
    """Returns the options of a command by group, with `--help` last."""
    own = {one.opts[0]: one for one in command.get_params(context) if isinstance(one, click.Option)}
    found = {
        title: [own.pop(one.opts[0]) for one in options if one.opts[0] in own]
        for title, options in options_of(command.name or "").items()
    }
    last = list(found)[-1] if found else GROUPS[0]
    return found | {last: [*found.get(last, []), *own.values()]}


class Verb(click.Command):
    """A command with its help options in groups; its target and the options that size it become one `Target`."""

    sized = True  # whether it has a target

    def invoke(self, ctx: click.Context) -> Any:
        if self.sized:
            lets = parse_values(ctx.params.pop("let"), "--let")
            size = {name: ctx.params.pop(name) for name in ("bits", "order", "machine")}
            ctx.params["target"] = Target(ctx.params["target"], **size, lets=lets)
        return super().invoke(ctx)

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        for title, options in grouped(self, ctx).items():
            with formatter.section(title):
                formatter.write_dl([record for one in options if (record := one.get_help_record(ctx)) is not None])


def verb(name: str, program: str = "") -> Callable[[Any], click.Command]:
    """Returns a decorator for a verb; `program` is the help name of its first argument, a `Target`, if it has one."""

    def command(function: Any) -> click.Command:
        made = click.command(name, cls=Verb)(function)
        made.sized = bool(program)
        if program:
            made.params.insert(0, click.Argument(["target"], metavar=program))
        made.params += [option for options in options_of(name).values() for option in options]
        return made

    return command


def options(verb: str, *names: str) -> Callable[[Any], Any]:
    """Returns a decorator that adds some options of a verb to another command."""
    found = [one for several in options_of(verb).values() for one in several if one.opts[0] in names]

    def add(function: Any) -> Any:
        function.__dict__.setdefault("__click_params__", []).extend(reversed(found))
        return function

    return add


def refuse(what: str, *names: str, others: bool = False) -> None:
    """Raises InputError if one of these options is on the command line or, with `others`, any other option."""
    context = click.get_current_context()
    for one in context.command.params:
        given = context.get_parameter_source(one.name or "") is ParameterSource.COMMANDLINE
        named = isinstance(one, click.Option) and one.expose_value and (one.name in names) != others
        if given and named:
            raise InputError(f"{one.opts[0]} {what}; leave it out")


def allow_only(what: str, *names: str) -> None:
    """Raises InputError if any other option is on the command line."""
    refuse(f"cannot be used with {what}", *names, others=True)
