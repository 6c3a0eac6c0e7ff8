"""The public names of `import bitwright` and of its rooms, with their signatures and docstrings; examples in them run
with the tests.
"""

from __future__ import annotations

import builtins
import dataclasses
import inspect
import re
from collections.abc import Iterator
from functools import cached_property
from importlib import import_module
from typing import Any

from python_types import types

import bitwright

# The rooms in the order of the page, and what a reader finds there; a room without a heading comes last under its name.
HEADINGS = {
    "api": "Run, prove, train",
    "program": "Programs, rule text, graphs",
    "algorithms": "Algorithms",
    "machines": "Computers",
    "engines": "Engines",
    "running": "Runs",
    "files": "Executions",
    "networks": "Networks",
    "proofs": "Certificates",
    "validation": "Validations",
    "theory": "Theory",
    "errors": "Errors",
    "transformers": "Transformers",
}
# Rooms whose names are imported from there: a heading, and the names; without these all that the room offers.
ROOMS: dict[str, tuple[str, str]] = {
    "bitwright.program": ("Parts of programs", ""),
    "bitwright.machines": ("SBN code and machines", ""),
    "bitwright.machines.subleq": ("SUBLEQ and machine V", ""),
    "bitwright.running.run": ("Many runs", "BatchRun"),
    "bitwright.machines.subleq.images": ("Many images at once", "ImageRun"),
    "bitwright.engines": ("Making engines", ""),
    "bitwright.graphs": ("Results on graphs", ""),
    "bitwright.validation": ("Oracles and counts of validations", ""),
    "bitwright.proofs.exhaustion.certificate": ("States in certificates of networks", "BitInState"),
    "bitwright.theory": ("Kernels, means, ensembles, roundings", ""),
    "bitwright.api.check": ("Problems of a file", "Checked"),
    "bitwright.api.dataset": ("Data in files", "Dataset dataset"),
    "bitwright.api.export.writing": ("What was exported", "Export"),
    "bitwright.api.inference": ("What executions say", "Inference"),
    "bitwright.api.families": ("What executions at several sizes say", "FamilyInference"),
    "bitwright.api.show": ("Kinds of cells", "KindsOfCells cell_kinds"),
    "bitwright.api.size": ("Sizes of ensembles and networks", "EnsembleSizes WidthOfNetwork"),
    "bitwright.inference.local_rule": ("The rule of a cellular automaton", "LocalRule"),
    "bitwright.proofs.width": ("The width law", "NetworkWidth"),
    "bitwright.theory.encoding.training_set": ("Training sets", "TrainingSet"),
    "bitwright.errors": ("Problems", "Problem"),
    "bitwright.program.trace": ("Recorded runs", "Trace"),
    "bitwright.pages": ("Pages and pictures", ""),
    "bitwright.transformers": ("Tasks by columns, decoders, proofs and training", ""),
}
VALUES = {
    "DIALECTS": "The dialects of SUBLEQ, by name.",
    "FIXED_POINT": "How a run that ends when nothing changes any more says so: the `halt` of such an algorithm.",
    "ROUNDINGS": "The roundings there are.",
    "Rounding": "The type of a rounding's name.",
    "UNKNOWN": "What an oracle answers where it does not know what is right.",
    "Verdict": "The type of a validation's verdict.",
}


def public_names() -> list[str]:
    return [name for name in dir(bitwright) if name != "__version__"]


def names_of(room: str) -> list[str]:
    """What a room offers."""
    chosen = ROOMS[room][1].split()
    return chosen or [name for name in import_module(room).__all__ if name != "__version__"]


def pages() -> Iterator[tuple[str, str]]:
    """A page of all names, one page for each public name (errors together), and one for each room."""
    groups = _groups()
    shown = {id(getattr(bitwright, name)) for name in public_names()}
    rooms = {room: _room_page(room, shown) for room in ROOMS}
    yield "python.md", _index(groups)
    for page, named in _own_pages(groups).items():
        title = HEADINGS["errors"] if page == "errors" else ", ".join(f"`{names[0]}`" for names in named)
        entries = (_entry(names[0], names[1:], getattr(bitwright, names[0])) for names in named)
        yield f"python/{page}.md", _page(title, "bitwright", *entries)
    for room, text in rooms.items():
        yield f"python/{room}.md", text


def _own_pages(groups: dict[str, list[list[str]]]) -> dict[str, list[list[str]]]:
    """The names of each page: `run` and `Run` share one, since some file systems take their names for the same."""
    found: dict[str, list[list[str]]] = {}
    for room, names in groups.items():
        for one in names:
            found.setdefault("errors" if room == "errors" else one[0].lower(), []).append(one)
    return {page: sorted(found[page], key=lambda one: one[0][0].isupper()) for page in sorted(found)}


def _groups() -> dict[str, list[list[str]]]:
    """The public names by what they are about; names of one thing are together, the shortest first."""
    rooms: dict[str, dict[int, list[str]]] = {room: {} for room in HEADINGS}
    for name in public_names():
        value = getattr(bitwright, name)
        rooms.setdefault(_room(value), {}).setdefault(id(value), []).append(name)
    return {
        room: sorted((sorted(names, key=_shortest) for names in found.values()), key=lambda one: one[0].lower())
        for room, found in rooms.items()
        if found
    }


