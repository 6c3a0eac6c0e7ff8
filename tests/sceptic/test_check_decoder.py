"""The sceptic confirms proofs about decoders, rejects altered certificates, and computes correct bounds."""

import base64
import importlib
import json
import struct
import sys
import zlib
from collections.abc import Callable, Iterator
from dataclasses import replace
from hashlib import sha256
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest
import torch
from adders import NAMES
from adders import load as load_adder
from altered import altered, places
from checking import SCEPTIC, checked
from decoders import (
    ROPE,
    TASKS,
    copier,
    copy,
    equal_values,
    every_input,
    groups_of,
    large_scores,
    lost_scores,
    random_decoder,
    states_of,
)
from fuzzed_decoders import Evaluation, shuffled_logits
from long import LONG

from bitwright.transformers.certificate import task_document, write_certificate
from bitwright.transformers.counterexamples import forced_margins
from bitwright.transformers.decoder import Decoder, Linear
from bitwright.transformers.files import save_decoder
from bitwright.transformers.layout import ColumnTask
from bitwright.transformers.prover import decide
from bitwright.transformers.steps import root, split

SCRIPT = "check_decoder.py"
COPY = copy(2)
HEADS: dict[str, dict[str, Any]] = {"one head": {}, "two heads": {"heads": 2, "norm": "layer", "activation": "relu"}}
OPTIONS: dict[str, dict[str, Any]] = {
    "one head": {},
    "two heads of rank 2": {"heads": 2, "rank": 2, "biases": True, "sharp": 3.0, "activation": "gelu_tanh"},
    "two heads, turned and normed": {"heads": 2, "rope": ROPE, "normed": True, "activation": "silu", "gate": True},
    "layer norm, sharp": {"norm": "layer", "activation": "relu", "rank": 3, "sharp": 10.0},
}


@pytest.fixture(scope="module")
def sceptic() -> Iterator[ModuleType]:
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(SCEPTIC)
        yield importlib.import_module("check_decoder")
        for name in ("check_decoder", "check_network", "enclosures"):
            sys.modules.pop(name, None)


def prove(folder: Path, decoder: Decoder, task: ColumnTask, arithmetic: Any = "float32") -> tuple[Path, Path]:
    """A decoder's file and its certificate."""
    network, certificate = folder / "decoder.safetensors", folder / "certificate.json"
    save_decoder(decoder, network)
    decision = decide(decoder, task, arithmetic=arithmetic)
    assert decision
    write_certificate(decision, certificate, network)
    return network, certificate


