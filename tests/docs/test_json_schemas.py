"""What `--json` prints fits the schemas: every verb, verdict, engine; and every key is explained."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click
import pytest
from calling import Captured
from cases import for_each
from decoders import bit_copier
from json_schemas import FOLDER, assert_fits, widened

from bitwright.cli.main import VERBS, cli, main
from bitwright.transformers import save_decoder

ROOT = Path(__file__).parents[2]
NET = "{folder}/net.safetensors"
NARROW = ["train", "--tile", "all", "addition", "--bits", "4", "--width", "32", "--seed", "0", "-o", NET]
COUNTER = "examples/addition-counter.bw"
INTEGER = ["train", "--tile", "all", "addition", "--bits", "2", "--width", "256", "-o", NET]
HALTING = ["train", "--tile", "all", COUNTER, "--let", "l=2", "--width", "4096", "-o", NET]
TINY = ["--machine", "V:8x5:plain", "--max-steps", "1"]
DATA = ["export", "addition", "--bits", "2", "-o", "{folder}/s.npz", "--from"]
SIZED = [
    ["export", "addition", "--bits", str(size), "--from", "states:200", "-o", f"{{folder}}/{size}.npz"]
    for size in (4, 5)
]
UNREAD = ["--blocks", "{folder}/unread.bw"]  # every bit by itself, which contradicts the data
# Addition with another rule for its first case, and a bit with four writers beside twelve other matches.
CROWD = """bits x[4] z[12] y
block x[i] for i in 1..4
block z[i] for i in 1..12
block y
when x[i]=1 write y for i in 1..4
when z[i]=1 write z[i] for i in 1..12
input x z
output y
steps 1
matches 9
"""
FLOODING = "examples/graphs/flooding.bw"
CELLS = ["train", "addition", "--bits", "3", "-o", NET]
ADDER = ["certify", "examples/transformers/adder.task", "--network", "examples/transformers/adder.safetensors"]
WRONG = ["certify", "{folder}/copy.task", "--network", "{folder}/wrong.safetensors"]
TRIED = ["certify", "{folder}/copy.task", "--network", "{folder}/right.safetensors", "--seconds", "0"]
TRAINED = ["train", "{folder}/copy.task", "-o", "{folder}/copy.safetensors"]
# The kind of document, the exit code, and commands, of which the last is looked at.
CASES: list[tuple[str, int, list[list[str]]]] = [
    ("run", 0, [["multiply", "13", "11", "--engine", "limit", "--rounding", "sign"]]),
    ("run", 0, [["run", "permutation", "p=0b10110", "--order", "3,1,2,5,4"]]),
    ("run", 0, [CELLS, ["add", "719", "483", "--engine", "network", "--network", NET]]),
    ("run-image", 0, [["run", "examples/subleq/hello.sq", "--engine", "limit"]]),
    ("certify", 0, [["certify", "addition", "--bits", "6", "--rounding", "sign"]]),
    ("train", 0, [INTEGER]),
    ("train", 1, [NARROW]),
    ("train", 0, [CELLS]),
    ("show-network", 0, [INTEGER, ["show", NET]]),
    ("certify-network", 0, [INTEGER, ["certify", "addition", "--network", NET, "--domain", "runs"]]),
    ("certify-decoder", 0, [ADDER]),
    ("certify-decoder", 1, [WRONG]),
    ("certify-decoder", 1, [TRIED]),
    ("train-decoder", 0, [TRAINED]),
    ("show-decoder", 0, [["show", "examples/transformers/adder.safetensors"]]),
    ("check", 0, [["check", "examples/transformers/adder.task"]]),
    ("export", 0, [INTEGER, ["export", NET, "--to", "vnnlib", "-o", "{folder}/properties"]]),
    ("export", 0, [INTEGER, ["export", NET, "--to", "onnx", "-o", "{folder}/net.onnx"]]),
    ("export", 0, [CELLS, ["export", NET, "--to", "onnx", "-o", "{folder}/net.onnx", "--program", "addition"]]),
    ("export", 0, [CELLS, ["export", NET, "--to", "page", "-o", "{folder}/net.html", "--program", "addition"]]),
    (
        "infer",
        0,
        [
            [*DATA, "states:300"],
            ["infer", "{folder}/s.npz", "--blocks", "find"],
        ],
    ),
    ("run", 1, [["add", "37", "45", "--engine", "sampled", "--rounding", "sign"]]),
    ("run", 1, [["run", "examples/subtraction.bw", "a=1", "b=2", "--max-steps", "1"]]),
    ("run", 0, [["run", "examples/sbn/gcd.sbn", "a=12", "b=18", "--engine", "limit"]]),
    ("run", 0, [["run", "examples/graphs/bfs.bw", "--graph", "path:3", "source=1", "--engine", "limit"]]),
    ("run-image", 0, [["run", "examples/subleq/hello.sq", "--memory", "0:2"]]),
    ("run-image", 1, [["run", "examples/subleq/hello.sq", "--max-steps", "2"]]),
    ("certify", 1, [["certify", "multiplication", "--bits", "3", "--rounding", "sign", "--padding", "0"]]),
    ("certify", 0, [["certify", "addition", "--bits", "3", "--n", "reachable"]]),
    ("certify", 0, [["certify", "addition", "--bits", "3", "--tile", "1"]]),
    ("certify", 0, [["certify", FLOODING, "--tile", "1"]]),
    ("certify-network", 0, [["train", FLOODING, "-o", NET], ["certify", FLOODING, "--network", NET]]),
    ("certify-network", 0, [CELLS, ["certify", "addition", "--bits", "3", "--network", NET]]),
    ("export", 0, [CELLS, ["export", NET, "--to", "c", "-o", "{folder}/net.c"]]),
    ("export", 0, [CELLS, ["export", NET, "--to", "js", "-o", "{folder}/net.mjs"]]),
    ("show-network", 0, [CELLS, ["show", NET]]),
    ("size", 0, [["size", "addition", "--bits", "3"]]),
    ("validate", 0, [["validate", "examples/comparison.bw", "--random", "20"]]),
    ("validate", 1, [["validate", "addition", "--bits", "2", "--engine", "sampled", "--rounding", "sign"]]),
    ("check", 1, [["check", "{folder}/wrong.bw"]]),
    ("check", 0, [["check", "examples/graphs/bfs.bw"]]),
    ("show", 0, [["show", "multiplication", "--bits", "3"]]),
    ("show-cells", 0, [["show", "addition", "--bits", "4", "--tile", "2"]]),
    ("trace", 0, [["trace", "examples/comparison.bw", "a=3", "b=4", "--engine", "limit"]]),
    ("examples", 0, [["examples", "{folder}"]]),
    ("certify", 0, [["certify", "multiplication", "--bits", "3", "--n", "declared"]]),
    ("size", 0, [["size", "multiplication", "--bits", "3", "--n", "declared"]]),
    (
        "certify-network",
        1,
        [
            [*NARROW, "--weight-bits", "2"],
            ["certify", "addition", "--network", NET, "--domain", "runs"],
        ],
    ),
    ("certify-network", 1, [NARROW, ["certify", "addition", "--network", NET]]),
    ("certify-network", 0, [HALTING, ["certify", COUNTER, "--let", "l=2", "--network", NET, "--domain", "runs"]]),
    ("show-network", 0, [NARROW, ["show", NET]]),
    ("check", 0, [["check", "{folder}/odd.bw"]]),
    ("dataset", 0, [["export", "addition", "--bits", "2", "-o", "{folder}/set.npz"]]),
    ("dataset-executions", 0, [["export", "addition", "--from", "runs:3", "-o", "{folder}/runs.npz"]]),
    ("trace", 0, [["trace", "addition", "p=1", "q=2", "--engine", "sampled", "--networks", "99"]]),
    ("run-image", 1, [["run", "{folder}/one.dec", *TINY, "--engine", "sampled", "--networks", "99"]]),
    ("validate", 1, [["validate", "{folder}/crowd.bw", "--rounding", "sign", "--padding", "0"]]),
    ("validate", 0, [["validate", "multiplication", "--bits", "3"]]),
    ("validate", 0, [CELLS, ["validate", "addition", "--bits", "3", "--network", NET, "--engine", "network"]]),
    ("infer-families", 0, [*SIZED, ["infer", "l=4:{folder}/4.npz", "l=5:{folder}/5.npz", "-o", "{folder}/all.bw"]]),
    ("infer-families", 1, [*SIZED, ["infer", "l=4:{folder}/4.npz", "l=5:{folder}/5.npz", *UNREAD]]),
    ("infer-families", 1, [*SIZED, ["infer", "l=4:{folder}/4.npz", "l=6:{folder}/5.npz"]]),
]


@for_each(("kind", "code", "commands"), CASES)
def test_documents_fit_their_schema(
    kind: str, code: int, commands: list[list[str]], capsys: Captured, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.chdir(ROOT)
    (tmp_path / "wrong.bw").write_text("bits a\nblock a\nwhen a=2 write b\n")
    (tmp_path / "odd.bw").write_text("bits a b\nblock a\nblock b\nwhen a=1 write a\nwhen b=1 write a\ninput a\n")
    (tmp_path / "unread.bw").write_text(
        "let l = 4\nbits p[l] q[l] c[l]\n" + "".join(f"block {x}[i] for i in 1..l\n" for x in "pqc")
    )
    (tmp_path / "crowd.bw").write_text(CROWD)
    (tmp_path / "one.dec").write_text("5")
    (tmp_path / "copy.task").write_text(
        "words a: 4 symbols 0..1\nensure z[i] == a[i] for i in 1..4\nprompt a[1..4]\nanswer z[4..1]\n"
    )
    for name, sharp in (("right", 6.0), ("wrong", 0.0)):
        save_decoder(bit_copier(sharp)[1], tmp_path / f"{name}.safetensors")
    for command in commands:
        capsys.readouterr()
        found = main([*(part.replace("{folder}", str(tmp_path)) for part in command), "--json"])
    assert found == code
    assert_fits(kind, json.loads(capsys.readouterr().out))


def test_every_verb_with_json_has_a_schema() -> None:
    context = click.Context(cli)
    for verb in VERBS:
        command = cli.get_command(context, verb)
        assert command is not None
        if any("--json" in parameter.opts for parameter in command.params):
            assert (FOLDER / f"{'run' if verb in ('add', 'multiply') else verb}.json").exists(), verb


def test_every_schema_is_of_something() -> None:
    assert {path.stem for path in FOLDER.glob("*.json")} == {kind for kind, _, _ in CASES}


def parts(schema: dict[str, Any], place: str) -> Iterator[tuple[str, dict[str, Any]]]:
    yield place, schema
    for key, part in schema.get("properties", {}).items():
        yield from parts(part, f"{place}.{key}")
    if "items" in schema:
        yield from parts(schema["items"], f"{place}[]")


def test_no_schema_knows_only_that_something_is_missing() -> None:
    """A key that was only ever seen as null, or an array only ever seen empty, is one that no case has reached."""
    for path in FOLDER.glob("*.json"):
        for place, part in parts(json.loads(path.read_text()), path.stem):
            assert part["type"] != "null", place
            assert "array" not in part["type"] or "items" in part, place


def test_every_key_is_explained() -> None:
    """In the schema itself, from which the site makes its tables."""
    for path in FOLDER.glob("*.json"):
        for place, part in parts(json.loads(path.read_text()), path.stem):
            if not place.endswith("[]") and place != path.stem:
                assert len(part.get("description", "")) > 4, place


def test_what_a_schema_does_not_know_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("WIDEN_SCHEMAS", raising=False)
    document = {"name": "x", "steps": 3, "inputs": {"p": 1}}
    schema = widened(None, document)
    assert schema["required"] == ["inputs", "name", "steps"]
    assert widened(schema, {"name": None, "inputs": {}})["required"] == ["inputs", "name"]
    with pytest.raises(AssertionError, match=r"\$: .*was unexpected"):
        assert_fits("examples", {"folder": "", "entries": [], "surprise": 1})
