"""Claims at every size, and at one, against a naive interpreter; no run of the provers refutes anything before."""

import ast
import json
import re
from collections import Counter
from collections.abc import Iterator, Mapping
from itertools import product
from pathlib import Path
from tempfile import TemporaryDirectory
from unittest.mock import patch

from checking import checked
from random_programs.texts import RandomText

from bitwright.common.errors import BitwrightError
from bitwright.proofs.function import prove
from bitwright.proofs.function.prove import FunctionProof, prove_function
from bitwright.proofs.kinds import prove_kinds
from bitwright.proofs.unrolling import proof as unrolling
from bitwright.rules import Algorithm, parse

Values = dict[str, int]
Run = tuple[Values, Values | None]  # inputs, and outputs if the run is over as the text says
MOST_INPUT_BITS = 9
SIZES, OTHERS = range(-4, 7), range(-1, 4)
LONGEST = 300
OPERATORS = {ast.Add: "__add__", ast.Sub: "__sub__", ast.Mult: "__mul__", ast.FloorDiv: "__floordiv__"}
OPERATORS |= {ast.Mod: "__mod__", ast.Pow: "__pow__", ast.Eq: "__eq__", ast.NotEq: "__ne__"}
OPERATORS |= {ast.Lt: "__lt__", ast.LtE: "__le__", ast.Gt: "__gt__", ast.GtE: "__ge__"}


def program(text: str, *, most: int = MOST_INPUT_BITS, **lets: int) -> Algorithm | None:
    """The program at these numbers, unless there is none or its inputs are too many."""
    try:
        found = parse(text, lets=lets)
    except BitwrightError:
        return None
    return found if len(found.input_bits) <= most else None


def all_runs(canonical: str) -> Iterator[Run]:
    """Every run, by the definition of a step, from the text with one line for each block and template."""
    of: dict[str, list[str]] = {}
    for line in canonical.splitlines():
        of.setdefault(line.split(" ")[0], []).append(line.partition(" ")[2])
    blocks = [frozenset(line.split()) for line in of["block"]]
    rules: dict[frozenset[str], list[tuple[set[str], set[str]]]] = {block: [] for block in blocks}
    for line in of.get("when", ()):
        tests, _, writes = line.partition(" write ")
        wanted = dict(test.split("=") for test in tests.split())
        on = {bit for bit, value in wanted.items() if value == "1"}
        rules[frozenset(wanted)].append((on, set(writes.split()) - {"nothing"}))
    words = {}
    for kind in ("input", "output"):
        halves = [[*line.removeprefix("signed ").split(" = "), line] for line in of.get(kind, ())]
        words[kind] = [(name, bits.split()[::-1], line.startswith("signed ")) for name, bits, line in halves]
    halt, steps = of.get("halt", [""])[0], int(of["steps"][0]) if "steps" in of else None
    entering = [bit for _, bits, _ in words["input"] for bit in bits]
    for chosen in product((0, 1), repeat=len(entering)):
        state = {bit for line in of.get("start", ()) for bit in line.split()}
        state |= {bit for bit, on in zip(entering, chosen, strict=True) if on}
        first, time, over = state, 0, False
        while not over and time <= LONGEST:
            after = {bit for block, own in rules.items() for on, writes in own if block & state == on for bit in writes}
            over = halt.removeprefix("when ") in state or (halt == "at fixed point" and after == state)
            over = over or (not halt and time == steps)
            if over or time == steps:
                break
            state, time = after, time + 1
        inputs, outputs = (
            {name: sum((bit in at) << n for n, bit in enumerate(bits)) - ((signed and bits[-1] in at) << len(bits))
             for name, bits, signed in words[kind]}
            for kind, at in (("input", first), ("output", state))
        )  # fmt: skip
        yield inputs, outputs if over else None


def is_true(line: str, run: Run, lets: Mapping[str, int]) -> bool:
    """Whether a line is true of a run; bits and truths are 0 or 1."""
    inputs, outputs = run
    if outputs is None:
        return False
    names = {**lets, **inputs, **{f"in_{name}": value for name, value in inputs.items()}, **outputs}
    text, _, loop = line.partition(" for ")
    left, arrow, right = text.partition(" => ")
    text = re.sub(r"\bin\.", "in_", f"(not ({left})) or ({right})" if arrow else text)
    tree = ast.parse(text.replace("^", "**").replace(" mod ", " % "), mode="eval").body
    if not loop:
        return value_of(tree, names) != 0
    index, first, last = re.fullmatch(r"(\w+) in (.+)\.\.(.+)", loop).groups()  # type: ignore[union-attr]
    low, high = (value_of(ast.parse(end, mode="eval").body, dict(lets)) for end in (first, last))
    return all(value_of(tree, {**names, index: at}) != 0 for at in range(low, high + 1))


