"""The rules of machine V as bitwright generates them, for Rocq, which compares them with `theorems/Machine.v`."""

from __future__ import annotations

import re

from bitwright.machines.subleq import Dialect, Shape, machine_v

SIZES = ((2, 2), (2, 3), (3, 3), (3, 5), (4, 4), (2, 13))  # address bits and word bits; the last one has a pad level
_NAMES = {
    "T_token": "Token", "T_write": "Writes", "T_fetch": "Fetches", "T_address": "Address", "T_gate": "Gate",
    "T_data": "Data", "T_data_gate": "DataGate", "M_word": "Word", "M_read": "Read", "M_erase": "Erase",
    "M_store": "Store", "M_data": "Stored", "M_second": "Second", "M_third": "Third", "R_rising": "Rising",
    "P_word": "Arriving", "P_is_a": "IsA", "P_is_b": "IsB", "P_is_c": "IsC", "P_is_subtrahend": "IsSubtrahend",
    "P_is_minuend": "IsMinuend", "P_target": "Target", "P_release": "Release", "D_inverted_early": "Early",
    "D_minuend": "Minuend", "D_inverted": "Inverted", "D_half": "Half", "D_carry": "Carry", "D_ready": "Ready",
    "D_zero": "Zero", "D_generate": "Generate", "D_keep": "Keep", "D_low": "Low", "D_pass": "Pass",
    "D_equal": "Equal", "C_next": "Next", "C_count": "Count", "C_next_if_not": "NextIfNot", "C_next_if": "NextIf",
    "C_target": "Jump", "C_target_if_not": "JumpIfNot", "C_target_if": "JumpIf", "C_address": "Counter",
    "S_at": "At", "S_begin": "Begin", "S_finish": "Finish", "S_ask": "Ask", "S_store": "DoStore",
    "S_out_of_range": "OutOfRange", "HALT": "Halt",
}  # fmt: skip


def compared_text() -> str:
    """A file in which the kernel compares the rules at each of the sizes."""
    head = "(** The rules that bitwright generates, at some sizes, are those of [Machine.v]. *)\n"
    head += "From Coq Require Import List Bool.\nFrom Bitwright Require Import Rules.\n"
    head += "From Theorems Require Import Machine MachineSame.\nImport ListNotations.\n"
    return head + "".join(_compared(bits, width) for bits, width in SIZES)


def _compared(bits: int, width: int) -> str:
    size, rules = f"{bits}_{width}", ";\n   ".join(_rules(bits, width))
    return f"""
Definition rules_{size} : rules bit :=
  [{rules}].
Theorem same_{size} : forall s b, step (machine {bits} {width}) s b = step rules_{size} s b.
Proof. apply same_machine_ok. vm_compute. reflexivity. Qed.
"""


def _rules(bits: int, width: int) -> list[str]:
    program = machine_v(Shape(2**bits, width, Dialect("top", "top"))).program
    names = [coq_name(name) for name in program.layout.names]
    found = []
    for template in range(program.templates):
        block, config = int(program.template_block[template]), int(program.template_config[template])
        values = [(names[bit], config >> place & 1) for place, bit in enumerate(program.block_members(block).tolist())]
        conditions = "; ".join(f"({name}, {'true' if value else 'false'})" for name, value in values)
        writes = "; ".join(names[bit] for bit in program.writes(template).tolist())
        found.append(f"when_write [{conditions}] [{writes}]")
    return found


def coq_name(name: str) -> str:
    """`T_address_0[1,3]` as `Address 0 0 2`: levels as they are, places counted from 0."""
    head, _, places = name.removesuffix("]").partition("[")
    parts = re.fullmatch(r"(.*?)((?:_\d+)*)", head)
    assert parts is not None
    if parts[1] == "C_check_or":
        return "Check"
    numbers = parts[2].split("_")[1:] + [str(int(place) - 1) for place in places.split(",") if place]
    return " ".join([_NAMES[parts[1]], *numbers])
