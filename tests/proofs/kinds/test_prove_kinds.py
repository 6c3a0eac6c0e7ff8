"""Cut-offs of the shipped texts, traps that simpler cut-offs fall into, and texts outside the theorem."""

import json
from pathlib import Path

from cases import for_each
from long import LONG

from bitwright.proofs.kinds import prove_kinds
from bitwright.rules import parse
from bitwright.rules.text import parse_node_program

EXAMPLES = Path(__file__).parents[3] / "examples"
TRAP = """let l = 10
bits p[l] q[l] r
block p[i] q[i] for i in 1..l
block r
when p[i]=1 write p[i] for i in 1..l
"""

# The largest cut-off that is allowed, and how many kinds there are.
SHIPPED = {
    "addition": (6, 2),
    "addition-counter": (6, 3),
    "subtraction": (6, 2),
    "comparison": (6, 2),
    "gray": (6, 1),
    "multiplication": (6, 5),
    "rule110": (8, 1),
    "permutation": (6, 1),
}


def kinds_at(text: str, size: str, values: range) -> set[object]:
    """The kinds at these sizes, one after the other."""
    return {kind for value in values for kind in parse(text, lets={size: value}).program.kinds.kinds}


@for_each("name", SHIPPED)
def test_the_shipped_texts_have_small_cutoffs(name: str) -> None:
    text = (EXAMPLES / f"{name}.bw").read_text("utf-8")
    proof = prove_kinds(text)
    most, count = SHIPPED[name]
    ((size, L0),) = proof.L0.items()
    assert proof.verdict == "proved"
    assert most >= L0
    assert len(proof.kinds) == count
    assert {one.kind for one in proof.kinds} == kinds_at(text, size, range(1, 3 * L0))
    assert proof.claim().sizes == f"{size}>=1"


TRAPS = {  # the largest cut-off that is allowed, and where each kind is first seen
    "when q[i]=1 write r for i in 40..l": (45, [1, 40]),
    "when q[i]=1 write r for i in 1..l if 100*i>99*l and i<l": (401, [1, 101]),
    "when q[i]=1 write r for i in 1..l if 100*i<=99*l": (401, [1, 2]),
    "when q[i]=1 write r for i in 1..l if i%7=3 and l%11=5": (158, [1, 5]),
    "when q[i]=1 write r for i in 1..l if i%7=6 and l%11=5": (158, [1, 16]),
}


@for_each("line", TRAPS)
def test_traps_are_caught(line: str) -> None:
    proof = prove_kinds(TRAP + line)
    assert proof.verdict == "proved"
    assert proof.L0["l"] <= TRAPS[line][0]
    assert sorted(one.sizes["l"] for one in proof.kinds) == TRAPS[line][1]
    assert {one.kind for one in proof.kinds} == kinds_at(
        TRAP + line, "l", range(1, 110 if LONG else max(TRAPS[line][1]) + 12)
    )


OUTSIDE = {
    "when q[i]=1 write r for i in 1..l if l=i*i": "line 6: (i) * (i) is not affine",
    "when q[i]=1 write r for i in 1..l if l=2^i": "line 6: (2) ^ (i) is not affine",
    "when q[i]=1 write r for i in 1..digits(l)": "line 6: digits(l) is not affine",
    "when q[i]=1 write p[i*l%l+1] for i in 1..l": "line 6: (i) * (l) is not affine",
    "when q[i]=1 write p[(3*i)%l+1] for i in 1..l": (
        "line 6: in (3*i) % (l), the first operand must be at least -1 times and less than 2 times the second"
    ),
    "when q[1]=1 write p[2*j-1] for j in 1..(l+1)//2": "line 6: the free index j must have the coefficient 1 or -1",
    "when q[1]=1 write p[j] for j in 1..l if j%2=1": (
        "line 6: the tested bits do not determine the index j of a value"
    ),
}


@for_each("line", OUTSIDE)
def test_what_is_outside_names_its_line_and_the_reason(line: str) -> None:
    proof = prove_kinds(TRAP + line)
    assert (proof.verdict, proof.refusal) == ("not decided", OUTSIDE[line])
    claim = proof.claim()
    assert claim.verdict == "not decided"
    assert OUTSIDE[line] in claim.sentence


def test_a_block_whose_length_is_the_size_is_outside() -> None:
    proof = prove_kinds("let l = 3\nbits p[l]\nblock p[*]\nwhen p[1]=1 write p[l]\n")
    assert proof.refusal == "line 3: the number of bits of p[...] depends on the size"


def test_sizes_at_which_the_text_is_no_program_are_left_out() -> None:
    proof = prove_kinds(TRAP + "when q[1]=1 write p[5]\n")  # from l = 5 on
    assert proof.verdict == "proved"
    assert dict(proof.smallest) == {"l": 5}
    assert min(one.sizes["l"] for one in proof.kinds) == 5


def test_a_text_that_is_a_program_at_every_second_size_is_outside() -> None:
    pairs = "let l = 4\nbits p[l]\nblock p[2*i-1] p[2*i] for i in 1..l//2\nwhen p[1]=1 p[2]=0 write p[2]\n"
    refusal = prove_kinds(pairs).refusal
    assert refusal.startswith("the text is not a program at l=")


def test_two_sizes() -> None:
    text = """let n = 4
let m = 3
bits a[n,m] s[n]
block a[i,j] for i in 1..n, j in 1..m
block s[i] for i in 1..n
when a[i,j]=1 write a[i,j+1] for i in 1..n, j in 1..m-1
when a[i,m]=1 write s[i] for i in 1..n
when s[i]=1 write a[i,1] s[*] for i in 1..n if i!=m
when s[i]=1 write nothing for i in 1..n if i=m
"""
    proof = prove_kinds(text)
    assert proof.verdict == "proved"
    assert proof.L0.keys() == {"n", "m"}
    seen = {
        kind
        for n in range(1, 9)
        for m in range(1, 9)
        for kind in parse(text, lets={"n": n, "m": m}).program.kinds.kinds
    }
    assert {one.kind for one in proof.kinds} == seen


GRAPHS = sorted((EXAMPLES / "graphs").glob("*.bw"))


@for_each("path", GRAPHS)
def test_node_programs_at_every_number_of_nodes(path: Path) -> None:
    program = parse_node_program(path.read_text("utf-8"), path.stem)
    proof = prove_kinds(program)
    assert proof.verdict == "proved"
    assert proof.claim().sizes == (", ".join(f"{size}>=1" for size in proof.L0) or "every")
    assert {one.kind for one in proof.kinds} >= set(program.kinds)


def test_nodes_as_an_extent_are_a_size() -> None:
    lines = ["whole bits seen[nodes]", "bits x", "block x", "block seen[i] for i in 1..nodes", "when x=1 write x far.x"]
    lines.append("when seen[i]=1 write seen[i+1] for i in 1..nodes-1")
    proof = prove_kinds("\n".join(lines))
    assert proof.verdict == "proved"
    assert set(proof.L0) == {"nodes"}
    assert prove_kinds("\n".join([*lines, "also when seen[digits(nodes)]=1 write seen[1]"])).verdict == "not decided"


def test_the_certificate_is_json() -> None:
    proof = prove_kinds(parse((EXAMPLES / "addition.bw").read_text("utf-8")))
    certificate = json.loads(json.dumps(proof.certificate()))
    assert certificate["cutoffs"] == {"l": 5}
    assert certificate["lines"][0]["atoms"] == ["i - 1", "i - l", "i - l + 1", "l - 1"]
