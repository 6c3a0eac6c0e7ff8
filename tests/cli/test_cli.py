"""The command line as a user meets it: answers, exit codes, and one clear line for whatever is wrong."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from calling import Captured, answer, call, refusal
from cases import for_each
from programs import EXAMPLES
from serving import RING
from waiting import PATIENCE

from bitwright import __version__, multiplication
from bitwright.cli.main import VERBS


def test_add(capsys: Captured) -> None:
    assert answer(capsys, "add 719 483") == "719 + 483 = 1202\n"
    assert answer(capsys, "add 719 483 --quiet") == "1202\n"
    assert answer(capsys, "add 0xff 0b1 -q") == "256\n"
    assert answer(capsys, "add 0 0 -q") == "0\n"


def test_notes_go_to_stderr(capsys: Captured) -> None:
    _, out, err = call(capsys, "multiply 719 483")
    assert out == "719 * 483 = 347277\n"
    assert err == "202 templates, 430 steps, engine templates\n"


def test_json_of_a_product(capsys: Captured) -> None:
    assert json.loads(answer(capsys, "multiply 719 483 --json")) == {
        "name": "multiplication",
        "program_id": multiplication(10).program.id,
        "inputs": {"multiplicand": 719, "multiplier": 483},
        "seed": None,
        "value": 347277,
        "outputs": {"product": 347277},
        "bits": 10,
        "steps": 430,
        "halted": True,
        "engine": "templates",
        "rounding": None,
        "examples": None,
        "margin": None,
    }


def test_numbers_longer_than_python_likes_to_print(capsys: Captured) -> None:
    big = 10**4999
    sys.set_int_max_str_digits(0)
    try:
        assert answer(capsys, "add", big, big, "-q") == f"{big + big}\n"
        assert json.loads(answer(capsys, "add", big, 1, "--json"))["value"] == big + 1
    finally:
        sys.set_int_max_str_digits(4300)


def test_bits_default_to_the_smallest_that_fit(capsys: Captured) -> None:
    assert json.loads(answer(capsys, "add 7 8 --json"))["bits"] == 4
    assert json.loads(answer(capsys, "add 7 8 --bits 9 --json"))["bits"] == 9


def test_counter_lets_the_program_halt_by_itself(capsys: Captured) -> None:
    document = json.loads(answer(capsys, "add 7 8 --counter --json"))
    assert (document["value"], document["steps"]) == (15, 7)


def test_run_a_file(capsys: Captured) -> None:
    out = answer(capsys, "run", EXAMPLES / "subtraction.bw", "a=483", "b=719")
    assert out == "difference = 788\nnegative = 1\n"
    document = json.loads(answer(capsys, "run", EXAMPLES / "subtraction.bw", "a=719", "b=483", "--json"))
    assert document["outputs"] == {"difference": 236, "negative": 0}
    assert "value" not in document
    assert document["bits"] == 10


def test_outputs_in_hexadecimal(capsys: Captured) -> None:
    """Outputs have the base of the inputs; where these have two bases they are decimal."""
    subtraction = ("run", EXAMPLES / "subtraction.bw")
    assert answer(capsys, *subtraction, "a=0x2cf", "b=0x1e3").startswith("difference = 0xec\n")
    assert answer(capsys, *subtraction, "a=0x2CF", "b=483", "-q") == "0xec\n0x0\n"
    assert answer(capsys, *subtraction, "a=0X2cf", "b=0b111100011", "-q") == "236\n0\n"
    assert answer(capsys, *subtraction, "a=0b1011001111", "b=0b111100011", "-q") == "0b0011101100\n0b0\n"
    assert answer(capsys, "run", EXAMPLES / "sbn" / "add.sbn", "a=-0x10", "b=1", "-q").split()[-1] == "-0xf"
    assert answer(capsys, "add 0x2cf 0x1e3") == "0x2cf + 0x1e3 = 0x4b2\n"
    assert answer(capsys, "multiply 0b11 0b10 -q") == "0b110\n"


def test_a_program_that_never_halts_says_so_and_exits_1(capsys: Captured, tmp_path: Path) -> None:
    blink = tmp_path / "blink.bw"
    blink.write_text("bits a b\nblock a\nblock b\nwhen a=1 write b\nwhen b=1 write a\nstart a\n")
    code, out, err = call(capsys, "run", blink, "--max-steps", 1000)
    assert (code, out) == (1, "")
    assert err == "bitwright: blink did not halt within 1,000 steps; raise --max-steps, or check its rules\n"
    code, out, _ = call(capsys, "run", blink, "--max-steps", 1000, "--json")
    assert code == 1
    assert json.loads(out)["halted"] is False


FIVE_MISTAKES = """\
let l = 4
bits p[l] q[l] c[l] alone
block p[i] q[i] for i in 1..l
block c[i]      for i in 1..l
when p[i]=0 q[i]=1 write p[i] for i in 1..l
when p[i]=1 q[i]=0 wirte p[i] for i in 1..l
when p[i]=1 c[i]=1 write c[i] for i in 1..l
when c[i]=1 write q[i+1] for i in 1..l
when c[l]=1 write d
input p q
output c[l] p
steps 2*l
"""


def test_check_lists_all_five_mistakes(capsys: Captured, tmp_path: Path) -> None:
    path = tmp_path / "five.bw"
    path.write_text(FIVE_MISTAKES)
    code, out, err = call(capsys, "check", path)
    assert code == 1
    places = [line.removeprefix(f"{path}:").split(": ")[0] for line in out.splitlines()]
    assert places == ["2:21", "6:20", "7:1", "8:19", "9:19"]
    assert err == f"bitwright: 5 problems in {path}\n"
    document = json.loads(call(capsys, "check", path, "--json")[1])
    assert [(p["line"], p["column"]) for p in document["problems"]] == [(2, 21), (6, 20), (7, 1), (8, 19), (9, 19)]
    assert "(and 4 more problems)" in refusal(capsys, "run", path, "p=1", "q=2")


def test_show(capsys: Captured) -> None:
    out = answer(capsys, "show addition --bits 10")
    for piece in ("30", "20", "40", "at most 2", "q[1]", "p[1] q[1]", "when p[i]=0 q[i]=1 write p[i]"):
        assert piece in out
    document = json.loads(answer(capsys, "show addition --bits 10 --json"))
    assert (document["bits"], document["blocks"], document["templates"]) == (30, 20, 40)
    assert document["writers_max"] == 2
    assert document["never_written"] == ["q[1]"]


def test_the_id_is_the_sha256_of_the_text(capsys: Captured) -> None:
    from hashlib import sha256

    text = answer(capsys, "show addition --text")
    program = "".join(line for line in text.splitlines(True) if line.split()[0] in ("bits", "block", "when"))
    identity = json.loads(answer(capsys, "show addition --json"))["program_id"]
    assert sha256(program.encode()).hexdigest() == identity


def test_trace_as_text(capsys: Captured) -> None:
    lines = answer(capsys, "trace addition p=11 q=6").splitlines()
    assert lines[0].split() == ["step", "n", "p", "q", "c"]
    assert lines[1].split() == ["0", "4", "1·11", "·11·", "····"]
    assert lines[-1].split() == ["8", "2", "···1", "····", "1···"]


def test_trace_as_page(capsys: Captured, tmp_path: Path) -> None:
    path = tmp_path / "sum.html"
    code, out, err = call(capsys, "trace addition p=719 q=483 --engine limit -o", path)
    assert (code, out) == (0, "")
    assert "20 steps" in err
    assert f"{path.stat().st_size // 1024} KiB" in err
    assert "addition: p = 719, q = 483 gives sum = 1202" in path.read_text()
    code, out, _ = call(capsys, "trace addition p=719 q=483 --text -o", path)
    assert (code, len(out.splitlines())) == (0, 22)


def test_a_trace_that_is_not_exact_says_so(capsys: Captured, tmp_path: Path) -> None:
    path = tmp_path / "wrong.html"
    code, _, err = call(capsys, "trace addition p=37 q=45 --engine sampled --rounding sign -o", path)
    assert code == 1
    assert "not what the rules give" in err
    assert path.exists()


@for_each(
    ("arguments", "piece"),
    [
        (["ad", 1, 2], "there is no command 'ad'; did you mean 'add'?"),
        (["frobnicate"], "the commands are add, multiply"),
        (["add", 1], "Missing argument"),
        (["add", 1, 2, 3], "unexpected extra argument"),
        (["add", -5, 3], "numbers must be 0 or more, got -5"),
        (["add", 3, "x"], "the second number must be an integer"),
        (["add", "", 1], "the first number must be an integer"),
        (["add", "1.5", 1], "must be an integer"),
        (["add", 300, 2, "--bits", 4], "input p must fit in 4 bits, got 300, which needs 9"),
        (["add", 3, 2, "--bits", 0], "bits must be between 1 and 1,000,000, got 0"),
        (["add", 3, 2, "--bits", 10**9], "bits must be between 1 and 1,000,000"),
        (["add", 3, 2, "--bits", "many"], "not a valid integer"),
        (["add", 3, 2, "--bitz", 4], "--bits"),
        (["add", 3, 2, "--engine", "templats"], "did you mean 'templates'?"),
        (["add", 3, 2, "--max-steps", -1], "must be 0 or more"),
        (["add", "9" * 1_000_001, 1], "at most 1,000,000 digits"),
        (["permute", "101", "--order", "1,2,3"], "there is no command 'permute'"),
        (["run", "permutation", "p=0b1012", "--order", "1,2,3,4"], "input p must be an integer"),
        (["run", "permutation", "p=0b101", "--order", "1,2"], "input p must fit in 2 bits, got 5, which needs 3"),
        (["run", "permutation", "p=0b101", "--order", "1,2,2"], "2 occurs twice"),
        (["run", "permutation", "p=0b101", "--order", "1,2,4"], "positions 1 to 3, got 4"),
        (["run", "permutation", "p=0b101", "--order", "1,,2"], "each position of --order"),
        (["run", "aditon"], "did you mean 'addition'?"),
        (["run", "nosuch.bw"], "there is no file nosuch.bw"),
        (["run", EXAMPLES], "is a folder"),
        (["run", "addition", "p"], "give inputs as NAME=NUMBER"),
        (["run", "addition", "p=1"], "needs a value for q"),
        (["run", "addition", "p=1", "p=2"], "given twice"),
        (["run", "addition", "p=1", "q=1", "r=1"], "has no input 'r'"),
        (["run", EXAMPLES / "gray.bw", "x=1", "--bits", 4], "for a rule file give --let NAME=NUMBER"),
        (["run", EXAMPLES / "gray.bw", "x=1", "--order", "1"], "--order goes with permutation only"),
        (["trace", "addition", "p=1", "q=2", "-o", "x.png"], ".html, .svg, .txt or .npz"),
        (["trace", "addition", "p=1", "q=2", "-o", "x.html", "--only", "p"], "--only does not go with a page"),
        (["trace", "addition", "p=1", "q=2", "-o", "/no/such/folder/x.html"], "cannot write"),
        (["trace", "addition", "p=1", "q=2", "--network", "x.safetensors", "--engine", "limit"], "--engine network"),
        (["trace", "addition", "p=1", "q=2", "--only", "z"], "there are no bits called 'z'"),
        (["trace", "permute", "p=101"], "'permute' is neither a file nor one of addition"),
        (["run", "permutation", "p=1", "--order", "3,1,2", "--bits", 7], "leave out --bits"),
        (["multiply", 1, 2, "--bits", 30_000], "bits must be between 1 and 20,000"),
        (["add", 1, 2, "--engine", "sampled", "--seed", 10**47], "0<=x<=9223372036854775808"),
        (["add", 1, 2, "--engine", "sampled", "--networks", 10**30], "1<=x<=1000000000"),
        (["add", 1, 2, "--engine", "kernel", "--padding", 10**8], "use the limit engine"),
        (["add", 1, 2, "--network", "x.safetensors", "--engine", "limit"], "--network goes with --engine network"),
        (["add", 1, 2, "--engine", "network", "--network", "none.safetensors"], "there is no network file"),
        (["export", "addition", "-o", "x.npz", "--basis-seed", -1], "x>=0"),
        (["certify", "addition", "-o", "x.bw"], ".json"),
        (["certify", "addition", "--check", "f", "--rounding", "sign"], "leave these options out"),
        (["train", "addition", "-o", "x.pt"], ".safetensors"),
        (["train", "--tile", "all", "addition", "-o", "x.safetensors", "--width", 7], "must be even"),
    ],
)
def test_bad_input_gets_one_clear_line(capsys: Captured, arguments: list[object], piece: str) -> None:
    assert piece in refusal(capsys, *arguments)


def test_version_and_help(capsys: Captured) -> None:
    assert answer(capsys, "--version") == f"bitwright {__version__}\n"
    out = answer(capsys, "--help")
    for verb in VERBS:
        assert f"  {verb} " in out
        assert "Usage: bitwright" in answer(capsys, verb, "--help")
    assert call(capsys)[0] == 2


def test_completion_completes() -> None:
    asked = {"_BITWRIGHT_COMPLETE": "bash_complete", "COMP_WORDS": "bitwright mul", "COMP_CWORD": "1"}
    command = [sys.executable, "-m", "bitwright"]
    assert b"multiply" in subprocess.run(command, capture_output=True, env={**os.environ, **asked}, check=False).stdout


@for_each(
    ("arguments", "heavy"),
    [
        (["--help"], ("numpy", "rich", "bitwright.engines", "bitwright.program")),
        (["add", "719", "483"], ("numba", "scipy.sparse", "torch")),
    ],
)
def test_nothing_heavy_is_loaded_that_is_not_used(arguments: list[str], heavy: tuple[str, ...]) -> None:
    script = f"import sys; from bitwright.cli.main import main; main({arguments}); print(*sorted(sys.modules))"
    loaded = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True).stdout
    assert " bitwright.cli.main " in loaded
    assert [module for module in heavy if f" {module} " in loaded] == []


MODULES = """
import json, sys
from bitwright.cli.main import main
for commands in json.loads(sys.argv[1]):
    for command in commands:
        assert main(command.split()) == 0, command
    print(*sorted(name for name in sys.modules if name.partition(".")[0] == "bitwright"), file=sys.stderr)
