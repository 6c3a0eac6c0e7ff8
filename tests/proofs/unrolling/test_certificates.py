"""The sceptics' checkers accept what is proved, and nothing that was changed."""

import json
import random
from hashlib import sha256
from pathlib import Path

import checking
import pytest

import bitwright
from bitwright.proofs.unrolling import prove_at_size

ROOT = Path(__file__).parents[3]


def checked(folder, program):
    return checking.checked(program, folder / "rules.bw", folder / "certificate.json")


def certified(folder, name, l):
    folder.mkdir()
    assert prove_at_size(bitwright.open(ROOT / "examples" / f"{name}.bw", l=l), folder=folder).verdict == "proved"
    return json.loads((folder / "certificate.json").read_text())


def rewrite(folder, certificate):
    (folder / "certificate.json").write_text(json.dumps(certificate))


def rewrite_rules(folder, certificate, old, new):
    """Other rules, with a certificate that names them."""
    text = (folder / "rules.bw").read_text()
    assert old in text
    (folder / "rules.bw").write_text(text.replace(old, new, 1))
    rewrite(folder, {**certificate, "rules": sha256(text.replace(old, new, 1).encode()).hexdigest()})


@pytest.mark.parametrize("name", ["addition", "addition-counter", "subtraction", "comparison", "gray", "permutation"])
def test_unrolled_proofs_hold(name, tmp_path):
    certified(tmp_path / "c", name, 5)
    done = checked(tmp_path / "c", "check_at_size.py")
    assert (done.code, done.out[:6]) == (0, "HOLDS:"), done.err


def test_a_changed_refutation_does_not_hold(tmp_path):
    folder = tmp_path / "c"
    certified(folder, "comparison", 5)
    proof = folder / "001-outputs.lrat"
    lines = proof.read_text().splitlines()
    rng, refused = random.Random(1), 0
    for _ in range(12):
        number = rng.choice([n for n, line in enumerate(lines) if " d " not in line])
        name, *rest = lines[number].split()
        end = rest.index("0")
        flipped = [str(-int(x)) for x in rest[:end]] if rest[:end] else ["1"]
        proof.write_text("\n".join([*lines[:number], " ".join([name, *flipped, *rest[end:]]), *lines[number + 1 :]]))
        refused += checked(folder, "check_at_size.py").code != 0
    assert refused >= 8  # a clause that no later one needs may say anything that follows
    proof.write_text("\n".join(lines[:-1]))  # without the empty clause
    assert "the refutation is invalid" in checked(folder, "check_at_size.py").err


def test_changed_rules_do_not_hold(tmp_path):
    folder = tmp_path / "c"
    certificate = certified(folder, "addition", 4)
    for old, new in (
        ("write p[2]", "write p[3]"),
        ("when c[4]=1 write c[4]\n", ""),
        ("p + q", "p + q + 1"),
        ("steps 8", "steps 6"),
    ):
        rules = (folder / "rules.bw").read_text()
        rewrite_rules(folder, certificate, old, new)
        assert checked(folder, "check_at_size.py").code == 1, new
        (folder / "rules.bw").write_text(rules)
    rewrite(folder, {**certificate, "rules": "0" * 64})
    assert "different rules" in checked(folder, "check_at_size.py").err


KEPT = """
bits a[4] b[4]
block a[i] b[i] for i in 1..4
when a[i]=1 b[i]=0 write a[i] for i in 1..4
when a[i]=1 b[i]=1 write a[i] for i in 1..4
input a b
output rest = a
steps 1
where a < b
ensure rest == a % b and a // b == 0
"""


def test_conditions_and_divisors_are_part_of_the_formula(tmp_path):
    assert prove_at_size(bitwright.parse(KEPT), folder=tmp_path).verdict == "proved"
    done = checked(tmp_path, "check_at_size.py")
    assert (done.code, "where a < b" in done.out) == (0, True), done.err
    certificate = json.loads((tmp_path / "certificate.json").read_text())
    for old, new in (("where a < b\n", ""), ("where a < b", "where a <= b"), ("a % b", "b % a")):
        rules = (tmp_path / "rules.bw").read_text()
        rewrite_rules(tmp_path, certificate, old, new)
        assert "different" in checked(tmp_path, "check_at_size.py").err
        (tmp_path / "rules.bw").write_text(rules)