@pytest.fixture(scope="module")
def proved(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    return prove(tmp_path_factory.mktemp("decoder"), copier(np.random.default_rng(11), COPY, 2.85), COPY)


@pytest.mark.parametrize("arithmetic", ["real", "float32"])
@pytest.mark.parametrize("name", HEADS)
def test_what_is_proved_is_accepted(name, arithmetic, tmp_path):
    files = prove(tmp_path, copier(np.random.default_rng(11), COPY, 2.85, **HEADS[name]), COPY, arithmetic)
    found = checked(SCRIPT, *files)
    assert found.code == 0, found.out
    assert f"HOLDS: z == b ({arithmetic}), stop ({arithmetic})" in found.out
    assert "not checked: nothing\n" in found.out


@pytest.mark.parametrize("verdict", ["tested", "not decided", "refuted"])
def test_without_a_proof_there_is_nothing_to_check(verdict, proved, tmp_path):
    network, certificate = proved
    document = json.loads(certificate.read_text())
    for claim in document["claims"]:
        claim |= {"verdict": verdict, "trees": None}
    (tmp_path / "edited").write_text(json.dumps(document))
    found = checked(SCRIPT, network, tmp_path / "edited")
    assert (found.code, "NOTHING TO CHECK" in found.out, "HOLD" in found.out) == (1, True, False)


def test_no_arguments_give_the_usage():
    found = checked(SCRIPT)
    assert (found.code, found.out) == (2, "usage: python check_decoder.py DECODER.safetensors CERTIFICATE.json\n")


@pytest.mark.skipif(not NAMES, reason="the networks are not beside the project")
@pytest.mark.parametrize("name", [name for name in NAMES if LONG or name == "micro57"])
def test_networks_of_others(name, tmp_path):
    task, decoder = load_adder(name)
    decision = decide(decoder, task)
    save_decoder(decoder, tmp_path / "network")
    write_certificate(decision, tmp_path / "certificate", tmp_path / "network")
    found = checked(SCRIPT, tmp_path / "network", tmp_path / "certificate")
    proved_ = [claim.about for claim in decision.claims if claim.verdict == "proved"]
    assert (found.code == 0) == bool(proved_)
    assert all(about in found.out for about in proved_)


# ---- what was altered


def test_every_field_counts(proved, tmp_path):
    """Changes each value of a certificate, one at a time, and three edges.

    The version is for people. With another fixed token, one stop token less or one claim less, the rest is true.
    """
    network, certificate = proved
    document = json.loads(certificate.read_text())
    layout = ("task", "layout")
    still_true = {
        (*layout, "prompt", COPY.layout.prompt.index(3)),
        (*layout, "stop"),
        (*layout, "stop", 1),
        ("claims",),
    }
    edges = {("task", "columns", "edges", at) for at in (0, 3, len(document["task"]["columns"]["edges"]) - 1)}
    tried = 0
    for path, value in places(document):
        unread = path == ("version",) or path in still_true or isinstance(value, dict)
        if unread or (path[1:3] == ("columns", "edges") and len(path) > 3 and path[:4] not in edges):
            continue
        (tmp_path / "edited").write_text(json.dumps(altered(document, path)))
        found = checked(SCRIPT, network, tmp_path / "edited")
        assert found.code, (path, found.out)
        tried += 1
    assert tried > 100


def test_unknown_fields_and_versions_are_refused(proved, tmp_path):
    """Adds a field to each object of the certificate, and tries other formats."""
    network, certificate = proved
    document, objects = json.loads(certificate.read_text()), [()]
    claim = document["claims"][0]
    example = {"symbols": [[0]], "inputs": "", "step": 0, "right": [0], "written": [1], "replayed_by": "decoder"}
    refuted = claim | {"verdict": "refuted", "counterexample": example, "trees": None}
    document["claims"].append(refuted)
    document["comparison"] = {"inputs": 1, "largest_difference": 0.0, "bound": 0.1, "agrees": True}
    (tmp_path / "edited").write_text(json.dumps(document))
    assert checked(SCRIPT, network, tmp_path / "edited").code == 0
    objects += [("task",), ("task", "columns"), ("task", "layout"), ("task", "layout", "prompt", 0), ("comparison",)]
    objects += [("claims", 0), ("claims", 0, "trees"), ("claims", 2)]
    for path in [*objects, ("claims", 2, "counterexample")]:
        (tmp_path / "edited").write_text(json.dumps(altered(document, (*path, "more"), 0)))
        found = checked(SCRIPT, network, tmp_path / "edited")
        assert found.code == 2, path
        assert "must have exactly the fields" in found.out
    for value in ("bitwright decoder certificate 2", None, 1):
        (tmp_path / "edited").write_text(json.dumps(document | {"format": value}))
        assert checked(SCRIPT, network, tmp_path / "edited").code == 2


HEADERS: dict[str, Callable[[dict[str, Any], dict[str, Any]], object]] = {
    "another format": lambda _, about: about.update(format="bitwright decoder 2"),
    "one field more": lambda _, about: about.update(more=1),
    "another digest": lambda _, about: about.update(sha256="0" * 64),
    "more metadata": lambda header, _: header["__metadata__"].update(more="1"),
    "one field more of a tensor": lambda header, _: next(iter(header.values())).update(more=1),
    "tensors that share bytes": lambda header, _: header.update(twin=dict(header["head.0.weight"])),
}


@pytest.mark.parametrize("change", [*HEADERS, "a tensor more", "bytes more"])
def test_what_nothing_uses_is_refused_in_the_network(change, proved, tmp_path):
    data, certificate = proved[0].read_bytes(), proved[1]
    body = 8 + int.from_bytes(data[:8], "little")
    header, more = json.loads(data[8:body]), b"\0" * 4 if change in ("a tensor more", "bytes more") else b""
    about = json.loads(header["__metadata__"]["bitwright"])
    if change in HEADERS:
        HEADERS[change](header, about)
    if change == "a tensor more":
        at = len(data) - body
        header["zero"] = {"dtype": "F32", "shape": [1], "data_offsets": [at, at + 4]}
    header["__metadata__"]["bitwright"] = json.dumps(about)
    names = sorted((name, tensor) for name, tensor in header.items() if name != "__metadata__")
    parts = [json.dumps(about["decoder"], sort_keys=True).encode()]
    stored = data[body:] + more
    for name, tensor in names:
        begin, end = tensor["data_offsets"]
        parts.append(f"\n{name} float32 {tuple(tensor['shape'])}\n".encode() + stored[begin:end])
    digest = sha256(b"".join(parts)).hexdigest()
    if change != "another digest":
        header["__metadata__"]["bitwright"] = json.dumps(about | {"sha256": digest})
    text = json.dumps(header).encode()
    file = len(text).to_bytes(8, "little") + text + stored
    (tmp_path / "network").write_bytes(file)
    document = json.loads(certificate.read_text())
    document |= {"network": sha256(file).hexdigest(), "weights": digest}
    (tmp_path / "certificate").write_text(json.dumps(document))
    assert checked(SCRIPT, tmp_path / "network", tmp_path / "certificate").code in (1, 2)


def grown(box: np.ndarray, symbols: np.ndarray, depth: int, rng: np.random.Generator) -> list[int]:
    """Returns a tree of random splits of a box; `symbols` are all inputs of the group, with their states."""
    inside = symbols[((box[0] <= symbols) & (symbols <= box[1])).all(1)]
    free = np.flatnonzero(box[0] < box[1])
    if not depth or not len(inside):
        return [65535 if len(inside) else 65534]
    variable = rng.choice(free, 1)
    halves = split(box[None], variable)
    return [int(variable[0]), *(code for half in halves for code in grown(half[0], inside, depth - 1, rng))]


def packed(trees: dict[tuple[int, ...], list[int]]) -> dict[str, Any]:
    codes = [code for tree in trees.values() for code in tree]
    nodes = base64.b64encode(zlib.compress(struct.pack(f"<{len(codes)}H", *codes))).decode()
    return {"groups": [[*group, len(tree)] for group, tree in trees.items()], "nodes": nodes}


def subtree(codes: list[int], at: int) -> int:
    """Returns the end of the subtree that begins at a node."""
    open_ = 1
    while open_:
        open_ += 1 if codes[at] < 65534 else -1
        at += 1
    return at


def sound(box: np.ndarray, symbols: np.ndarray, codes: list[int]) -> bool:
    """Returns whether a tree divides a box and marks its empty boxes correctly."""
    waiting = [box]
    for code in codes:
        if not waiting:
            return False
        box = waiting.pop()
        inside = bool(((box[0] <= symbols) & (symbols <= box[1])).all(1).any())
        if code < box.shape[1]:
            if box[0, code] == box[1, code]:
                return False
            first, second = split(box[None], np.array([code]))
            waiting += [second[0], first[0]]
        elif code != (65535 if inside else 65534):
            return False
    return not waiting


def test_edited_trees_are_refused(proved, tmp_path):
    """Checks a certificate with edited trees and the matching number of boxes."""
    network, certificate = proved
    document, inputs, trees, mine = json.loads(certificate.read_text()), every_input(COPY), {}, {}
    rng, symbols = (
        np.random.default_rng(3),
        np.concatenate([inputs.reshape(len(inputs), -1), states_of(COPY, inputs)], 1),
    )
    for *names, _ in document["claims"][0]["trees"]["groups"]:
        group = tuple(names)
        mine[group] = symbols[[other == group for other in groups_of(COPY, inputs, group[0])]]
        trees[group] = grown(root(COPY, group), mine[group], 3, rng)

    def accepted(edit: dict[tuple[int, ...], list[int]]) -> bool:
        claim = document["claims"][0] | {"trees": packed(edit), "boxes": sum(map(len, edit.values()))}
        (tmp_path / "edited").write_text(json.dumps(document | {"claims": [claim]}))
        return checked(SCRIPT, network, tmp_path / "edited").code == 0

    assert accepted(trees)
    refused = 0
    for group in [group for group in trees if len(trees[group]) > 3][::6]:
        codes, middle = trees[group], subtree(trees[group], 1)
        another = max(other for other in trees if other[0] == group[0] and other != group)
        edits = {
            "cut": {group: codes[:-1]},
            "without the second half": {group: codes[:middle]},
            "halves swapped": {group: [codes[0], *codes[middle:], *codes[1:middle]]},
            "longer": {group: [*codes, 65535]},
            "empty where it is not": {group: [65534 if code == 65535 else code for code in codes]},
            "another variable": {group: [codes[0] + 1, *codes[1:]]},
            "no such variable": {group: [600, *codes[1:]]},
            "another group's": {group: trees[another], another: codes},
            "a group that is none": {(9, 9, 9): [65535]},
        }
        for name, edit in edits.items():
            true = all(other in mine and sound(root(COPY, other), mine[other], tree) for other, tree in edit.items())
            assert accepted(trees | edit) == true, (name, group)
            refused += not true
        assert not accepted({other: tree for other, tree in trees.items() if other != group})
    assert refused > 20


def forge(certificate: Path, network: Path, path: Path) -> None:
    """Returns the certificate with the hashes of another network."""
    document = json.loads(certificate.read_text())
    data = network.read_bytes()
    header = json.loads(data[8 : 8 + int.from_bytes(data[:8], "little")])
    weights = json.loads(header["__metadata__"]["bitwright"])["sha256"]
    document |= {"network": sha256(data).hexdigest(), "weights": weights}
    path.write_text(json.dumps(document))


def test_another_network_is_refused(proved, tmp_path):
    """One weight is changed: the hash differs; with a corrected hash, the wrong answer is detected."""
    _, certificate = proved
    decoder = copier(np.random.default_rng(11), COPY, 2.85)
    (last,) = decoder.head
    for change, code in ((2.0**-20, 0), (40.0, 1)):
        weight = np.array(last.weight)
        weight[np.unravel_index(weight.argmax(), weight.shape)] -= change
        changed = replace(decoder, head=(Linear(weight),))
        save_decoder(changed, tmp_path / "changed")
        assert checked(SCRIPT, tmp_path / "changed", certificate).code == 1
        forge(certificate, tmp_path / "changed", tmp_path / "forged")
        found = checked(SCRIPT, tmp_path / "changed", tmp_path / "forged")
        assert found.code == code, found.out
        assert (forced_margins(changed, COPY, every_input(COPY)).min() > 0) == (code == 0)


def test_a_margin_that_no_input_has_is_refused(proved, tmp_path):
    network, certificate = proved
    decoder, document = copier(np.random.default_rng(11), COPY, 2.85), json.loads(certificate.read_text())
    least = forced_margins(decoder, COPY, every_input(COPY))[:, : len(COPY.layout.answer)].min()
    for margin, code in ((document["claims"][0]["margin"], 0), (float(least) * (1 + 1e-6), 1)):
        (tmp_path / "edited").write_text(json.dumps(altered(document, ("claims", 0, "margin"), margin)))
        assert checked(SCRIPT, network, tmp_path / "edited").code == code


def rewritten(network: Path, path: Path, change: Callable[[dict[str, Any]], object]) -> None:
    """Writes the network's file with another structure and a matching hash."""
    data = network.read_bytes()
    body = 8 + int.from_bytes(data[:8], "little")
    header = json.loads(data[8:body])
    document = json.loads(header["__metadata__"]["bitwright"])
    change(document["decoder"])
    total = sha256(json.dumps(document["decoder"], sort_keys=True).encode())
    for name, tensor in sorted((name, tensor) for name, tensor in header.items() if name != "__metadata__"):
        begin, end = tensor["data_offsets"]
        total.update(f"\n{name} float32 {tuple(tensor['shape'])}\n".encode() + data[body + begin : body + end])
    header["__metadata__"]["bitwright"] = json.dumps(document | {"sha256": total.hexdigest()})
    text = json.dumps(header).encode()
    path.write_bytes(len(text).to_bytes(8, "little") + text + data[body:])


STRUCTURES: dict[str, Callable[[dict[str, Any]], object]] = {
    "unchanged": dict.copy,
    "a setting of the checker": lambda decoder: decoder.update(unit=0.0),
    "one of a layer": lambda decoder: decoder["layers"][0].update(length=0.0),
    "a norm that nobody knows": lambda decoder: decoder["final_norm"].update(kind="other"),
    "two layers": lambda decoder: decoder["layers"].append(decoder["layers"][0]),
    "a scale of 2 as an integer": lambda decoder: [head.update(scale=-2) for head in decoder["layers"][0]["heads"]],
    "a gate that is no chain": lambda decoder: decoder["layers"][0]["mlp"].update(gate=[]),
}


@pytest.mark.parametrize("change", STRUCTURES.values(), ids=STRUCTURES)
def test_structures_that_mean_something_else_are_refused(change, proved, tmp_path):
    network, certificate = proved
    rewritten(network, tmp_path / "network", change)
    forge(certificate, tmp_path / "network", tmp_path / "certificate")
    found = checked(SCRIPT, tmp_path / "network", tmp_path / "certificate")
    assert (found.code == 0) == (change is STRUCTURES["unchanged"]), found.out


def test_names_that_hide_inputs_are_refused(proved, tmp_path):
    """A flag without a name stands for the stop token, and no run ends in it."""
    network, certificate = proved
    text = certificate.read_text().replace('"last"', '""')
    document = json.loads(text)
    document["claims"] = document["claims"][1:] + document["claims"][:1]
    (tmp_path / "edited").write_text(json.dumps(document))
    assert checked(SCRIPT, network, tmp_path / "edited").code == 0  # as good a name as any
    document["claims"][0] |= {"trees": {"groups": [], "nodes": packed({})["nodes"]}, "boxes": 3}
    (tmp_path / "edited").write_text(json.dumps(document))
    assert checked(SCRIPT, network, tmp_path / "edited").code == 1
    document["task"]["columns"]["words"][0] = None
    (tmp_path / "edited").write_text(json.dumps(document))
    assert checked(SCRIPT, network, tmp_path / "edited").code == 2


@pytest.mark.parametrize("damage", ["cut", "byte", "no certificate", "NaN"])
def test_damaged_files_are_refused(damage, proved, tmp_path):
    network, certificate = ((tmp_path / name) for name in ("network", "certificate"))
    data, text = proved[0].read_bytes(), proved[1].read_text()
    network.write_bytes(
        data[:-1] if damage == "cut" else data[:-1] + bytes([data[-1] ^ 1]) if damage == "byte" else data
    )
    certificate.write_text("{}" if damage == "no certificate" else text.replace('"margin":', '"margin":NaN,"x":'))
    if damage in ("cut", "byte"):
        certificate.write_text(text)
    assert checked(SCRIPT, network, certificate).code in (1, 2)


# ---- bounds


def real(ranges: list[tuple[int, int]], side: int) -> np.ndarray:
    """Returns one end of each range."""
    return np.array([ends[side] for ends in ranges], float) / 2.0**60


def document_of(task: ColumnTask) -> dict[str, Any]:
    return json.loads(json.dumps(task_document(task)))


@pytest.mark.parametrize("options", OPTIONS.values(), ids=OPTIONS)
@pytest.mark.parametrize("task", TASKS.values(), ids=TASKS)
def test_bounds_hold_for_every_input(sceptic, task, options, tmp_path):
    """No input of a group, or of boxes from random splits of it, has a smaller margin than the bound."""
    rng = np.random.default_rng(7)
    decoder, inputs = random_decoder(rng, task, **options), every_input(task)
    save_decoder(decoder, tmp_path / "network")
    mine, margins = sceptic.Task(document_of(task)), forced_margins(decoder, task, inputs)
    reader = sceptic.Decoder((tmp_path / "network").read_bytes(), 0, len(mine.slots))
    symbols = np.concatenate([inputs.reshape(len(inputs), -1), states_of(task, inputs)], 1)
    assert mine.inputs == len(inputs)
    tried, close = 0, 0.0
    for number in range(margins.shape[1]):
        of, exactly = groups_of(task, inputs, number), Evaluation(decoder, torch.float64)
        exactly(task.rows(inputs)[:, : task.prompt_length + number])
        outputs = exactly.heads[:, -1].numpy()
        every = set(mine.groups("stop" if number == len(task.layout.answer) else ""))
        assert set(of) <= every or number < len(task.layout.answer)
        for group in sorted(set(of)):
            rows = np.array([other == group for other in of])
            group_ = sceptic.Group(sceptic.Step(reader, mine, *group[:2]), *group, 0)
            box = np.array([group_.low, group_.high])
            for count in (0, 3, 20):
                for _ in range(count):
                    free = np.flatnonzero(box[0] < box[1])
                    at = rng.choice(free) if len(free) else 0
                    middle, half = box[:, at].sum() // 2, rng.integers(2)
                    box[1 - half, at] = middle + half if len(free) else box[1 - half, at]
                inside = rows & ((box[0] <= symbols) & (symbols <= box[1])).all(1)
                low, high = box.tolist()
                assert group_.possible(low, high) == inside.any()
                if not inside.any():
                    break
                ranges = group_.near(low, high).ranges(group_.keys(low, high), group_.ends)
                reached = outputs[inside]
                assert (real(ranges, 0) - 1e-12 <= reached).all()
                assert (reached <= real(ranges, 1) + 1e-12).all()
                bound = reader.margins(ranges, group_.step.last, group_.right)[0] / sceptic.ONE
                least = margins[inside, number].min()
                assert bound <= least + 1e-12
                tried += 1
                close = max(close, np.exp(bound - least))
                box = np.array([group_.low, group_.high]) if count == 20 else box
    assert tried > 20
    assert close > 0.5  # where the box is small, the bound is near


@pytest.mark.parametrize("make", [large_scores, equal_values])
def test_the_rounding_of_attention_in_float32_is_covered(make, sceptic, tmp_path):
    """The bounds cover rounding of scores and of weighted sums, which bounds for real arithmetic do not."""
    rng, task, outside = np.random.default_rng(8), TASKS["highest first"], 0
    decoder, inputs = make(rng, task), every_input(task)
    save_decoder(decoder, tmp_path / "network")
    mine, begin = sceptic.Task(document_of(task)), task.rows(inputs)[:, : task.prompt_length + 1]
    data = (tmp_path / "network").read_bytes()
    runs = [shuffled_logits(decoder, begin, rng)[0] for _ in range(20)]
    symbols = np.concatenate([inputs.reshape(len(inputs), -1), states_of(task, inputs)], 1).tolist()
    for unit in (0, 1):
        reader = sceptic.Decoder(data, unit, len(mine.slots))
        for index, group in list(enumerate(groups_of(task, inputs, 1)))[:: len(inputs) // 12]:
            inside = sceptic.Group(sceptic.Step(reader, mine, *group[:2]), *group, 0)
            keys = inside.keys(symbols[index], symbols[index])
            ranges = inside.near(symbols[index], symbols[index]).ranges(keys, inside.ends)
            low, high = real(ranges, 0), real(ranges, 1)
            out = sum(bool((run[index] < low).any() or (run[index] > high).any()) for run in runs)
            assert not (unit and out)
            outside += out
    assert outside > 20


def test_scores_of_which_float32_loses_terms_are_bounded(sceptic, tmp_path):
    task, decoder = lost_scores()
    save_decoder(decoder, tmp_path / "network")
    mine, box = sceptic.Task(document_of(task)), [1, 0, 0, 0, 0]
    real_only = sceptic.Decoder((tmp_path / "network").read_bytes(), 0, len(mine.slots))
    inside = sceptic.Group(sceptic.Step(real_only, mine, 0, -1), 0, -1, 0, 0)
    ((low, high),) = inside.near(box, box).ranges(inside.keys(box, box), inside.ends)
    assert low / sceptic.ONE <= (np.e - 2) / (np.e + 2) <= high / sceptic.ONE
    assert low / sceptic.ONE > 0.1
    single = sceptic.Decoder((tmp_path / "network").read_bytes(), 1, len(mine.slots))
    with pytest.raises(SystemExit):  # the error of a score is too large
        sceptic.Step(single, mine, 0, -1)


def test_weights_leave_room_for_the_exp_of_libraries(sceptic, tmp_path):
    """All scores are exactly 0, but a weight may have an error of 4 units in the last place."""
    task, inputs = TASKS["highest first"], every_input(TASKS["highest first"])
    decoder = random_decoder(np.random.default_rng(8), task)
    (head,) = decoder.layers[0].heads
    head = replace(head, query=(Linear(0 * head.query[0].weight),))
    save_decoder(replace(decoder, layers=(replace(decoder.layers[0], heads=(head,)),)), tmp_path / "network")
    mine = sceptic.Task(document_of(task))
    reader = sceptic.Decoder((tmp_path / "network").read_bytes(), 1, len(mine.slots))
    names = groups_of(task, inputs, 1)[0]
    group = sceptic.Group(sceptic.Step(reader, mine, *names[:2]), *names, 0)
    low, high = group.step.sums[0][0].extremes(group.keys(group.low, group.high), group.ends)
    terms, ulp = task.prompt_length + 1, 2.0**-23
    assert low / sceptic.ONE <= terms * (1 - 4 * ulp)
    assert high / sceptic.ONE >= terms * (1 + 4 * ulp)


@pytest.mark.parametrize("options", OPTIONS.values(), ids=OPTIONS)
def test_float32_in_any_order_is_covered(sceptic, options, tmp_path):
    """Every float32 margin exceeds the bound for float32, and some are below the bound for real arithmetic."""
    rng, task = np.random.default_rng(11), TASKS["highest first"]
    decoder, inputs = random_decoder(rng, task, **options), every_input(task)
    save_decoder(decoder, tmp_path / "network")
    mine, data, rows = sceptic.Task(document_of(task)), (tmp_path / "network").read_bytes(), task.rows(inputs)
    symbols, below = np.concatenate([inputs.reshape(len(inputs), -1), states_of(task, inputs)], 1).tolist(), 0
    readers = [sceptic.Decoder(data, unit, len(mine.slots)) for unit in (0, 1)]
    number = 2
    begin = rows[:, : task.prompt_length + number]
    runs = [shuffled_logits(decoder, begin, rng) for _ in range(20)]
    for index, group in list(enumerate(groups_of(task, inputs, number)))[:: len(inputs) // 12]:
        bounds = []
        for reader in readers:
            group_ = sceptic.Group(sceptic.Step(reader, mine, *group[:2]), *group, 0)
            ranges = group_.near(symbols[index], symbols[index]).ranges(
                group_.keys(symbols[index], symbols[index]), group_.ends
            )
            bounds.append(reader.margins(ranges, group_.step.last, group_.right)[0] / sceptic.ONE)
        (right,) = group_.right
        others = [
            row[right] - np.delete(row, right).max() for row in (values[index].astype(float) for _, values in runs)
        ]
        low, high = np.array(ranges).T / sceptic.ONE  # of float32, which is the second reader's
        assert all(((low <= outputs[index]) & (outputs[index] <= high)).all() for outputs, _ in runs)
        assert bounds[1] <= min(others)
        assert bounds[1] > bounds[0] - 1e-2
        below += min(others) < bounds[0]
    assert below


@pytest.mark.parametrize("change", ["no run", "two runs"])
def test_an_automaton_has_one_run_for_each_input(change, sceptic):
    document = document_of(COPY)
    sceptic.Task(document_of(COPY))
    columns = document["columns"]
    if change == "no run":
        del columns["edges"][-1]
    else:
        columns["starts"][columns["starts"].index(False)] = True
    with pytest.raises(SystemExit):
        sceptic.Task(document)
