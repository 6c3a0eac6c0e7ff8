"""The command line as a user meets it: answers, exit codes, and one clear line for whatever is wrong."""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

from calling import Captured, answer, call, refusal
from cases import for_each
from programs import EXAMPLES
from serving import RING
from waiting import PATIENCE

from bitwright import __version__, addition, parse
from bitwright.cli.main import VERBS

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


def test_check_lists_the_mistakes_of_a_stage(capsys: Captured, tmp_path: Path) -> None:
    """Statements that cannot be read come first, and names and indices after them."""
    path = tmp_path / "five.bw"
    for text, places in ((FIVE_MISTAKES, ["6:20"]), (FIVE_MISTAKES.replace("wirte", "write"), ["8:19", "9:19"])):
        path.write_text(text)
        code, out, err = call(capsys, "check", path)
        assert code == 1
        assert [line.removeprefix(f"{path}:").split(": ")[0] for line in out.splitlines()] == places
        assert err.startswith(f"bitwright: {len(places)} problem")
        document = json.loads(call(capsys, "check", path, "--json")[1])
        assert [f"{p['line']}:{p['column']}" for p in document["problems"]] == places
    assert "(and 1 more problem)" in refusal(capsys, "run", path, "p=1", "q=2")


def test_show(capsys: Captured) -> None:
    out = answer(capsys, "show addition --bits 10")
    for piece in ("30", "20", "40", "at most 2", "q[1]", "p[1] q[1]", "when p[i]=0 q[i]=1 write p[i]"):
        assert piece in out
    document = json.loads(answer(capsys, "show addition --bits 10 --json"))
    assert (document["bits"], document["blocks"], document["templates"]) == (30, 20, 40)
    assert document["writers_max"] == 2
    assert document["never_written"] == ["q[1]"]
    assert parse(answer(capsys, "show addition --text")).program == addition(4).program
    subtraction = Path(__file__).parents[2] / "examples" / "subtraction.bw"  # it has ensure lines
    assert "30" in answer(capsys, "show", subtraction)


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
        (["--help"], ("numpy", "rich", "bitwright.engines", "bitwright.rules")),
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
    product = ["multiply 719 483 --engine limit -q"]
    others = [f"check {rules}", f"trace {rules} x=5", "size addition", "show addition", "certify addition -q"]
    others += [f"run {graph} --graph path:2 source=0", f"train addition -o {tmp_path}/a.safetensors -q"]
    commands = json.dumps([product, others, [f"run {code} a=4 b=6 -q"]])
    done = subprocess.run([sys.executable, "-c", MODULES, commands], capture_output=True, text=True, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    few, more, all_of_them = (line.split() for line in done.stderr.splitlines() if line.startswith("bitwright "))
    assert len(few) <= 120
    unneeded = ("bitwright.machines", "bitwright.networks.external", "bitwright.graphs", "bitwright.rules.graph")
    assert [name for name in few if name.startswith(unneeded)] == []
    assert [name for name in more if name.startswith("bitwright.machines")] == []
    assert "bitwright.machines.sbn.machine_b" in all_of_them


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


COMMAND = [sys.executable, "-m", "bitwright"]


def test_a_reader_of_one_line() -> None:
    """The output is much longer than a pipe holds."""
    command = [*COMMAND, "show", "addition", "--bits", "3000", "--text"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        assert process.stdout.readline() == "bits p[3000]\n"
        process.stdout.close()
        assert process.stderr.read() == ""
        assert process.wait(timeout=PATIENCE) == 1


def test_nobody_reads_the_notes() -> None:
    for stream in ("2>/dev/full", "2>&-", "2> >(true)"):
        command = ["bash", "-c", f"{' '.join(COMMAND)} add 719 483 {stream}"]
        found = subprocess.run(command, stdout=subprocess.PIPE, check=False)
        assert (found.returncode, found.stdout) == (0, b"719 + 483 = 1202\n")


def test_a_full_disk_is_a_failure() -> None:
    with Path("/dev/full").open("wb") as full:
        done = subprocess.run([*COMMAND, "add", "1", "2"], stdout=full, stderr=subprocess.PIPE, text=True, check=False)
    assert done.returncode == 2
    assert done.stderr == "bitwright: cannot write the output: No space left on device\n"
