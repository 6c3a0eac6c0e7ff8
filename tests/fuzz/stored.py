"""Readers of files: networks, certificates, proofs, checkpoints, progress, tables, any bytes as rules."""

import io
import json
import zipfile
from collections.abc import Callable
from functools import cache
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory, mkdtemp
from typing import Any
from unittest.mock import patch

import numpy as np
from fuzz.mutations import NASTY, edit_bytes, edit_document
from fuzz.reader import Reader
from two_readers import Both

from bitwright import Certificate, addition, certify
from bitwright.common.errors import InputError
from bitwright.common.files import documents
from bitwright.engines.make import make_engine
from bitwright.machines.subleq import DIALECTS, Shape, machine_v
from bitwright.machines.subleq.computer import Computer, image_hash, load_checkpoint, save_checkpoint
from bitwright.networks import (
    IntegerNetwork,
    Recipe,
    load_network,
    quantize,
    save_network,
    train,
)
from bitwright.proofs.exhaustion.task import ProofTask, prove
from bitwright.rules import load
from paper.table import Table, load_table

ALGORITHM = addition(2)
PROGRAM = ALGORITHM.program
RECIPE = Recipe(256, seed=3, tolerance=1e-2)
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


def edited(
    write: Callable[[Path], object], name: str, edit: Callable[[Random, bytes], bytes]
) -> Callable[[Random], bytes]:
    """What makes edits of a sound file: of its bytes, or such as its format has; now and then none."""

    def make(rng: Random) -> bytes:
        data, pick = saved(write, name), rng.random()
        return data if pick < 0.02 else edit_bytes(rng, data) if pick < 0.3 else edit(rng, data)

    return make


def edit_json(rng: Random, data: bytes) -> bytes:
    return edit_document(rng, json.loads(data)).encode("utf-8", "surrogatepass")


# Networks: a header of JSON with a length in front, then numbers.


def write_network(path: Path) -> None:
    save_network(_whole(), PROGRAM, path)


@cache
def _whole() -> IntegerNetwork:
    return quantize(train(PROGRAM, RECIPE)[0], PROGRAM)[0]


def edit_safetensors(rng: Random, data: bytes) -> bytes:
    """Edits of the JSON in the header, whose length is then right."""
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


# Archives: the members of a checkpoint.


def write_checkpoint(path: Path) -> None:
    machine, image = _machine(), [7, 7, 0]
    computer = Computer(machine, make_engine("templates", machine.program), machine.start(image))
    ending = computer.run(instructions=5)
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


_KINDS = ("|b1", "|u1", "|i1", "<i8", ">i8", "<f8", "<c16", "<U6", "<U0", "|S9", "|O", "<M8", "|V6", "?", "x")
_SHAPES = (
    "(0,)",
    "(-1,)",
    "(9999999999,)",
    "(3, 3)",
    "()",
    "(1e9,)",
    "9",
    "(4294967296,)",
    "(0, 6)",
    "(20, 6)",
    "(6,)",
)
_BITS = ("p[1]", "p[2]", "q[1]", "q[2]", "c[1]", "c[2]", "p[999999999]", "p[1,1]", "p", "p[0]", "when")


def edit_archive(rng: Random, data: bytes) -> bytes:
    """Another archive: of members that are edited, odd, missing, renamed or of other headers; or with a bomb."""
    if rng.random() < 0.02:
        return _bomb(rng.choice(("about.npy", "state.npy")))
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    with np.load(io.BytesIO(data)) as file:
        about = bytes(file["about"]) if "about" in file.files else b""
    for _ in range(rng.randint(1, 2)):
        name = rng.choice(sorted(members))
        match rng.randrange(7):
            case 0:
                members[rng.choice(("names.npy", "about.npy", "x.npy", "names", "../names.npy"))] = members[name]
            case 1:
                members[name] = edit_bytes(rng, members[name])
            case 2:
                shape = rng.choice(((20, 6), (0, 6), (20, 0), (6,), (), (2, 2, 2)))
                kind = rng.choice((bool, np.uint8, np.int8, np.int64, np.float64, "U6", "S6", "M8[s]", complex))
                members[name] = _array(np.zeros(shape, dtype=kind))
            case 3 if len(members) > 1:
                del members[name]
            case 4:
                members[name] = members[rng.choice(sorted(members))]
            case 5:
                members[name] = _with_header(rng, members[name])
            case _ if about:
                members["about.npy"] = _array(np.frombuffer(edit_json(rng, about), dtype=np.uint8))
            case _:
                names = [rng.choice((*_BITS, rng.choice(NASTY)[:60])) for _ in range(rng.choice((6, 6, 5, 1)))]
                members["names.npy"] = _array(np.array(names))
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for name, content in members.items():
            archive.writestr(zipfile.ZipInfo(name), content, rng.choice((zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)), 1)
    return buffer.getvalue()


