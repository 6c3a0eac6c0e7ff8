"""Ids of programs are forever: certificates, networks and tallies on disk know their program by them."""

import json
import re
from pathlib import Path

from cases import for_each

from bitwright import Program, addition, multiplication, permutation
from bitwright.machines import Sizes, machine_a, machine_b
from bitwright.machines.subleq import DIALECTS, Shape, machine_v
from bitwright.rules import load

HERE = Path(__file__).parent
RECORDED: dict[str, str] = json.loads((HERE / "recorded_ids.json").read_text())


def named(name: str) -> Program:
    """The program that a recorded name speaks of."""
    numbers = [int(number) for number in re.findall(r"\d+", name)]
    if name.startswith("examples/"):
        return load(HERE.parent.parent / name).program
    if name.startswith("machine V"):
        return machine_v(Shape(numbers[0], numbers[1], DIALECTS[name.rpartition(" ")[2]])).program
    if name.startswith("machine"):
        make = machine_a if name[8] == "A" else machine_b
        return make(Sizes(*numbers), name.endswith("True")).program
    if name == "permutation":
        return permutation([3, 1, 2, 5, 4]).program
    return (multiplication(*numbers) if name.startswith("mult") else addition(*numbers, "counter" in name)).program


@for_each("name", RECORDED)
def test_the_id_is_what_it_always_was(name: str) -> None:
    assert named(name).id == RECORDED[name]
