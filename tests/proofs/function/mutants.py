"""Broken programs: every rule dropped, every condition turned round, every written bit left out or put elsewhere."""

import re
from collections.abc import Iterator

from bitwright.common.errors import BitwrightError
from bitwright.proofs.function.prove import prove_function
from bitwright.proofs.trials import all_inputs, wrong_input
from bitwright.rules import parse

_BIT = re.compile(r"[A-Za-z_]\w*(?:\[[^\]]*\])?")


def mutants(text: str) -> Iterator[tuple[str, str]]:
    """What was changed, and the changed text."""
    lines = text.splitlines()
    arrays = [name for line in lines if line.startswith("bits ") for name in re.findall(r"(\w+)\[", line)]
    for number, line in enumerate(lines):
        for what, changed in _changes(line, arrays):
            yield f"line {number + 1}: {what}", "\n".join([*lines[:number], *changed, *lines[number + 1 :]]) + "\n"


def _changes(line: str, arrays: list[str]) -> Iterator[tuple[str, list[str]]]:
    if line.startswith("steps "):
        yield "one step less", [f"{line} - 1"]
    if line.startswith("start "):
        yield "no start", []
    if not line.startswith("when "):
        return
    yield "dropped", []
    tests, write, rest = line.partition(" write ")
    targets, clause, where = rest.partition(" for ")
    for found in re.finditer(r"(!?=)([01])", tests):
        flipped = f"{found[1]}{1 - int(found[2])}"
        yield f"{found[0]} to {flipped}", [tests[: found.start()] + flipped + tests[found.end() :] + write + rest]
    bits = _BIT.findall(targets)
    for bit in bits:
        others = [other for other in bits if other != bit]
        if others:
            yield f"{bit} not written", [f"{tests}{write}{' '.join(others)} {clause}{where}"]
        name, bracket, index = bit.partition("[")
        for array in arrays if bracket else []:
            if array != name:
                moved = " ".join(f"{array}[{index}" if one == bit else one for one in bits)
                yield f"{bit} to {array}", [f"{tests}{write}{moved} {clause}{where}"]
        if bracket and where:
            moved = " ".join(f"{name}[{index[:-1]}+1]" if one == bit else one for one in bits)
            yield f"{bit} one higher", [f"{tests}{write}{moved} {clause}{where}"]


def check_not_proved(text: str, old: str, new: str) -> None:
    """The text with a change is not proved, or is not a program."""
    assert old in text
    try:
        proof = prove_function(text.replace(old, new))
    except BitwrightError:
        return
    assert proof.verdict == "not decided"


def check_mutants(text: str, every: int, least: int) -> None:
    """Every mutant that is proved is right, for all inputs of up to three digits; at least so many are programs."""
    tried = 0
    for what, mutant in list(mutants(text))[::every]:
        try:
            proof = prove_function(mutant, name=what)
        except BitwrightError:
            continue
        tried += 1
        for size in (1, 2, 3) if proof.proved else ():
            algorithm = parse(mutant, lets={"l": size})
            assert wrong_input(algorithm, list(all_inputs(algorithm)), 99) is None, what
    assert tried >= least