def _with_header(rng: Random, data: bytes) -> bytes:
    kind, shape, order = rng.choice(_KINDS), rng.choice(_SHAPES), rng.choice(("True", "False", "0"))
    spaces = " " * rng.choice((0, 1, 50, 300))
    header = f"{{'descr': '{kind}', 'fortran_order': {order}, 'shape': {shape}, }}{spaces}\n"
    size = rng.choice((len(header), len(header), 0, 65_535)).to_bytes(2, "little")
    return b"\x93NUMPY\x01\x00" + size + header.encode() + data[128:]


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
        data = sound.network_bytes if altered == "network" else json.dumps(sound.claims).encode()
        edit = edit_bytes if rng.random() < 0.3 else edit_safetensors if altered == "network" else edit_json
        return edit(rng, data)

    def read(data: bytes) -> None:
        if 0 not in both(domain, altered).agree_on(**{altered: data}):
            raise InputError("both refuse it")

    return Reader(f"two readers, {altered}, {domain}", make, read)


# Documents.


def write_certificate(path: Path) -> None:
    certify(PROGRAM).save(path)


def check(path: Path) -> None:
    Certificate.load(path).check(ALGORITHM)


def _proof() -> ProofTask:
    return ProofTask(ALGORITHM, _whole())


READERS = (
    Reader("rule files, as bytes", lambda rng: edit_bytes(rng, ALGORITHM.text().encode()), in_file("x.bw", load)),
    Reader(
        "network files",
        edited(write_network, "good.safetensors", edit_safetensors),
        in_file("x.safetensors", lambda path: load_network(path, PROGRAM)),
    ),
    Reader(
        "integer networks",
        edited(lambda path: save_network(_whole(), PROGRAM, path), "whole.safetensors", edit_safetensors),
        in_file("y.safetensors", lambda path: load_network(path, PROGRAM)),
    ),
    Reader("certificates", edited(write_certificate, "good.json", edit_json), in_file("x.json", check)),
    Reader(
        "certificates of networks",
        edited(lambda path: certify(ALGORITHM, _whole(), domain="runs").save(path), "runs.json", edit_json),
        in_file("z.json", lambda path: Certificate.load(path).check(ALGORITHM, _whole())),
    ),
    *(for_both(domain, altered) for domain in ("states", "runs", "cells") for altered in ("network", "certificate")),
    Reader(
        "proofs that were begun",
        edited(lambda path: prove(_proof(), file=path), "good.part", edit_bytes),
        in_file("x.part", lambda path: prove(_proof(), file=path)),
    ),
    Reader(
        "checkpoints of machine V",
        edited(write_checkpoint, "good.npz", edit_archive),
        in_file("x.npz", lambda path: load_checkpoint(path, _machine())),
    ),
    Reader(
        "tables of figures",
        lambda rng: edit_bytes(rng, Table.of(COLUMNS, [(4, 0, 0.5), (4, 1, 0.25)]).csv()),
        in_file("x.csv", lambda path: load_table(path, COLUMNS)),
    ),
    Reader(
        "documents in general",
        edited(write_certificate, "good.json", edit_json),
        lambda data: documents.parse(data, "x", "a document"),
    ),
)
