"""The sceptic's checker of loops takes the proof of multiplication, and nothing that was altered."""

import ast
import json
import sys
from pathlib import Path
from typing import Any

import checking
import pytest
from altered import altered, leaves
from cases import for_each

from bitwright.proofs.function.prove import prove_function
from bitwright.rules import parse
from tests.proofs.function.test_rounds import shifted

ROOT = Path(__file__).parents[2]
TEXT = (ROOT / "examples" / "multiplication.bw").read_text()
STEPS = "steps 4*l^2 + 3*l"


@pytest.fixture(scope="module")
def proof() -> dict[str, Any]:
    found = prove_function(TEXT).certificate
    assert found is not None
    return found


def checked(folder: Path, certificate: dict[str, Any], text: str = TEXT, first: int = 1) -> tuple[int, str]:
    (folder / "certificate.json").write_text(json.dumps(certificate))
    rules = [folder / f"rules-{size}.bw" for size in range(first, first + 8)]
    for size, path in enumerate(rules, start=first):
        path.write_text(parse(text, lets={"l": size}).text())
    done = checking.checked("check_loop.py", folder / "certificate.json", *rules)
    assert not done.err
    return done.code, done.out


def test_the_proof_of_multiplication_is_taken(tmp_path: Path, proof: dict[str, Any]) -> None:
    code, said = checked(tmp_path, proof)
    assert (code, said.splitlines()[-1][:45]) == (0, "HOLDS: (product == multiplicand * multiplier)")


def test_sizes_begin_where_the_proof_says(tmp_path: Path) -> None:
    text = shifted(2)
    proof = prove_function(text).certificate
    assert proof is not None
    code, said = checked(tmp_path, proof, text, first=-1)
    assert (code, said.splitlines()[-1][45:]) == (0, ", for l>=-1 (given 8 sizes)")
    assert checked(tmp_path, {**proof, "sizes": "l>=-2"}, text, first=-1)[0] == 1  # the rules begin at -1
    code, said = checked(tmp_path, {**proof, "sizes": "l>=0"}, text, first=0)  # what is proved from -1 on is from 0 on
    assert (code, said.splitlines()[-1][45:]) == (0, ", for l>=0 (given 8 sizes)")


def test_no_field_can_be_altered(tmp_path: Path, proof: dict[str, Any]) -> None:
    """Every ninth number or word, changed into another one of its kind."""
    words = {"on": "first", "word": "up", "up": "down", "down": "word", "first": "last"}
    ways = [way for way in leaves(proof) if way[0] not in ("format", "phases")]  # phases: certificates of their own
    assert len(ways) > 80
    for way in ways[::9]:
        data = altered(
            proof, way, lambda old: 1 - old if isinstance(old, int) else words.get(old, f"sum_{'pq'[old == 'sum_p']}")
        )
        assert checked(tmp_path, data)[0] in (1, 2), way


FORGED: dict[str, tuple[tuple[Any, ...], Any]] = {
    "a path less": (("paths",), lambda paths: paths[:-1]),
    "no rest": (("rest",), []),
    "a step less": (("paths", 0, "states"), lambda states: states[:1] + states[2:]),
    "a word of two names": (("paths", 0, "states", 0), lambda state: {**state, "sum_q": ["word", "sum_p"]}),
    "another proof": (("phases", 0, "verdicts"), []),
    "another line": (("phases", 0, "program", "ensures", 0), "sum_p == sum_p"),
}


@for_each("what", FORGED)
def test_what_was_forged_is_refused(tmp_path: Path, proof: dict[str, Any], what: str) -> None:
    assert checked(tmp_path, altered(proof, *FORGED[what]))[0] in (1, 2)


def test_it_is_refused_for_other_rules(tmp_path: Path, proof: dict[str, Any]) -> None:
    for old, new in (
        (STEPS, f"{STEPS} - 1"),
        ("ensure product == multiplicand * multiplier", "ensure product == multiplicand * multiplier + multiplier"),
        (
            "when multiplier[i]=1   write multiplier[i]   for i in 1..l",
            "when multiplier[i]=1 write multiplier[i] for i in 1..l-1",
        ),
    ):
        assert old in TEXT
        assert checked(tmp_path, proof, TEXT.replace(old, new))[0] == 1, new


MODULAR = (ROOT / "examples" / "modular-multiplication.bw").read_text()


