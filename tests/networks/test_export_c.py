"""C files say what Python says: every local state to the last sum, steps, whole runs; without a warning, sanitized."""

import re
import shlex
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
    cells_network,
    check_local_states,
    check_runs,
    check_steps,
    signed,
)
from sessions import ROOT, commands_of
from whole import whole, with_weights

from bitwright import InputError, addition, multiplication, permutation
from bitwright.cli.main import main
from bitwright.exports import c_text, claim_of, exported_cells, model
from bitwright.rules.pattern import Pattern

FLAGS = ["-std=c99", "-Wall", "-Wextra", "-Wpedantic", "-Wconversion", "-Werror", "-O1"]
FLAGS += ["-fsanitize=address,undefined", "-fno-sanitize-recover=all"]
HARNESS = """
#include "%s"
#include <stdio.h>
#include <string.h>
int main(int count, char **texts)
{
    static uint8_t state[BW_BITS], next[BW_BITS];
    static char line[BW_BITS + 1];
    unsigned kind, given;
    if (count < 2)
        return 2;
    while (strcmp(texts[1], "cells") == 0 && scanf("%%u", &kind) == 1) {
        uint16_t configurations[BW_MOST_BLOCKS];
        bw_index matched[BW_MOST_BLOCKS];
        uint8_t ports[BW_MOST_PORTS];
        bw_sum sums[BW_MOST_PORTS];
        uint32_t i, n, blocks = (uint32_t)bw_kind_block[kind + 1] - bw_kind_block[kind];
        const uint32_t all = (uint32_t)bw_kind_port[kind + 1] - bw_kind_port[kind];
        for (i = 0; i < blocks && scanf("%%u", &given) == 1; i++)
            configurations[i] = (uint16_t)given;
        n = bw_match(kind, configurations, matched);
        bw_cell(kind, matched, n, ports);
        bw_sums(kind, matched, n, sums);
        for (i = 0; i < all; i++)
            printf(i ? " %%d" : "%%d", ports[i]);
        for (i = 0; i < all; i++)
            printf(" %%lld", (long long)sums[i]);
        putchar('\\n');
    }
    while (strcmp(texts[1], "cells") != 0 && scanf("%%s", line) == 1) {
        uint32_t i;
        for (i = 0; i < BW_BITS; i++)
            state[i] = line[i] == '1';
        if (strcmp(texts[1], "runs") == 0)
            printf("%%ld ", (long)bw_run(state, next));
        else {
            bw_step(state, next);
            memcpy(state, next, BW_BITS);
        }
        for (i = 0; i < BW_BITS; i++)
            putchar('0' + state[i]);
        putchar('\\n');
    }
    return 0;
}
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("c")


def compiled(source: Path, *flags: str) -> Path:
    program = source.with_suffix("")
    done = subprocess.run(["gcc", *FLAGS, *flags, str(source), "-o", str(program)], capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")
    return program


@pytest.fixture(scope="module")
def ask(folder: Path) -> Ask:
    def answer(text: str, mode: str, lines: Sequence[str]) -> list[str]:
        name = sha256(text.encode()).hexdigest()[:16]
        source, harness = folder / f"{name}.c", folder / f"{name}-harness.c"
        program = harness.with_suffix("")
        if not program.exists():
            source.write_text(text)
            harness.write_text(HARNESS % source.name)
            compiled(harness)
        done = subprocess.run([program, mode], input="\n".join(lines), capture_output=True, text=True)
        assert (done.returncode, done.stderr) == (0, "")
        return done.stdout.splitlines()

    return answer


def text_of(name: str) -> str:
    found, _ = case(name)
    return c_text(found, claim_of(found.network, found.pattern))


@for_each("name", CASES)
def test_every_local_state_and_steps(name: str, ask: Ask) -> None:
    assert check_local_states(name, ask, text_of(name)) == claim_of(case(name)[0].network, case(name)[0].pattern).states
    check_steps(name, ask, text_of(name))


@for_each(("name", "runs"), RUNS)
def test_whole_runs(name: str, runs: int, ask: Ask) -> None:
    assert check_runs(name, ask, text_of(name), runs) == runs


@pytest.mark.parametrize("table", ["bw_first", "bw_last", "bw_configuration", "bw_wire_bit"])
def test_a_changed_number_is_noticed(table: str, ask: Ask) -> None:
    name, text = "cells addition 64", text_of("cells addition 64")
    start = re.search(rf" {table}\[\d+\] = {{\n", text)
    numbers = list(re.finditer(r"-?\d+", text[start.end() : text.index("}", start.end())]))
    first = case(name)[0].network.first.astype(np.int64)
    unit = int(np.argmax(first.max(axis=1)))  # one that is active in some state
    place = {
        "bw_first": unit * first.shape[1] + int(np.argmax(first[unit])),
        "bw_last": unit * case(name)[0].core.last.shape[1],
    }
    number = numbers[place.get(table, 0)]
    at = start.end() + number.start()
    changed = str(int(number[0]) - 1 if int(number[0]) > 0 else int(number[0]) + 1)
    altered = text[:at] + changed + text[at + len(number[0]) :]
    check = check_steps if table == "bw_wire_bit" else check_local_states
    with pytest.raises(AssertionError):
        check(name, ask, altered)


def test_thresholds_that_no_integer_holds() -> None:
    network = whole(addition(1).program, 32)
    least = with_weights(network, thresholds=np.full_like(network.thresholds, -(1 << 63)))
    with pytest.raises(InputError, match=r"64.*bits"):
        exported_cells(least, Pattern.of_state(addition(1).program), addition(1))


def run_main(program: Path, *numbers: str, given: str = "") -> tuple[int, str, str]:
    done = subprocess.run([program, *numbers], input=given, capture_output=True, text=True)
    return done.returncode, done.stdout, done.stderr


@pytest.fixture(scope="module")
def long_adder(folder: Path) -> Path:
    pattern, network = cells_network("addition")
    found = exported_cells(network, pattern, addition(120))
    (folder / "long.c").write_text(c_text(found, claim_of(found.network, found.pattern)))
    return compiled(folder / "long.c", "-DBW_MAIN")


def test_numbers_of_any_length(long_adder: Path) -> None:
    a, b = 2**120 - 1, 3**70
    assert run_main(long_adder, str(a), str(b)) == (0, f"sum = {a + b}\n", "")
    assert run_main(long_adder, "0", "000") == (0, "sum = 0\n", "")
    pairs = [(7**i, 11**i) for i in range(34)]
    lines = "".join(f"{a} {b}\n" for a, b in pairs)
    assert run_main(long_adder, given=lines) == (0, "".join(f"{a + b}\n" for a, b in pairs), "")


def test_signed_numbers_and_a_run_that_does_not_end(folder: Path) -> None:
    found = signed()
    (folder / "signed.c").write_text(c_text(found, claim_of(found.network, found.pattern)))
    program = compiled(folder / "signed.c", "-DBW_MAIN")
    lines = "".join(f"{x} 1\n" for x in range(-8, 8))
    assert run_main(program, given=lines) == (0, "".join(f"{x}\n" for x in range(-8, 8)), "")
    for wrong in ("8", "-9", "-", "--1", "-16", "-100"):
        assert run_main(program, wrong, "1")[0] == 2
    assert run_main(program, "-0", "1") == (0, "x = 0\n", "")
    assert run_main(program, "3", "0") == (1, "", "the run did not end within 5 steps\n")


def test_a_network_of_cells_by_itself(folder: Path) -> None:
    pattern, network = cells_network("addition")
    found = exported_cells(network, pattern, None)
    text = c_text(found, claim_of(found.network, found.pattern))
    assert "bw_step" not in text
    (folder / "core.c").write_text(text)
    assert subprocess.run(["gcc", *FLAGS, "-c", folder / "core.c", "-o", folder / "core.o"]).returncode == 0


def test_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    pattern, network = cells_network("addition")
    with pytest.raises(InputError, match=r"network.*cell"):
        exported_cells(network, pattern, multiplication(3))
    with pytest.raises(InputError, match="another program"):
        exported_cells(network, Pattern.of_state(permutation([2, 1]).program), permutation([2, 1]))
    monkeypatch.setattr(model, "MOST_NUMBERS", 100)
    with pytest.raises(InputError, match="100"):
        exported_cells(network, pattern, None)


def test_the_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file, output = adder_file(tmp_path), tmp_path / "adder.c"
    command = ["export", str(file), "--to", "c", "-o", str(output), "--program", "addition", "--bits", "20"]
    assert main([*command, "-q"]) == 0
    assert capsys.readouterr().out == f"{output}\n"
    assert run_main(compiled(output, "-DBW_MAIN"), "719483", "483719") == (0, "sum = 1203202\n", "")
    rules = ["--program", "examples/addition.bw", "--let", "l=5"]
    assert main([*command[:6], *rules, "-q"]) == 0
    assert run_main(compiled(output, "-DBW_MAIN"), "31", "31") == (0, "sum = 62\n", "")


def test_the_javascript_of_the_guide_is_true(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its sessions are run by tests/docs/test_sessions.py; this is what one writes oneself."""
    page = ROOT / "docs" / "guides" / "elsewhere.md"
    monkeypatch.chdir(tmp_path)
    for command in commands_of(page):
        if "mul.mjs" in command.typed or command.typed.startswith("bitwright train multiplication"):
            assert main(shlex.split(command.typed)[1:]) == 0
    [code] = re.findall(r"```js\n(.*?)```", page.read_text(), flags=re.DOTALL)
    if shutil.which("node") is not None:
        shown = re.sub(r"^((?:run|read)\(.*);", r"console.log(\1);", code, flags=re.MULTILINE)
        (tmp_path / "page.mjs").write_text(shown)
        done = subprocess.run(["node", "page.mjs"], capture_output=True, text=True)
        said = re.findall(r"// (\w+)", code)
        assert (done.stdout.split(), done.stderr) == (said, "")