"""


def test_few_modules_are_loaded_and_machines_only_where_one_is_named(tmp_path: Path) -> None:
    rules, graph, code = (EXAMPLES / name for name in ("gray.bw", "graphs/bfs.bw", "sbn/gcd.sbn"))
    product = ["multiply 719 483 --engine network -q"]
    others = [f"check {rules}", f"trace {rules} x=5", "size addition", "show addition", "certify addition -q"]
    others += [f"run {graph} --graph path:2 source=0", f"train addition -o {tmp_path}/a.safetensors -q"]
    commands = json.dumps([product, others, [f"run {code} a=4 b=6 -q"]])
    done = subprocess.run([sys.executable, "-c", MODULES, commands], capture_output=True, text=True, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    few, more, all_of_them = (line.split() for line in done.stderr.splitlines() if line.startswith("bitwright "))
    assert len(few) <= 120
    unneeded = ("bitwright.machines", "bitwright.networks.foreign", "bitwright.graphs", "bitwright.program.graph")
    assert [name for name in few if name.startswith(unneeded)] == []
    assert [name for name in more if name.startswith("bitwright.machines")] == []
    assert "bitwright.machines.sbn.machine_b" in all_of_them


@pytest.mark.waits
def test_ctrl_c_stops_cleanly() -> None:
    """A program without end comes through standard input: whoever reads more than a pipe holds is at work."""
    process = subprocess.Popen(
        [sys.executable, "-m", "bitwright", "run", "/dev/stdin", "--max-steps", str(10**12)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stdin is not None
    process.stdin.write(RING + "#" * (4 << 20))
    process.stdin.flush()
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=PATIENCE)
    assert (process.returncode, out, err.strip()) == (130, "", "bitwright: stopped")


def test_markup_and_escape_codes_in_a_file_are_only_text(capsys: Captured, tmp_path: Path) -> None:
    path = tmp_path / "odd.bw"
    path.write_text("# [/bold] [red] \x1b[31mhello\nbits a\nblock a\nwhen a=1 write a\n")
    out = answer(capsys, "show", path)
    assert "[/bold] [red]" in out
    assert "\x1b" not in out


def test_a_wrong_answer_of_a_random_network_says_so(capsys: Captured) -> None:
    code, out, err = call(capsys, "add 719 483 --engine sampled --seed 0")
    assert (code == 0) == ("= 1202" in out)
    assert ("not what the rules give" in err) == (code == 1)
    document = json.loads(call(capsys, "add 719 483 --engine sampled --json")[1])
    assert document["exact"] == (document["value"] == 1202)


def test_a_network_from_a_file(capsys: Captured, tmp_path: Path) -> None:
    path = tmp_path / "net.safetensors"
    document = json.loads(answer(capsys, "train --tile all addition --bits 6 --width 2048 -o", path, "--json"))
    assert (document["examples"], document["width"]) == (24, 2048)
    assert document["error"] <= 1e-3
    run = json.loads(answer(capsys, "add 33 58 --engine network --network", path, "--bits", 6, "--json"))
    assert (run["value"], run["exact"], run["engine"]) == (91, True, "network")
    assert 0.1 < run["margin"] < 0.5