@pytest.fixture(scope="module")
def modular() -> dict[str, Any]:
    found = prove_function(MODULAR).certificate
    assert found is not None
    return found


def test_the_proof_of_modular_multiplication_is_taken(tmp_path: Path, modular: dict[str, Any]) -> None:
    code, said = checked(tmp_path, modular, MODULAR)
    assert (code, said.splitlines()[-1]) == (0, "HOLDS: (product == a * b % m) where b < m, for l>=1 (given 8 sizes)")


OTHER_RULES = {
    "no condition": ("where b < m\n", ""),
    "another condition": ("where b < m", "where b <= m"),
    "another line": ("product == a * b % m", "product == (a * b + 1) % m"),
    "no remainder": ("product == a * b % m", "product == a * b"),
    "too narrow": ("input b = t[1..l]\ninput m = m[1..l]", "input b = t\ninput m = m"),
    "no bound": ("s < m and t < m", "t < m"),
    "a modulus that may change": ("invariant at to_check: m == in.m\n", ""),
    "a short timer": ("steps l^2 + 5*l", "steps l^2 + 4*l"),
}


@for_each("what", OTHER_RULES)
def test_modular_multiplication_is_refused_for_other_rules(tmp_path: Path, modular: dict[str, Any], what: str) -> None:
    assert OTHER_RULES[what][0] in MODULAR
    assert checked(tmp_path, modular, MODULAR.replace(*OTHER_RULES[what]))[0] in (1, 2)


DIVISION = (ROOT / "examples" / "division.bw").read_text()


def test_the_proof_of_division_is_taken_and_no_other(tmp_path: Path) -> None:
    proof = prove_function(DIVISION).certificate
    assert proof is not None
    code, said = checked(tmp_path, proof, DIVISION)
    assert (code, said.splitlines()[-1][:39]) == (0, "HOLDS: (a == quotient * b + remainder) ")
    for old, new in (
        ("where b > 0\n", ""),
        ("where b > 0", "where a == a % b"),
        ("quotient == a // b", "quotient == (a + 1) // b"),
        ("start to_check n[*]", "start to_check n[1]"),
        ("(q + 1) * (n + 1) <= 2^l", "(q + 1) * (n + 1) < 2^l"),
    ):
        assert old in DIVISION
        assert checked(tmp_path, proof, DIVISION.replace(old, new))[0] in (1, 2), new


def test_modular_multiplication_forged_is_refused(tmp_path: Path, modular: dict[str, Any]) -> None:
    top = next(bit for bit in modular["paths"][0]["fixed"] if bit.startswith("d "))
    for way, change in (
        (("paths",), lambda paths: paths[1:]),
        (("rest",), lambda paths: paths[:-1]),
        (("paths", 0, "fixed", top), lambda bit: 1 - bit),
        (("paths", 0, "phases", "2", "sums", "d"), lambda sums: {**sums, "e": 1}),
        (("paths", 0, "phases", "2", "parts", 0, "proof"), lambda proof: (proof + 1) % len(modular["phases"])),
        (("paths", 0, "phases", "2", "inputs"), lambda arrays: arrays[1:]),
        (("paths", 0, "states", -2, "d"), ["down", "s"]),
    ):
        assert checked(tmp_path, altered(modular, way, change), MODULAR)[0] in (1, 2), way


LONGEST = {
    "chains.py": 220,
    "check_function.py": 210,
    "check_loop.py": 220,
    "lines.py": 210,
    "check_network.py": 256,
    "check_decoder.py": 550,
    "enclosures.py": 225,
}


def test_the_checkers_are_short_and_import_nothing_but_themselves() -> None:
    files = sorted((ROOT / "sceptic").rglob("*.py"))
    own = {path.stem for path in files} | {"kinds"}
    for path in files:
        text = path.read_text()
        assert text.count("\n") <= LONGEST.get(path.name, 200), path.name
        for node in ast.walk(ast.parse(text)):
            runs = isinstance(node, ast.Name) and node.id in ("__import__", "exec", "eval")
            assert not runs or path.name == "expressions.py", path.name
            names = [a.name for a in node.names] if isinstance(node, ast.Import) else []
            names += [node.module or ""] if isinstance(node, ast.ImportFrom) else []
            for name in names:
                assert name.partition(".")[0] in own | set(sys.stdlib_module_names), (path.name, name)