def _index(groups: dict[str, list[list[str]]]) -> str:
    parts = [_HEAD]
    for room, found in groups.items():
        rows = [
            (f"[`{names[0]}`](python/{'errors' if room == 'errors' else names[0].lower()}.md)", names[0], bitwright)
            for names in found
        ]
        parts += [f"## {HEADINGS.get(room, room)}", _summary(rows)]
    offered = [
        f"| [`{room}`](python/{room}.md) | {title}: {', '.join(f'`{name}`' for name in sorted(names_of(room)))} |"
        for room, (title, _) in ROOMS.items()
    ]
    parts += ["## Other modules", "\n".join(["| import from | names |", "|---|---|", *offered])]
    parts += ["## The same on the command line", _verbs()]
    parts += ["## Types in signatures", "\n".join(f"- `{name}`: {meaning}" for name, meaning in types().items())]
    return "\n\n".join(parts) + "\n"


def _verbs() -> str:
    rows = (
        f"| {', '.join(f'`{one}`' for one in verb.split(', '))} | {call} |" for verb, call in VERBS_IN_PYTHON.items()
    )
    return "\n".join(["| verb | in Python |", "|---|---|", *rows])


def _summary(rows: list[tuple[str, str, Any]]) -> str:
    found = (f"| {link} | {_first(name, owner)} |" for link, name, owner in rows)
    return "\n".join(["| name | what it is |", "|---|---|", *found])


def _first(name: str, owner: Any) -> str:
    """The first sentence of what is said of a name."""
    value = getattr(owner, name)
    said = VALUES[name] if name in VALUES else inspect.getdoc(value) or ""
    return re.split(r"(?<=[.:])\s", " ".join(said.split("\n\n")[0].split()))[0].rstrip(":").replace("|", "\\|")


def _page(title: str, room: str, *parts: str) -> str:
    return "\n\n".join([f"# {title}", f"```{{py:currentmodule}} {room}\n```", *parts]) + "\n"


def _room_page(room: str, shown: set[int]) -> str:
    """The names of a room, but for those that have a page already, which are only named."""
    module = import_module(room)
    found = {name: getattr(module, name) for name in names_of(room)}
    again = sorted(name for name, value in found.items() if id(value) in shown)
    shown |= {id(value) for value in found.values()}
    own = [name for name in sorted(found, key=str.lower) if name not in again]
    parts = [f"# {ROOMS[room][0]}", f"In `{room}`.", f"```{{py:module}} {room}\n```"]
    if again:
        parts.append(f"Here too, with a page of their own: {', '.join(f'`{name}`' for name in again)}.")
    if len(own) > 1:
        parts.append(_summary([(f"[`{name}`](#{room}.{name})", name, module) for name in own]))
    return "\n\n".join([*parts, *(_entry(name, [], found[name]) for name in own)]) + "\n"


_HEAD = f"""# The Python API

All public names of `import bitwright`, version {bitwright.__version__}, each with a page of its own. Every example
there is run with the tests. Other names are imported from [other modules](#other-modules), such as
`bitwright.theory`. A name that is on none of these pages is not public. A result is true where its verb ends with exit
code 0: `if certify(program, network)` is entered only if the network is certified.

```{{py:module}} bitwright
```"""
# What a verb of the command line is called in Python.
VERBS_IN_PYTHON = {
    "add, multiply": "`run(addition(10), p=719, q=483)`, `run(multiplication(10), ...)`, or just "
    "`addition(10)(p=719, q=483)`",
    "run": '`run(program, ...)`, `run("file.bw", ...)`; on a graph `run(..., graph=graph)`; many at '
    "once with arrays of inputs, `states=` or a list of graphs",
    "check": "`check(path)`, `check(text)`",
    "show": "`algorithm.text()`, `algorithm.to_dict()`; `--tile 1`: `bitwright.api.show.cell_kinds`; of a "
    "network `Network.load(path).to_dict()`",
    "trace": "`run(..., record=True).save_trace(path)`; the states are in `.trace`",
    "validate": "`validate`",
    "certify": "`certify(what)` of the limit, `certify(what, network)` of a network, with the same options; "
    "`--check`: `Certificate.load(path).check(what, network)`",
    "size": '`size`; `--of network`: `size(..., of="network")`',
    "train": '`train`; `--tile all`: `train(..., tile="all")`; `--from`: `train(..., executions="runs")`',
    "export": "`export`; `--to integer`: `Network.load(path).quantize()`, of a folder "
    "`Network.combine(folder)`; `--to executions`: `executions(what).save(path)`; `--to "
    "dataset`: `bitwright.api.dataset.dataset(what, path)`",
    "infer": "`infer`; `--grid 16x16`: `infer(..., grid=(16, 16))`; `l=5:a.npz l=6:b.npz`: `infer({5: "
    '"a.npz", 6: "b.npz"})`',
    "compile": "`bitwright.api.compile.compile_file(path)`",
    "cache": "`bitwright.api.cache.look_at_cache()`, `bitwright.api.cache.clear_cache()`",
    "serve, examples": "the command line alone",
}


