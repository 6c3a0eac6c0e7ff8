"""The public names of `import bitwright` and of its rooms, with their signatures and docstrings; examples in them run
with the tests.
"""

from __future__ import annotations

import builtins
import dataclasses
import inspect
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
}
# Rooms whose names are imported from there: a heading, and the names; without these all that the room offers.
ROOMS: dict[str, tuple[str, str]] = {
    "bitwright.program": ("Parts of programs", ""),
    "bitwright.machines": ("SBN code and machines", ""),
    "bitwright.machines.subleq": ("SUBLEQ and machine V", ""),
    "bitwright.running.run": ("Many runs", "BatchRun"),
    "bitwright.running.images": ("Many images at once", "ImageRun"),
    "bitwright.engines": ("Making engines", ""),
    "bitwright.graphs": ("Results on graphs", ""),
    "bitwright.engines.kernel": ("The limit by dense algebra", "KernelEngine"),
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
    rooms: dict[str, dict[int, list[str]]] = {room: {} for room in HEADINGS}
    for name in public_names():
        value = getattr(bitwright, name)
        rooms.setdefault(_room(value), {}).setdefault(id(value), []).append(name)
    parts = [_HEAD]
    for room, found in rooms.items():
        if found:
            parts.append(f"## {HEADINGS.get(room, room)}")
            groups = sorted((sorted(names, key=_shortest) for names in found.values()), key=lambda one: one[0].lower())
            parts += [_entry(names[0], names[1:], getattr(bitwright, names[0])) for names in groups]
    shown = {id(getattr(bitwright, name)) for name in public_names()}
    for room in ROOMS:
        parts += _room_section(room, shown)
    parts.append("## Types in signatures")
    parts.append("\n".join(f"- `{name}`: {meaning}" for name, meaning in types().items()))
    yield "python.md", "\n\n".join(parts) + "\n"


def _room_section(room: str, shown: set[int]) -> Iterator[str]:
    """The names of a room, but for those that are on the page already, which are only named."""
    found = {name: getattr(import_module(room), name) for name in names_of(room)}
    again = sorted(name for name, value in found.items() if id(value) in shown)
    shown |= {id(value) for value in found.values()}
    yield f"## {ROOMS[room][0]}"
    yield f"In `{room}`."
    if again:
        yield f"Above, and here too: {', '.join(f'`{name}`' for name in again)}."
    yield f"```{{py:module}} {room}\n```"
    yield from (_entry(name, [], found[name]) for name in sorted(found, key=str.lower) if name not in again)


_HEAD = f"""# The Python API

All public names of `import bitwright`, version {bitwright.__version__}, as their docstrings say them.
Every example on this page is run with the tests. Behind them come the rooms that one imports from, such as
`bitwright.theory`. A name that is not here is not public.

```{{py:module}} bitwright
```"""


def _shortest(name: str) -> tuple[bool, int]:
    """The short name of a thing first, unless Python has another thing of that name."""
    return hasattr(builtins, name), len(name)


def _room(value: Any) -> str:
    if value in (bitwright.Network, bitwright.train):
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
