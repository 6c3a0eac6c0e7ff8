"""Readers of files: networks, certificates, proofs, checkpoints, progress, tables, any bytes as rules."""

from __future__ import annotations

import io
import json
import os
import zipfile
from collections.abc import Callable
from contextlib import redirect_stderr
from copy import deepcopy
from functools import cache
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory, mkdtemp
from typing import Any
from unittest.mock import patch

import numpy as np
from fuzz.mutations import edit_bytes, edit_document
from fuzz.reader import Reader
from two_readers import Both

from bitwright import Certificate, addition, certify
from bitwright.engines import make_engine
from bitwright.errors import InputError
from bitwright.files import documents
from bitwright.machines.subleq import DIALECTS, Shape, machine_v
from bitwright.machines.subleq.checkpoint import image_hash, load_checkpoint, save_checkpoint
from bitwright.machines.subleq.computer import Computer, RunLimits
from bitwright.networks import (
    IntegerNetwork,
    Plan,
    Recipe,
    load_any_network,
    load_network,
    quantize,
    save_network,
    train,
)
from bitwright.networks.cache import cache_folder, cached_network
from bitwright.program import load
from bitwright.proofs.exhaustion import ProofTask
from bitwright.proofs.exhaustion.task import prove
from bitwright.validation import make_task, validate
from paper.table import Table, load_table

ALGORITHM = addition(2)
PROGRAM = ALGORITHM.program
RECIPE = Recipe(256, seed=3, plan=Plan(descent="momentum", tolerance=1e-2))
COLUMNS = ("bits", "seed", "error")
BOMB = 640 << 20  # bytes that a small archive unpacks to


_folder = TemporaryDirectory(prefix="fuzz-")  # gone when this process ends; those that it forks leave it alone


def folder() -> Path:
    return Path(_folder.name)


def in_file(name: str, read: Callable[[Path], object]) -> Callable[[bytes], object]:
    """Reads bytes as a file of this name."""

    def read_bytes(data: bytes) -> object:
        path = folder() / name
        path.write_bytes(data)
        return read(path)

    return read_bytes


@cache
def saved(write: Callable[[Path], object], name: str) -> bytes:
    """The bytes that a sound file has; the clocks stand still meanwhile, so that they are always the same."""
    path = folder() / name
    path.unlink(missing_ok=True)
    with patch("time.perf_counter", return_value=0.0), patch("time.monotonic", return_value=0.0):
        write(path)
    data = path.read_bytes()
    path.unlink()
    return data


# Networks: a header of JSON with a length in front, then numbers.


def write_network(path: Path) -> None:
    save_network(train(PROGRAM, RECIPE)[0], PROGRAM, path)


def edited_network(rng: Random) -> bytes:
    return edit_safetensors(rng, saved(write_network, "good.safetensors"))


@cache
def _whole() -> IntegerNetwork:
    return quantize([train(PROGRAM, RECIPE)[0]], PROGRAM)[0]


def write_whole_network(path: Path) -> None:
    save_network(_whole(), PROGRAM, path)


def edited_whole_network(rng: Random) -> bytes:
    return edit_safetensors(rng, saved(write_whole_network, "whole.safetensors"))


def edit_safetensors(rng: Random, data: bytes) -> bytes:
    """Edits of the bytes, or of the JSON in the header, whose length is then right; now and then none."""
    if rng.random() < 0.02:
        return data
    if rng.random() < 0.3:
        return edit_bytes(rng, data)
    size = int.from_bytes(data[:8], "little")
    header, rest = json.loads(data[8 : 8 + size]), data[8 + size :]
    about = header.get("__metadata__", {})
    if "bitwright" in about and rng.random() < 0.7:
        about["bitwright"] = edit_document(rng, json.loads(about["bitwright"]))
        text = json.dumps(header)
    else:
        text = edit_document(rng, header)
    encoded = text.encode("utf-8", "surrogatepass")
    return len(encoded).to_bytes(8, "little") + encoded + rest


