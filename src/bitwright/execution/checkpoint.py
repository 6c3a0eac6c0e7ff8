"""A run of machine V in a file: its state and what it has done so far, to be taken up again later."""

from __future__ import annotations

import hashlib
import io
import json
import lzma
import struct
import zipfile
import zlib
from collections.abc import Sequence
from dataclasses import asdict, fields
from pathlib import Path

import numpy as np

from bitwright.bits import BoolArray, printable
from bitwright.errors import InputError
from bitwright.execution.computer import Tally
from bitwright.files.storage import write_atomically
from bitwright.machines.subleq import MachineV
from bitwright.program import Program

FORMAT = "bitwright run 2"
_UNREADABLE = (  # every way in which a damaged archive makes its readers fail
    *(ValueError, KeyError, EOFError, TypeError, RuntimeError, ArithmeticError, MemoryError),
    *(zipfile.BadZipFile, zlib.error, lzma.LZMAError, struct.error),
)


def fingerprint(program: Program) -> str:
    """sha256 of a program's arrays: quicker than its id, which is that of a text of many megabytes."""
    digest = hashlib.sha256()
    for array in (program.block_start, program.block_bits, program.template_block, program.template_config):
        digest.update(array.tobytes())
    for array in (program.write_start, program.write_bits):
        digest.update(array.tobytes())
    return digest.hexdigest()


def image_hash(machine: MachineV, image: Sequence[int]) -> str:
    """sha256 of the words with which memory begins; the zeros behind the last one do not count."""
    words = [word % (1 << machine.shape.width) for word in image]
    while words and not words[-1]:
        words.pop()
    return hashlib.sha256(np.array(words, dtype="<u8").tobytes()).hexdigest()


def save_checkpoint(path: Path, machine: MachineV, state: BoolArray, tally: Tally, image: str) -> None:
    """Writes the file whole, or not at all; `image` is the hash of what the run began with."""
    shape = machine.shape
    about = {
        "format": FORMAT,
        "words": shape.words,
        "width": shape.width,
        "dialect": shape.dialect.flags,
        "program": fingerprint(machine.program),
        "image": image,
        "tally": asdict(tally),
    }
    buffer = io.BytesIO()
    about_bytes = np.frombuffer(json.dumps(about).encode(), dtype=np.uint8)
    np.savez_compressed(buffer, about=about_bytes, state=np.packbits(state))
    write_atomically(path, buffer.getvalue())


def load_checkpoint(path: Path, machine: MachineV, image: str | None = None) -> tuple[BoolArray, Tally, str]:
    """The state, the tally and the image's hash of a file for this very machine; raises InputError for any other.

    With `image`, a hash, also for a run that began with another image.
    """
    shown, shape = printable(str(path)), machine.shape
    try:
        with np.load(io.BytesIO(path.read_bytes()), allow_pickle=False) as file:
            about = json.loads(bytes(file["about"]).decode())
            packed = file["state"]
    except FileNotFoundError:
        raise InputError(f"there is no file {shown}") from None
    except OSError as error:
        raise InputError(f"cannot read {shown}: {error.strerror or 'it is not a checkpoint'}") from None
    except _UNREADABLE:
        raise InputError(f"{shown} is not a checkpoint of a run") from None
    if not isinstance(about, dict) or not str(about.get("format")).startswith("bitwright run "):
        raise InputError(f"{shown} is not a checkpoint of a run")
    if about["format"] != FORMAT:
        raise InputError(f"{shown} was made by another version of bitwright; start the run anew")
    mine = {"words": shape.words, "width": shape.width, "dialect": shape.dialect.flags}
    theirs = {name: about.get(name) for name in mine}
    if mine != theirs:
        given = " ".join(f"--{'word-' * (name == 'width')}{name} {value}" for name, value in theirs.items())
        raise InputError(f"{shown} belongs to another machine; run it with {printable(given)}")
    if about.get("program") != fingerprint(machine.program):
        raise InputError(f"{shown} was made by another version of this machine; start the run anew")
    began_with = about.get("image")
    if not isinstance(began_with, str):
        raise InputError(f"{shown} is damaged: it does not say which image it belongs to")
    if image is not None and began_with != image:
        raise InputError(f"{shown} is the run of another program; give the image that it began with")
    size = machine.program.bits
    if packed.dtype != np.uint8 or packed.shape != (-(-size // 8),):
        raise InputError(f"{shown} is damaged: its state does not have {size:,} bits")
    return np.unpackbits(packed, count=size).astype(bool), _tally(about.get("tally"), shown), began_with


def _tally(given: object, shown: str) -> Tally:
    names = {item.name for item in fields(Tally)}
    if not isinstance(given, dict) or set(given) != names:
        raise InputError(f"{shown} is damaged: it does not say what the run has done")
    for name, value in given.items():
        real = name in ("margin", "seconds")
        optional = name in ("least", "most", "margin")
        allowed = (int, float) if real else (int,)
        if not (value is None and optional) and (
            isinstance(value, bool) or not isinstance(value, allowed) or not 0 <= value < 2**62
        ):
            raise InputError(f"{shown} is damaged: {name} is {printable(repr(value))[:40]}")
    return Tally(**given)
