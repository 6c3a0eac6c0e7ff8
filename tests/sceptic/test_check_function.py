"""The sceptic's checker of functions takes what was proved, and nothing that was altered."""

import json
import subprocess
import sys
from functools import cache
from pathlib import Path
from typing import Any

import checking
import pytest
from altered import altered, leaves
from cases import for_each
from long import LONG

import bitwright as bw
from bitwright.proofs.function.prove import prove_function
from bitwright.rules import parse

ROOT = Path(__file__).parents[2]
INCREMENT = (ROOT / "tests" / "proofs" / "function" / "increment.bw").read_text()


@cache
def proof_of(name: str) -> dict[str, Any]:
    """The certificate of a file; not to be changed."""
    certificate = prove_function((ROOT / f"{name}.bw").read_text()).certificate
    assert certificate is not None
    return certificate


def checked(folder: Path, certificate: dict[str, Any], text: str) -> tuple[int, str]:
    (folder / "certificate.json").write_text(json.dumps(certificate))
    rules = []
    for size in range(1, 9):
        rules.append(folder / f"rules-{size}.bw")
        rules[-1].write_text(parse(text, lets={"l": size}).text())
    done = checking.checked("check_function.py", folder / "certificate.json", *rules)
    assert not done.err
    return done.code, done.out


@pytest.mark.parametrize(
    "name",
    [
        "tests/proofs/function/increment",
        "tests/proofs/function/adder",
        "tests/proofs/function/third",
        "examples/addition",
        "examples/comparison",
        "examples/gray",
    ],
)
def test_proofs_are_taken(tmp_path: Path, name: str) -> None:
    text = (ROOT / f"{name}.bw").read_text()
    code, said = checked(tmp_path, proof_of(name), text)
    assert (code, said[:6]) == (0, "HOLDS:")


FORGED: dict[str, tuple[tuple[Any, ...], Any]] = {
    "no verdicts": (("verdicts", 0, 1), []),
    "an early end": (("clock", "early"), 1),
    "a late end": (("clock", "delay"), 1),
    "another rate": (("clock", "sweeps"), [["up", 2]]),
    "another way": (("clock", "sweeps"), [["down", 1]]),
    "a weaker line": (("program", "ensures", 0), "y == y"),
    "no lines": (("program", "ensures"), []),
    "two tracks at one place": (("chain", "places"), lambda places: [places[0], places[0], *places[2:]]),
    "a shifted track": (("chain", "places", 1, 3), 2),
    "no windows": (("windows",), []),
    "a law less": (("laws",), lambda laws: laws[:-1]),
}


@for_each("what", FORGED)
def test_what_was_altered_is_refused(tmp_path: Path, what: str) -> None:
    proof = proof_of("tests/proofs/function/increment")
    data = altered(proof, *FORGED[what])
    assert data != proof
    assert checked(tmp_path, data, INCREMENT)[0] in (1, 2)


def test_every_window_that_is_taken_out_is_missed(tmp_path: Path) -> None:
    proof = proof_of("tests/proofs/function/increment")
    for place in range(0, len(proof["windows"][0][1]), 7):
        data = altered(proof, ("windows", 0, 1, place, 1), lambda windows: windows[:-1])
        assert checked(tmp_path, data, INCREMENT)[0] == 1, place


def test_a_certificate_does_not_hold_for_other_rules(tmp_path: Path) -> None:
    proof = proof_of("tests/proofs/function/increment")
    for old, new in (
        ("when top=1 write top\n", ""),  # right without it, and still another program
        ("when x[i]=0 c[i]=1 write x[i] ", "when x[i]=0 c[i]=1 write c[i] "),
        ("steps l", "steps l-1"),
        ("start c[1]", "start top"),
    ):
        text = INCREMENT.replace(old, new)
        assert text != INCREMENT
        assert checked(tmp_path, proof, text)[0] == 1, old


def test_an_output_with_a_part_of_the_middle_is_refused(tmp_path: Path) -> None:
    """The same rules with a shorter output, of which the line is false from four digits on."""
    rules = "let l = 6\nbits p[l+2]\nblock p[i] for i in 1..l+2\nwhen p[i]=1 write p[i] for i in 1..l+2\n"
    text = rules + "input x = p[1..l]\noutput low = p[1..l]\nsteps 2\nensure low == x\n"
    proof = prove_function(text).certificate
    assert proof is not None
    assert checked(tmp_path, proof, text)[0] == 0
    code, said = checked(tmp_path, proof, text.replace("low = p[1..l]", "low = p[1..3]"))
    assert (code, "only some of the middle positions" in said) == (2, True)


FALSE = [
    ("tests/proofs/function/third", "quotient == x // 3", "quotient == (x + 1) // 3"),
    ("examples/gray", "x[i+1]) for i in 1..l-1", "x[i]) for i in 1..l-1"),
    ("tests/proofs/function/third", "remainder == x % 3", "remainder == (x + 1) % 3"),
    ("examples/gray", "gray[l] == x[l]", "gray[l] == x[l-1]"),
    ("tests/proofs/function/third", "quotient == x // 3", "quotient == x // 2"),
    ("tests/proofs/function/third", "remainder == x % 3", "remainder == x % 2"),
    ("examples/gray", "(x[i] != x[i+1])", "(x[i] == x[i+1])"),
    ("examples/gray", "gray[l] == x[l]", "gray[1] == x[l]"),
]


