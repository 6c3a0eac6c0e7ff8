"""JavaScript modules say what Python says, under node: every local state to the last sum, steps, whole runs."""

import json
import re
import shutil
import subprocess
from collections.abc import Sequence
from hashlib import sha256
from pathlib import Path

import numpy as np
import pytest
from cases import for_each
from exported import (
    CASES,
    RUNS,
    Ask,
    adder_file,
    case,
    check_local_states,
    check_runs,
    check_steps,
    signed,
)
from whole import whole, with_weights

from bitwright import InputError, addition
from bitwright.cli.main import main
from bitwright.exports import claim_of, exported_cells, js_text, js_types
from bitwright.rules.pattern import Pattern

HARNESS = """
import { readFileSync } from "node:fs";
const [module, mode] = process.argv.slice(2);
const net = await import(module);
const lines = readFileSync(0, "utf8").split("\\n").map((line) => {
  if (mode === "cells") {
    const [kind, ...configurations] = line.split(" ").map(Number);
    const matched = net.match(kind, configurations);
    return [...net.cell(kind, matched), ...net.sums(kind, matched)].join(" ");
  }
  const state = Uint8Array.from(line, Number);
  if (mode === "runs") return `${net.run(state)} ${state.join("")}`;
  const next = new Uint8Array(net.bits);
  net.step(state, next);
  return next.join("");
});
console.log(lines.join("\\n"));
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("js")
    (place / "harness.mjs").write_text(HARNESS)
    return place


@pytest.fixture(scope="module")
def ask(folder: Path) -> Ask:
    def answer(text: str, mode: str, lines: Sequence[str]) -> list[str]:
        module = folder / f"{sha256(text.encode()).hexdigest()[:16]}.mjs"
        module.write_text(text)
        command = ["node", folder / "harness.mjs", module, mode]
        done = subprocess.run(command, input="\n".join(lines), capture_output=True, text=True)
        assert (done.returncode, done.stderr) == (0, "")
        return done.stdout.splitlines()

    return answer


def text_of(name: str) -> str:
    found, _ = case(name)
    return js_text(found, claim_of(found.network, found.pattern))


@for_each("name", CASES)
def test_every_local_state_and_steps(name: str, ask: Ask) -> None:
    assert check_local_states(name, ask, text_of(name)) == claim_of(case(name)[0].network, case(name)[0].pattern).states
    check_steps(name, ask, text_of(name))


@for_each(("name", "runs"), RUNS)
def test_whole_runs(name: str, runs: int, ask: Ask) -> None:
    assert check_runs(name, ask, text_of(name), runs) == runs


@pytest.mark.parametrize("table", ["first", "last"])
def test_a_changed_weight_is_noticed(table: str, ask: Ask) -> None:
    name, text = "cells addition 64", text_of("cells addition 64")
    core = case(name)[0].core
    unit = int(np.argmax(core.first.max(axis=1)))  # one that is active in some state
    start = text.index(f"const {table} = new Int8Array([\n")
    numbers = list(re.finditer(r"-?\d+", text[text.index("[", start) : text.index("]", start)]))
    place = {"first": unit * core.first.shape[1] + int(np.argmax(core.first[unit])), "last": unit * core.last.shape[1]}
    at, number = text.index("[", start) + numbers[place[table]].start(), numbers[place[table]][0]
    altered = text[:at] + str(int(number) - 1 if int(number) > 0 else int(number) + 1) + text[at + len(number) :]
    with pytest.raises(AssertionError):
        check_local_states(name, ask, altered)


def evaluate(module: Path, expression: str) -> object:
    code = f"import * as net from {json.dumps(str(module))}; console.log(JSON.stringify({expression}))"
    done = subprocess.run(["node", "--input-type=module", "-e", code], capture_output=True, text=True)
    if done.returncode:
        return next(line for line in done.stderr.splitlines() if "Error: " in line)
    return json.loads(done.stdout)


def test_numbers_go_in_and_come_out(folder: Path) -> None:
    found = signed()
    module = folder / "signed.mjs"
    module.write_text(js_text(found, claim_of(found.network, found.pattern)))
    run = "((given) => { const s = net.load(given); const n = net.run(s); return [n, String(net.read(s).x)]; })"
    every = f"[-8, -1, 0, 7].map((x) => {run}({{ x, go: 1 }}))"
    assert evaluate(module, every) == [[0, "-8"], [0, "-1"], [0, "0"], [0, "7"]]
    assert evaluate(module, f"{run}({{ x: '-3', go: 0n }})") == [-1, "-3"]
    assert evaluate(module, "net.load({ x: 8, go: 1 })") == "RangeError: input x must fit in 4 bits"
    assert evaluate(module, "net.load({ x: 1, go: -1 })") == "RangeError: input go must fit in 1 bits"
    assert evaluate(module, "net.load({ x: 1 })") == "RangeError: input go needs a value"
    assert evaluate(module, "net.load({ x: 1, go: 1, y: 2 })") == "RangeError: there is no input y"


def test_sums_that_numbers_of_javascript_cannot_hold() -> None:
    network = whole(addition(1).program, 32)
    large = with_weights(network, thresholds=np.full_like(network.thresholds, 1 << 53))
    found = exported_cells(large, Pattern.of_state(addition(1).program), addition(1))
    with pytest.raises(InputError, match="9,007,199,254,740,992"):
        js_text(found, claim_of(found.network, found.pattern))


def test_the_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file, output = adder_file(tmp_path), tmp_path / "adder.mjs"
    command = ["export", str(file), "--to", "js", "-o", str(output), "--program", "addition", "--bits", "20"]
    assert main([*command, "--json"]) == 0
    said = json.loads(capsys.readouterr().out)
    assert said["files"] == [str(output), str(tmp_path / "adder.d.mts")]
    assert (said["name"], said["states"], said["wrong"], said["proved"]) == ("addition", 16, 0, True)
    assert said["bytes"] == output.stat().st_size
    first = output.read_bytes()
    assert main([*command, "-q"]) == 0
    assert output.read_bytes() == first


@for_each(
    ("form", "more", "line"),
    [
        ("c", ["--program", "multiplication"], "this network has no cell like that of"),
        ("js", ["--program", "multiplication"], "this network has no cell like that of"),
        ("c", ["--bits", "4"], "--bits needs --program"),
        ("c", ["--program", "machine-v"], "machine-v does not specify its words"),
        ("c", ["--program", "examples/graphs/bfs.bw"], "is a node program"),
        ("c", ["--program", "addition", "--let", "l=3"], "--let works only with rule files"),
    ],
)
def test_refused(form: str, more: list[str], line: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file, output = adder_file(tmp_path), tmp_path / {"c": "a.c", "js": "a.mjs"}[form]
    assert main(["export", str(file), "--to", form, "-o", str(output), *more]) == 2
    said = capsys.readouterr()
    assert said.out == ""
    assert line in said.err
    assert said.err.count("\n") == 1
    assert list(tmp_path.iterdir()) == [file]


@pytest.mark.skipif(shutil.which("tsc") is None, reason="TypeScript is not installed; npm install -g typescript")
def test_types_are_those_of_typescript(tmp_path: Path) -> None:
    """A use that is right is taken, and one with a wrong name or kind is not."""
    found, _ = case("cells addition 64")
    (tmp_path / "net.mjs").write_text(js_text(found, claim_of(found.network, found.pattern)))
    (tmp_path / "net.d.mts").write_text(js_types(found))
    uses = {
        "right.mts": "import { load, run, read } from './net.mjs';\n"
        "const state: Uint8Array = load({ p: 3, q: 4n });\n"
        "const steps: number = run(state);\nconst sum: bigint = read(state).sum;\nexport { steps, sum };\n",
        "name.mts": "import { load } from './net.mjs';\nexport const state = load({ p: 3, z: 4n });\n",
        "kind.mts": "import { run } from './net.mjs';\nexport const steps: string = run(new Uint8Array(3));\n",
    }
    for name, text in uses.items():
        (tmp_path / name).write_text(text)
        command = ["tsc", "--noEmit", "--strict", "--target", "es2022", "--module", "nodenext", str(tmp_path / name)]
        done = subprocess.run(command, capture_output=True, text=True)
        assert (done.returncode == 0) == (name == "right.mts"), done.stdout