def value_of(node: ast.expr, names: Values) -> int:
    match node:
        case ast.Constant():
            return int(node.value)  # type: ignore[arg-type]
        case ast.Name():
            return names[node.id]
        case ast.Subscript():
            return value_of(node.value, names) >> (value_of(node.slice, names) - 1) & 1
        case ast.UnaryOp():
            inner = value_of(node.operand, names)
            return int(inner == 0) if isinstance(node.op, ast.Not) else -inner
        case ast.BoolOp():
            truths = [value_of(part, names) != 0 for part in node.values]
            return int(all(truths) if isinstance(node.op, ast.And) else any(truths))
        case ast.BinOp():
            sign, left, right = type(node.op), node.left, node.right
        case ast.Compare(ops=[only], comparators=[right]):
            sign, left = type(only), node.left  # type: ignore[assignment]
        case _:
            raise AssertionError(ast.dump(node))
    return int(getattr(value_of(left, names), OPERATORS[sign])(value_of(right, names)))


def check_text(seed: int, counts: Counter[str], sceptic: bool = False) -> None:
    """Lines that are true of a random text at size 4: where they are proved they are true of all runs, at every size.

    So are those that are proved at one size, and none other.
    """
    made = RandomText(seed)
    own = {"l": 4} if made.k is None else {"l": 4, "k": made.k}
    at_four = program(made.text)
    if at_four is None:
        return
    counts["texts"] += 1
    runs, lines = list(all_runs(at_four.text())), []
    for line in made.claims():
        if len(lines) < 3 and program(f"{made.text}ensure {line}\n") is not None:
            true = all(is_true(line, run, own) for run in runs)
            lines += [line] * true
            check_at_size(f"{made.text}ensure {line}\n", line, own, counts) if true or len(line) % 5 == 0 else None
    for line in lines:
        text = f"{made.text}ensure {line}\n"
        with (
            patch.object(prove._Sizes, "wrong_random", _unsearched),
            patch.object(prove._Sizes, "wrong_among") as among,
        ):
            among.return_value = None
            proof = prove_function(text)
        counts[f"at every size, {proof.verdict}"] += 1
        if proof.proved:
            check_every_size(text, line, proof, own, counts)
            if sceptic:
                check_by_sceptic(text, proof, counts)
        elif proof.counterexample is not None:
            lets, given = proof.counterexample["lets"], proof.counterexample["inputs"]
            wrong = program(text, **lets)
            assert any(run[0] == given and not is_true(line, run, lets) for run in all_runs(wrong.text())), (text, lets)


def _unsearched(sizes: prove._Sizes) -> None:
    """No run is tried, so that what is proved is proved by the proof; some input is one that the text allows."""
    sizes.allowed = True


def check_every_size(text: str, line: str, proof: FunctionProof, own: Values, counts: Counter[str]) -> None:
    kinds = prove_kinds(text)
    if kinds.verdict == "proved":
        assert kinds.about & proof.sizes == proof.sizes, (text, kinds.about, proof.sizes)
    for l, k in product(SIZES, OTHERS if "k" in own else [0]):
        lets = {"l": l, "k": k} if "k" in own else {"l": l}
        if any(proof.sizes.fixed.get(name, value) != value for name, value in lets.items()):
            continue
        if (found := program(text, **lets)) is None:
            continue
        assert lets in proof.sizes, (text, lets, proof.sizes)
        counts["sizes run"] += 1
        for run in all_runs(found.text()):
            assert is_true(line, run, lets), (text, line, lets, run)


def check_at_size(text: str, line: str, lets: Values, counts: Counter[str]) -> None:
    found = program(text)
    with patch.object(unrolling, "_wrong_run", return_value=None):
        proof = unrolling.prove_at_size(found)
    counts[f"at one size, {proof.verdict}"] += 1
    if proof.verdict != "not decided":
        assert (proof.verdict == "proved") == all(is_true(line, run, lets) for run in all_runs(found.text())), text


def check_by_sceptic(text: str, proof: FunctionProof, counts: Counter[str]) -> None:
    """The sceptic takes the certificate, or cannot read such lines."""
    first, others = proof.sizes.smallest["l"], proof.sizes.fixed
    found = [program(text, most=99, **others, l=size) for size in range(first, 10)]
    with TemporaryDirectory() as folder:
        files = [Path(folder) / f"rules-{size}.bw" for size in range(first, 10)]
        for file, own in zip(files, found, strict=True):
            file.write_text("" if own is None else own.text())
        (certificate := Path(folder) / "certificate.json").write_text(json.dumps(proof.certificate))
        done = checked("check_function.py", certificate, *files)
    counts[f"by the sceptic, {done.code}"] += 1
    assert done.code != 1, (text, done)