def _shortest(name: str) -> tuple[bool, int]:
    """The short name of a thing first, unless Python has another thing of that name."""
    return hasattr(builtins, name), len(name)


def _room(value: Any) -> str:
    if value is bitwright.Network:
        return "networks"
    if inspect.isclass(value) and issubclass(value, BaseException):
        return "errors"
    module = getattr(value, "__module__", None) or ""
    return module.split(".")[1] if module.startswith("bitwright.") else "program"


def _entry(name: str, others: list[str], value: Any) -> str:
    also = f"Also as {' and '.join(f'`{other}`' for other in others)}.\n\n" if others else ""
    if inspect.isclass(value):
        kind = "exception" if issubclass(value, BaseException) else "class"
        shown = "" if kind == "exception" or getattr(value, "_is_protocol", False) else _signature(value)
        body = [also + _doc(value), *_fields(value), *_members(value)]
        return _directive(kind, name + shown, "\n\n".join(part for part in body if part), 6)
    if inspect.isroutine(value):
        return _directive("function", name + _signature(value), also + _doc(value), 6)
    return _directive("data", name, f"{VALUES[name]}\n\nIts value is `{value!r}`.", 6)


def _fields(owner: type) -> list[str]:
    """The fields of a data class, which its signature lists too, as one line of names and types."""
    if not dataclasses.is_dataclass(owner):
        return []
    shown = [
        f"`{field.name}`: `{_type(field.type)}`"
        for field in dataclasses.fields(owner)
        if not field.name.startswith("_")
    ]
    return ["**Fields.** " + ", ".join(shown)] if shown else []


def _type(annotation: Any) -> str:
    return annotation if isinstance(annotation, str) else getattr(annotation, "__name__", str(annotation))


def _members(owner: type) -> list[str]:
    fields = {field.name for field in dataclasses.fields(owner)} if dataclasses.is_dataclass(owner) else set()
    return [
        _member(name, member)
        for name, member in sorted(vars(owner).items())
        if not name.startswith("_") and name not in fields and _is_documented(member)
    ]


def _is_documented(member: Any) -> bool:
    member = getattr(member, "__func__", member)
    return (inspect.isroutine(member) or isinstance(member, property | cached_property)) and bool(
        inspect.getdoc(member)
    )


def _member(name: str, member: Any) -> str:
    if isinstance(member, property | cached_property):
        function = member.fget if isinstance(member, property) else member.func
        kind = function.__annotations__.get("return") if function else None
        return _directive("property", name, _doc(member), 4, *([f":type: {kind}"] if isinstance(kind, str) else []))
    if isinstance(member, classmethod | staticmethod):
        option = ":classmethod:" if isinstance(member, classmethod) else ":staticmethod:"
        return _directive(
            "method", name + _signature(member.__func__, owned=option == ":classmethod:"), _doc(member), 4, option
        )
    return _directive("method", name + _signature(member, owned=True), _doc(member), 4)


def _signature(function: Any, *, owned: bool = False) -> str:
    try:
        signature = inspect.signature(function)
    except (TypeError, ValueError):
        return "()"
    if owned:
        signature = signature.replace(parameters=list(signature.parameters.values())[1:])
    if inspect.isclass(function):
        signature = signature.replace(return_annotation=inspect.Signature.empty)
    return _unquoted(signature)


def _unquoted(signature: inspect.Signature) -> str:
    """A signature whose annotations, which are kept as text, stand without quotes; defaults keep theirs."""
    parts, star = [], False
    for parameter in signature.parameters.values():
        if parameter.kind is parameter.VAR_POSITIONAL:
            star = True
        elif parameter.kind is parameter.KEYWORD_ONLY and not star:
            parts.append("*")
            star = True
        mark = {parameter.VAR_POSITIONAL: "*", parameter.VAR_KEYWORD: "**"}.get(parameter.kind, "")
        hint = "" if parameter.annotation is parameter.empty else f": {_type(parameter.annotation)}"
        value = "" if parameter.default is parameter.empty else f" = {_default(parameter.default)}"
        parts.append(mark + parameter.name + hint + value)
    back = signature.return_annotation
    return f"({', '.join(parts)})" + ("" if back is inspect.Signature.empty else f" -> {_type(back)}")


def _default(value: object) -> str:
    """A default as it is written; `...` for one that has no text of its own, such as a function."""
    text = repr(value)
    return "..." if text.startswith("<") else text


def _doc(value: Any) -> str:
    """A docstring, which is Markdown, with its examples as blocks."""
    value = getattr(value, "__func__", value)
    parts = (inspect.getdoc(value) or "").split("\n\n")
    return "\n\n".join(f"```pycon\n{part}\n```" if part.lstrip().startswith(">>>") else part for part in parts)


def _directive(kind: str, argument: str, body: str, colons: int, *options: str) -> str:
    fence = ":" * colons
    return "\n".join([f"{fence}{{py:{kind}}} {argument}", *options, "", body, fence])
