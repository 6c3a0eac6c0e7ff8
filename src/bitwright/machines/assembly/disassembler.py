"""A Code written out: as assembly text, and as an object, which is JSON text for other programs.

Both are exact: assembling the text, or reading the object, gives the same code again. Only the code's own name is not
part of them, and the object has no description.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from textwrap import wrap as wrap_lines

from bitwright.bits import shorten
from bitwright.errors import InputError
from bitwright.files.documents import each, read_document, table, whole
from bitwright.machines.assembly.reading import MAX_NAME
from bitwright.machines.assembly.sbn_assembler import END_OF_PROGRAM, is_name
from bitwright.machines.sbn.code import MAX_SIZE, MAX_WIDTH, Code, Instruction

MAX_OBJECT = 64 << 20  # characters; the largest machine with the longest names needs fewer


# Assembly text.


def disassemble(code: Code) -> str:
    """Assembly text that assembles to this code; words and labels without a name get a local one, @w0 or @l0.

    >>> print(disassemble(Code((Instruction(0, 1, 0),), (5, 0), 8, {"x": 1}, outputs=("x",))))
    .width 8
    .out x
    .word @w0 5
    .word x 0
    <BLANKLINE>
    @l0:
        sbn @w0 x @l0
    <BLANKLINE>
    """
    _check_names(code)
    names: dict[int, str] = {}
    aliases = []
    for name, address in code.names.items():
        if names.setdefault(address, name) != name:
            aliases.append(f".alias {name} {names[address]}")
    words = [names.get(at, f"@w{at}") for at in range(len(code.words))]
    labels = _labels_by_address(code)
    about = wrap_lines(" ".join(code.description.split()), 110, break_long_words=False, break_on_hyphens=False)
    lines = [f"; {line}" for line in about]
    lines.append(f".width {code.width}")
    for directive, ports in ((".in", code.inputs), (".out", code.outputs)):
        lines += [f"{directive} {' '.join(ports[at : at + 20])}" for at in range(0, len(ports), 20)]
    lines += [f".word {name} {value}" for name, value in zip(words, code.words, strict=True)]
    lines += [*aliases, ""]
    for at, instruction in enumerate(code.instructions):
        lines += [f"{label}:" for label in labels.get(at, ())]
        lines.append(f"    sbn {words[instruction.a]} {words[instruction.b]}{_target(at, instruction, code, labels)}")
    lines += [f"{label}:" for label in labels.get(len(code.instructions), ())]
    return "\n".join(lines) + "\n"


def _labels_by_address(code: Code) -> dict[int, list[str]]:
    """The labels in front of each instruction, with a local one wherever something goes to."""
    labels: dict[int, list[str]] = {}
    for label, address in code.labels.items():
        labels.setdefault(address, []).append(label)
    for at, instruction in enumerate(code.instructions):
        if instruction.c not in (at + 1, len(code.instructions)) and instruction.c < len(code.instructions):
            labels.setdefault(instruction.c, [f"@l{instruction.c}"])
    return labels


def _target(at: int, instruction: Instruction, code: Code, labels: dict[int, list[str]]) -> str:
    if instruction.c == at + 1:
        return ""
    end = END_OF_PROGRAM if instruction.c == len(code.instructions) else f"{instruction.c}"
    return f" {labels.get(instruction.c, [end])[0]}"


def _check_names(code: Code) -> None:
    """Refuses names that assembly text could not carry, so that nothing is written that cannot be read."""
    for kind, known, most in (
        ("word", code.names, len(code.words) - 1),
        ("label", code.labels, len(code.instructions)),
    ):
        for name, address in known.items():
            if not is_name(name):
                form = f"letters, digits and _ that do not start with a digit, at most {MAX_NAME}"
                raise InputError(f"a {kind} cannot be called '{shorten(name)}'; use {form}, and not {END_OF_PROGRAM}")
            if not 0 <= address <= most:
                raise InputError(f"{kind} '{shorten(name)}' is at address {shorten(address)}, beyond 0 to {most:,}")
    both = [name for name in code.names if name in code.labels]
    if both:
        raise InputError(f"'{shorten(both[0])}' is a word and a label; rename one of them")
    for directive, ports in ((".in", code.inputs), (".out", code.outputs)):
        if len(set(ports)) < len(ports):
            raise InputError(f"a name stands twice in {shorten(directive + ' ' + ' '.join(ports))}; list it once")
    if len({code.names[name] for name in code.inputs}) < len(code.inputs):
        raise InputError("two inputs are names of the same word; only one of them can be an input")


# The object format.


def to_json(code: Code) -> str:
    """The code as JSON text: the same code always gives the same text."""
    _check_names(code)
    document: dict[str, object] = {
        "width": code.width,
        "instructions": [[one.a, one.b, one.c] for one in code.instructions],
        "words": code.words,
        "names": _sorted(code.names),
        "inputs": code.inputs,
        "outputs": code.outputs,
        "labels": _sorted(code.labels),
    }
    return "{\n" + ",\n".join(f'  "{key}": {json.dumps(document[key])}' for key in _FIELDS) + "\n}\n"


def _sorted(addresses: Mapping[str, int]) -> dict[str, int]:
    return dict(sorted(addresses.items(), key=lambda item: (item[1], item[0])))


def from_json(text: str, name: str = "program") -> Code:
    """The code of a JSON text; raises InputError with one line for whatever is wrong with it."""
    if len(text) > MAX_OBJECT:
        raise InputError(f"an object has at most {MAX_OBJECT:,} characters, got {len(text):,}")
    document = read_document(text, "the object", "an SBN program", _FIELDS)
    code = Code(
        instructions=tuple(Instruction(*row) for row in document["instructions"]),
        words=tuple(document["words"]),
        width=document["width"],
        names=document["names"],
        inputs=tuple(document["inputs"]),
        outputs=tuple(document["outputs"]),
        labels=document["labels"],
        name=name,
    )
    _check_names(code)
    return code


def _is_port(value: object) -> str | None:
    return None if type(value) is str and is_name(value) else "the name of a word"


_FIELDS = {
    "width": whole(1, MAX_WIDTH),
    "instructions": each(each(whole(0, 2 * MAX_SIZE - 1), 3, 3), 1, MAX_SIZE),
    "words": each(whole(-(2 ** (MAX_WIDTH - 1)), 2 ** (MAX_WIDTH - 1) - 1), 1, MAX_SIZE),
    "names": table(whole(0, MAX_SIZE - 1)),
    "inputs": each(_is_port),
    "outputs": each(_is_port),
    "labels": table(whole(0, MAX_SIZE)),
}
