"""Checkpoints of machine V: a run in a file, from which it continues later."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np

from bitwright.bits import BoolArray
from bitwright.errors import InputError, option, printable
from bitwright.files.arrays import ArrayFile, pack_arrays
from bitwright.files.documents import Check, check_fields, optional, parse, real, text, whole
from bitwright.files.storage import write_atomically
from bitwright.machines.subleq import MachineV
from bitwright.machines.subleq.computer import MachineTally
from bitwright.program import Program

FORMAT = "bitwright run 2"
_KIND = "a checkpoint of a run"
_MOST_ABOUT = 1 << 14
_COUNT = whole(0, 2**62)
_ABOUT: dict[str, Check] = {
    **dict.fromkeys(("format", "dialect", "program", "image"), text(256)),
    **dict.fromkeys(("words", "width"), _COUNT),
    "tally": lambda value: None if type(value) is dict else "an object",
}
_TALLY: dict[str, Check] = {
    **dict.fromkeys(("steps", "instructions", "inputs", "outputs", "wrong"), _COUNT),
    **dict.fromkeys(("least", "most"), optional(_COUNT)),
    "margin": optional(real(-(2**62), 2**62)),
    "seconds": real(0, 2**62),
}


def fingerprint(program: Program) -> str:
    """sha256 of a program's arrays: quicker than its id, which is that of a text of many megabytes."""
    digest = hashlib.sha256()
    blocks, templates = (program.block_start, program.block_bits), (program.template_block, program.template_config)
    for array in (*blocks, *templates, program.write_start, program.write_bits):
        digest.update(array.tobytes())
    return digest.hexdigest()


def image_hash(machine: MachineV, image: Sequence[int]) -> str:
    """sha256 of the words with which memory begins; the zeros behind the last one do not count."""
    words = [word % (1 << machine.shape.width) for word in image]
    while words and not words[-1]:
        words.pop()
    return hashlib.sha256(np.array(words, dtype="<u8").tobytes()).hexdigest()


def save_checkpoint(path: Path, machine: MachineV, state: BoolArray, tally: MachineTally, image: str) -> None:
    """Writes the file whole, or not at all; `image` is the hash of what the run began with."""
    about = {
        "format": FORMAT,
        **_machine(machine),
        "program": fingerprint(machine.program),
        "image": image,
        "tally": asdict(tally),
    }
    packed = pack_arrays({"about": json.dumps(about).encode(), "state": np.packbits(state).tobytes()})
    write_atomically(path, packed)


def load_checkpoint(path: Path, machine: MachineV, image: str | None = None) -> tuple[BoolArray, MachineTally, str]:
    """The state, the tally and the image's hash of a file for this very machine; raises InputError for any other.

    With `image`, a hash, also for a run that began with another image. A file that is larger than a checkpoint of this
    machine can be is not unpacked.
    """
    shown, bits = printable(str(path)), machine.program.bits
    with ArrayFile(path, ("about", "state"), _KIND) as file:
        about = parse(file.read("about", _MOST_ABOUT), shown, _KIND)
        _check(about, machine, image, shown)
        packed = np.frombuffer(file.read("state", -(-bits // 8)), dtype=np.uint8)
    if len(packed) != -(-bits // 8):
        raise InputError(f"{shown} is not {_KIND}: its state does not have {bits:,} bits")
    return np.unpackbits(packed, count=bits).astype(bool), MachineTally(**about["tally"]), about["image"]


def _check(about: dict[str, Any], machine: MachineV, image: str | None, shown: str) -> None:
    """Raises InputError unless this is what a checkpoint of the machine says of itself."""
    if not str(about.get("format")).startswith("bitwright run "):
        raise InputError(f"{shown} is not {_KIND}: it does not say that it is one")
    if about["format"] != FORMAT:
        raise InputError(f"{shown} was made by another version of bitwright; start the run anew")
    check_fields(about, shown, _KIND, _ABOUT)
    check_fields(about["tally"], shown, _KIND, _TALLY)
    mine = _machine(machine)
    theirs = {name: about[name] for name in mine}
    if mine != theirs:
        given = printable("V:{words}x{width}:{dialect}".format(**theirs))
        raise InputError(f"{shown} belongs to another machine; run it with {option('machine')} {given}")
    if about["program"] != fingerprint(machine.program):
        raise InputError(f"{shown} was made by another version of this machine; start the run anew")
    if image is not None and about["image"] != image:
        raise InputError(f"{shown} is the run of another program; give the image that it began with")


def _machine(machine: MachineV) -> dict[str, object]:
    shape = machine.shape
    return {"words": shape.words, "width": shape.width, "dialect": shape.dialect.flags}