def from_cache(data: bytes) -> None:
    """Whatever lies in the cache, the network that comes out of it is the one that was asked for."""
    os.environ["BITWRIGHT_CACHE"] = str(folder())
    good, _ = cached_network(PROGRAM, RECIPE)
    [path] = (cache_folder() / "networks").glob("*.safetensors")
    path.write_bytes(data)
    with redirect_stderr(io.StringIO()):  # where it says that the network is trained again
        found, _ = cached_network(PROGRAM, RECIPE)
    same = np.array_equal(found.first, good.first) and np.array_equal(found.last, good.last)
    assert same, "the cache gave other weights"


# Archives: the members of a checkpoint.


def write_checkpoint(path: Path) -> None:
    machine, image = _machine(), [7, 7, 0]
    computer = Computer(machine, make_engine("templates", machine.program), machine.start(image))
    ending = computer.run(RunLimits(instructions=5))
    save_checkpoint(path, machine, computer.state(), ending.tally, image_hash(machine, image))


@cache
def _machine() -> Any:
    return machine_v(Shape(8, 5, DIALECTS["plain"]))


@cache
def _bomb(inside: str) -> bytes:
    """An archive of less than a megabyte, whose member of this name unpacks to more than a reader may take.

    It is made piece by piece: whoever makes it needs little memory, so that what a reader takes afterwards is seen.
    """
    header = _array(np.zeros(0, np.uint8)).replace(b"(0,), }" + b" " * 8, f"({BOMB},), }}".encode())
    buffer, piece = io.BytesIO(), bytes(1 << 20)
    with zipfile.ZipFile(buffer, "w") as archive:
        for name in ("about.npy", "state.npy"):
            member = zipfile.ZipInfo(name)
            member.compress_type = zipfile.ZIP_DEFLATED
            with archive.open(member, "w") as file:
                file.write(header if name == inside else _array(np.zeros(1, np.uint8)))
                for _ in range(BOMB // len(piece) if name == inside else 0):
                    file.write(piece)
    return buffer.getvalue()


def _archive(members: dict[str, bytes], kind: int) -> bytes:
    """The bytes of an archive, which do not depend on when it is made."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for name, content in members.items():
            archive.writestr(zipfile.ZipInfo(name), content, kind, 1)
    return buffer.getvalue()


def edited_checkpoint(rng: Random) -> bytes:
    """Edits of the archive's bytes, or another archive: of edited members, without one of them, or with a bomb."""
    data = saved(write_checkpoint, "good.npz")
    if rng.random() < 0.02:
        return _bomb(rng.choice(("about.npy", "state.npy")))
    if rng.random() < 0.4:
        return edit_bytes(rng, data)
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    name = rng.choice(sorted(members))
    with np.load(io.BytesIO(data)) as file:
        about = json.loads(bytes(file["about"]))
    match rng.randrange(6):
        case 0 | 1:
            text = edit_document(rng, about).encode("utf-8", "surrogatepass")
            members["about.npy"] = _array(np.frombuffer(text, dtype=np.uint8))
        case 2:
            del members[name]
        case 3:
            members[name] = edit_bytes(rng, members[name])
        case 4:
            odd = rng.choice((np.zeros((3, 3)), np.array("text"), np.zeros(0, np.uint8), np.zeros((), np.int64)))
            members[name] = _array(odd)
        case _:
            shape = rng.choice(("(0,)", "(-1,)", "(9999999999,)", "(3, 3)", "()", "(1e9,)", "9", "(4294967296,)"))
            kind = rng.choice(("|u1", "|O", "<f8", "|S9", "x"))
            header = f"{{'descr': '{kind}', 'fortran_order': False, 'shape': {shape}}}"
            members[name] = b"\x93NUMPY\x01\x00" + len(header).to_bytes(2, "little") + header.encode() + b"\0" * 64
    return _archive(members, rng.choice((zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)))


def _array(array: Any) -> bytes:
    buffer = io.BytesIO()
    np.save(buffer, array)
    return buffer.getvalue()


# bitwright and the sceptic, side by side.


@cache
def both(domain: str, altered: str) -> Both:
    """Sound files, of which one will be altered; every reader has its own, since readers run side by side."""
    return Both(Path(mkdtemp(prefix=altered, dir=folder())), domain)


def for_both(domain: str, altered: str) -> Reader:
    """Refuses what both refuse; a file that only one of them takes is a breach."""

    def make(rng: Random) -> bytes:
        sound = both(domain, altered)
        if altered == "network":
            return edit_safetensors(rng, sound.network_bytes)
        if rng.random() < 0.2:
            return edit_bytes(rng, json.dumps(sound.claims).encode())
        return edit_document(rng, deepcopy(sound.claims)).encode("utf-8", "surrogatepass")

    def read(data: bytes) -> None:
        if 0 not in both(domain, altered).agree_on(**{altered: data}):
            raise InputError("both refuse it")

    return Reader(f"two readers, {altered}, {domain}", make, read)


# Documents.


def write_certificate(path: Path) -> None:
    certify(PROGRAM).save(path)


def check(path: Path) -> None:
    Certificate.load(path).check(ALGORITHM)


def write_network_certificate(path: Path) -> None:
    certify(ALGORITHM, _whole(), domain="runs").save(path)


def check_network(path: Path) -> None:
    Certificate.load(path).check(ALGORITHM, _whole())


@cache
def _task() -> Any:
    return make_task(ALGORITHM, make_engine("limit", PROGRAM))


def write_progress(path: Path) -> None:
    validate(_task(), resume=path)


def edited_json(write: Callable[[Path], object]) -> Callable[[Random], bytes]:
    def make(rng: Random) -> bytes:
        data = saved(write, "good.json")
        if rng.random() < 0.02:
            return data
        if rng.random() < 0.2:
            return edit_bytes(rng, data)
        return edit_document(rng, json.loads(data)).encode("utf-8", "surrogatepass")

    return make


# Files that grow.


def _proof() -> ProofTask:
    return ProofTask(ALGORITHM, _whole(), "states")


def write_proof(path: Path) -> None:
    prove(_proof(), file=path)


def edited_proof(rng: Random) -> bytes:
    data = saved(write_proof, "good.part")
    if rng.random() < 0.5:
        return edit_bytes(rng, data)
    line, _, rest = data.partition(b"\n")
    return edit_document(rng, json.loads(line)).encode("utf-8", "surrogatepass") + b"\n" + rest


# Tables, and anything.


def edited_table(rng: Random) -> bytes:
    return edit_bytes(rng, Table.of(COLUMNS, [(4, 0, 0.5), (4, 1, 0.25)]).csv())


_RULES = ALGORITHM.text().encode()


def edited_rules(rng: Random) -> bytes:
    return edit_bytes(rng, _RULES)


READERS = (
    Reader("rule files, as bytes", edited_rules, in_file("x.bw", load)),
    Reader("network files", edited_network, in_file("x.safetensors", lambda path: load_network(path, PROGRAM))),
    Reader(
        "integer networks",
        edited_whole_network,
        in_file("y.safetensors", lambda path: load_any_network(path, PROGRAM)),
    ),
    Reader("networks in the cache", edited_network, from_cache),
    Reader("certificates", edited_json(write_certificate), in_file("x.json", check)),
    Reader("certificates of networks", edited_json(write_network_certificate), in_file("z.json", check_network)),
    *(for_both(domain, altered) for domain in ("states", "runs", "cells") for altered in ("network", "certificate")),
    Reader("proofs that were begun", edited_proof, in_file("x.part", lambda path: prove(_proof(), file=path))),
    Reader(
        "validation progress", edited_json(write_progress), in_file("y.json", lambda p: validate(_task(), resume=p))
    ),
    Reader("checkpoints of machine V", edited_checkpoint, in_file("x.npz", lambda p: load_checkpoint(p, _machine()))),
    Reader("tables of figures", edited_table, in_file("x.csv", lambda path: load_table(path, COLUMNS))),
    Reader(
        "documents in general",
        edited_json(write_certificate),
        lambda data: documents.parse(data, "x", "a document"),
    ),
)