@pytest.mark.parametrize(("name", "old", "new"), FALSE if LONG else FALSE[:4])
def test_false_lines_are_refused(name: str, old: str, new: str) -> None:
    """The invariant of the right lines with a false one in their place, at the positions of the invariant alone."""
    text = (ROOT / f"{name}.bw").read_text()
    assert old in text
    proof = proof_of(name)
    data = json.loads(json.dumps(proof).replace(as_shown(old), as_shown(new)))
    assert data != json.loads(json.dumps(proof))
    said = subprocess.run(
        [sys.executable, "-c", ENDS, json.dumps(data), *(parse(text, lets={"l": n}).text() for n in range(5, 9))],
        capture_output=True,
        text=True,
        cwd=ROOT / "sceptic",
    )
    assert (said.returncode, said.stdout) == (1, "DOES NOT HOLD: a line is violated\n"), said


ENDS = """
import json, sys
from chains import Rules
from check_function import Check
from lines import read_line
data = json.loads(sys.argv[1])
chain, program = data["chain"], data["program"]
read = [Rules(text, chain["places"]) for text in sys.argv[2:]]
classes, words, halt = read[0].chain()
check = Check(data, classes, halt, read[0].singles)
for line in program["ensures"]:
    for single in check.windows:
        check.end(single, read_line(line, [], words, program["numbers"], chain["unit"], chain["extra"]))
"""


def as_shown(line: str) -> str:
    """A part of a line as certificates have it."""
    return line.replace("[i+1]", "[i + 1]").replace("l-1", "l - 1")


TWO_SIZES = """
let l = 4
let k = 0
bits x[l] y[l]
block x[i] for i in 1..l
block y[i] for i in 1..l
when x[i]=1 write nothing for i in 1..l if i = k
when x[i]=1 write y[i]    for i in 1..l if i != k
when y[i]=1 write y[i]    for i in 1..l
input x
output y
steps 1
ensure y == x
"""


@pytest.mark.parametrize(
    ("named", "numbers", "claim", "code"),
    [
        ("l>=1, k=0", {}, "l>=1, k=0", 0),
        ("l>=1", {}, "l>=1", 1),  # at k = 2 it is wrong
        ("l>=1", {"k": None}, "l>=1", 1),  # the kinds of cells depend on k
        ("l>=1, k=0", {}, "l>=1", 1),
        ("l>=1, k=0", {}, "every", 1),
        ("l>=0, k=0", {}, "l>=0, k=0", 1),
        ("l>=1, k=2", {"k": [0, 2]}, "l>=1, k=2", 1),
        ("l>=1, k>=0", {}, "l>=1, k>=0", 2),
        ("every", {}, "every", 2),
    ],
)
def test_only_the_sizes_of_the_proof_are_claimed(
    tmp_path: Path, named: str, numbers: dict[str, Any], claim: str, code: int
) -> None:
    found = bw.certify(bw.parse(TWO_SIZES), tile=1, sizes="all")
    data = json.loads(found.text())
    link = data["links"]["function"]
    program = link["proof"]["program"]
    program["sizes"], link["claim"]["sizes"] = named, claim
    for name, value in numbers.items():
        if value is None:
            del program["numbers"][name]
        else:
            program["numbers"][name] = value
    done = checked(tmp_path, data, TWO_SIZES.replace("let k = 0", "let k = 2" if "k=2" in named else "let k = 0"))
    assert done[0] == code, done
    assert code or f"HOLDS: (y == x) for {named}; " in done[1]


HINTS = ("clock", "inputs_in_windows", "laws", "letters", "windows", "verdicts")  # any that pass are a proof


def test_no_field_of_a_certificate_file_can_be_altered(tmp_path: Path) -> None:
    """Of what is compared with the rules every field; of hints some, which may still be a proof of the same lines."""
    data = json.loads(bw.certify(bw.parse(TWO_SIZES), tile=1, sizes="all").text())
    function = data["links"]["function"]
    assert checked(tmp_path, data, TWO_SIZES)[0] == 0
    ways = [("proof", *way) for way in leaves(function["proof"])] + [("claim", "verdict"), ("claim", "sizes")]
    compared = [way for way in ways if way[1] not in HINTS]
    assert len(compared) > 40
    for way in compared[:: 1 if LONG else 2]:
        edited = altered(data, ("links", "function", *way))
        assert checked(tmp_path, edited, TWO_SIZES)[0] in (1, 2), way
    kept = 0
    for way in [way for way in ways if way[1] in HINTS][:: 2 if LONG else 40]:
        code, said = checked(tmp_path, altered(data, ("links", "function", *way)), TWO_SIZES)
        assert code in (0, 1, 2), way
        assert code or "HOLDS: (y == x) for l>=1, k=0; " in said
        kept += code == 0
    assert kept < 20 or LONG


KEPT = """
let l = 3
bits a[l] b[l]
block a[i] b[i] for i in 1..l
when a[i]=1 b[i]=0 write a[i] for i in 1..l
when a[i]=1 b[i]=1 write a[i] for i in 1..l
input a b
output rest = a
steps 1
where a < b
ensure rest == a and rest < b
"""


def test_conditions_are_those_of_the_rules(tmp_path: Path) -> None:
    certificate = prove_function(KEPT).certificate
    assert certificate is not None
    code, out = checked(tmp_path, certificate, KEPT)
    assert (code, "where a < b" in out) == (0, True)
    assert checked(tmp_path, certificate, KEPT.replace("where a < b\n", ""))[0] == 1
    for conditions in ([], ["a <= b"]):
        program = {**certificate["program"], "conditions": conditions}
        text = KEPT.replace("where a < b", "where a <= b" if conditions else "# all")
        code, out = checked(tmp_path, {**certificate, "program": program}, text)
        assert (code, "line is violated" in out) == (1, True)
