"""The sceptic derives kinds and pattern from programs by itself, and tries each kind alone."""

import ast
import json
import random
import re
from dataclasses import replace
from pathlib import Path

from cases import for_each
from forged import forged, opened
from long import LONG
from two_readers import Files, sceptic

from bitwright import Algorithm, addition, multiplication, parse, train
from bitwright.machines.subleq import DIALECTS, Shape, machine_v
from bitwright.networks import IntegerNetwork
from bitwright.rules import load, parse_node_program
from bitwright.rules.pattern import Pattern, pattern_of

ROOT = Path(__file__).parents[2]


SCEPTIC = sceptic()


def derived(*texts: str) -> tuple[str, str]:
    """The text of the pattern that the sceptic makes of programs, and its id."""
    text = SCEPTIC.pattern({kind for program in texts for kind in SCEPTIC.Rules(program).kinds()})
    return text, SCEPTIC.Rules(text).id


def tiled(algorithm: Algorithm, tile: int) -> str:
    program = algorithm.program
    return replace(algorithm, program=replace(program, grouped=program.cells.tiled(tile))).text()


def check_same(pattern: Pattern, *texts: str) -> None:
    text, found = derived(*texts)
    assert text.splitlines() == list(pattern.program.text_lines())
    assert found == pattern.program.id


@for_each("tile", [1, 2, 3])
@for_each("algorithm", [addition(1), addition(5), multiplication(1), multiplication(3)])
def test_it_derives_the_pattern_that_we_train_on(algorithm: Algorithm, tile: int) -> None:
    check_same(pattern_of([algorithm.program], tile), tiled(algorithm, tile))


def test_it_derives_the_pattern_of_several_sizes_and_of_a_machine() -> None:
    sizes = [addition(size) for size in range(1, 9)]
    check_same(pattern_of([one.program for one in sizes], 4), *(tiled(one, 4) for one in sizes))
    machine = Algorithm("V", machine_v(Shape(8, 5, DIALECTS["plain"])).program)
    check_same(pattern_of([machine.program]), machine.text())


@for_each("path", sorted((ROOT / "examples").glob("*.bw")))
def test_it_derives_the_pattern_of_examples(path: Path) -> None:
    algorithm = load(path)
    check_same(pattern_of([algorithm.program]), algorithm.text())


@for_each("path", sorted((ROOT / "examples" / "graphs").glob("*.bw")))
def test_it_derives_the_pattern_of_node_programs(path: Path) -> None:
    program = parse_node_program(path.read_text())
    check_same(Pattern.of(program.schema().program.kinds.kinds), program.text())


def random_text(rng: random.Random) -> str:
    """Some bits in blocks, some templates, and all blocks in cells that name their bits in any order."""
    names = [f"{name}[{i}]" for name in "xyz" for i in range(1, 5)]
    blocks, left = [], rng.sample(names, len(names))
    while left:
        size = rng.randint(1, 3)
        blocks.append(left[:size])
        left = left[size:]
    lines = ["bits x[4] y[4] z[4]", *(" ".join(["block", *block]) for block in blocks)]
    for block in blocks:
        for config in rng.sample(range(1 << len(block)), rng.randint(0, 2)):
            tests = [f"{name}={config >> i & 1}" for i, name in enumerate(block)]
            writes = rng.sample(names, rng.randint(0, 3)) or ["nothing"]
            lines.append(" ".join(["when", *tests, "write", *writes]))
    if rng.random() < 0.8:
        rng.shuffle(blocks)
        while blocks:
            size = rng.randint(1, 3)
            lines.append(
                " ".join(["cell", *(name for block in blocks[:size] for name in rng.sample(block, len(block)))])
            )
            blocks = blocks[size:]
    return "\n".join(lines)


def test_it_derives_the_pattern_of_random_programs() -> None:
    rng, seen = random.Random(5), 0
    for _ in range(300 if LONG else 80):
        if "when" in (text := random_text(rng)):
            algorithm = parse(text)
            check_same(pattern_of([algorithm.program]), algorithm.text())
            seen += len(algorithm.program.kinds.kinds)
    assert seen > (600 if LONG else 150)


def files_of(folder: Path, pattern: Pattern, network: IntegerNetwork) -> Files:
    """A network of cells and its certificate."""
    return Files(folder, Algorithm("cells", pattern.program), network)


def test_several_sizes_together_have_the_kinds_of_the_network(tmp_path: Path) -> None:
    sizes = [addition(size) for size in (2, 3, 6)]
    cells = train(sizes, tile=2)
    files = files_of(tmp_path, cells.pattern, cells.weights)
    code, said = files.check(*(tiled(one, 2) for one in sizes))
    assert (code, f"HOLDS: certified, {cells.pattern.local_states:,} states tried, 0 wrong" in said) == (0, True), said
    code, said = files.check(tiled(sizes[2], 2))  # of the others' kinds nothing is known
    assert (code, f"has kinds = {len(cells.pattern.kinds)}, but it must be 2" in said) == (1, True), said
    assert files.check(*(one.text() for one in sizes))[0] == 1  # other cells
    code, said = files.check(*(tiled(one, 2) for one in sizes), multiplication(2).text())
    assert (code, "has kinds = " in said) == (1, True), said


def split_kind(pattern: Pattern) -> str:
    """The pattern with a block and a port of kind 1 behind the blocks of kind 2."""
    lines = list(pattern.program.text_lines())
    moved = [line for line in lines if line in ("block kind1_block2[1]", "block kind1_port[3]")]
    blocks = [line for line in lines if line.startswith("block ") and line not in moved]
    rest = [line for line in lines if not line.startswith("block ")]
    at = next(number for number, line in enumerate(rest) if line.startswith("when "))
    return "\n".join([*rest[:at], *blocks, *moved, *rest[at:]]) + "\n"


def test_a_wrong_network_whose_rules_put_a_kind_on_both_sides_of_another(tmp_path: Path) -> None:
    """Blocks of kind 1 before and behind kind 2, tried apart, would never be seen to be wrong together.

    The attacker makes the certificate say whatever the sceptic asks for, and the network name these rules.
    """
    cells = train(addition(4))
    thresholds = cells.weights.thresholds.copy()
    thresholds[1, list(cells.weights.writers).index(1)] = 1 << 40  # two matches, a port with one writer: kind 1 alone
    wrong = replace(cells.weights, thresholds=thresholds)
    rules = split_kind(cells.pattern)
    files = files_of(tmp_path, cells.pattern, wrong)
    assert files.claimed.wrong > 0
    about, header, body = opened(files.network)
    for program_id in (SCEPTIC.Rules(rules).id, derived(rules)[1]):
        files.network.write_bytes(forged(about | {"program_id": program_id}, header, body))
        document = json.loads(files.certificate.read_text())
        for _ in range(40):
            code, said = files.check(rules)
            found = re.search(r"certificate has (\w+) = .*, but it must be (.*)", said)
            if found is None:
                break
            try:
                document[found[1]] = ast.literal_eval(found[2])
            except (ValueError, SyntaxError):  # text stands there without quotes
                document[found[1]] = found[2]
            files.certificate.write_text(json.dumps(document))
        assert (code, "HOLDS: certified" in said) == (1, False), said


@for_each(
    ("old", "new"),
    [
        ("cell p[1] q[1] c[1]\n", ""),
        ("cell p[1] q[1] c[1]\n", "cell p[1] c[1]\n"),
        ("cell p[1] q[1] c[1]\n", "cell p[1] c[1] q[1]\n"),
        ("cell p[1] q[1] c[1]\n", "cell p[1] q[1] c[1] c[1]\n"),
        ("cell p[1] q[1] c[1]\n", "cell p[1] q[1] c[1] z\n"),
        ("cell p[1] q[1] c[1]\n", "cell p[1] q[1] c[1] c[2]\n"),
        ("write c[1]\n", "write far.d[1]\n"),
    ],
)
def test_cells_that_cannot_be_read(tmp_path: Path, old: str, new: str) -> None:
    cells = train(addition(4))
    text = addition(4).text()
    assert text.count(old) == 1
    code, said = files_of(tmp_path, cells.pattern, cells.weights).check(text.replace(old, new))
    assert (code, said.startswith("CANNOT BE READ: "), said.count("\n")) == (2, True, 1), said


def test_other_cells_are_of_other_kinds(tmp_path: Path) -> None:
    cells = train(addition(4))
    files = files_of(tmp_path, cells.pattern, cells.weights)
    text = addition(4).text()
    assert files.check(text)[0] == 0
    for line in ("cell q[1] p[1] c[1]", "cell c[1] p[1] q[1]"):  # another order is another table, or the same
        changed = text.replace("cell p[1] q[1] c[1]", line)
        same = set(parse(changed).program.kinds.kinds) == set(cells.pattern.kinds)
        assert files.check(changed)[0] == (0 if same else 1)
    assert files.check("\n".join(line for line in text.splitlines() if not line.startswith("cell")))[0] == 1


def test_a_wrong_network_is_refuted_alone_in_every_kind(tmp_path: Path) -> None:
    algorithm = multiplication(3)
    cells = train(algorithm)
    for port in range(0, len(cells.weights.last), 5):
        last = cells.weights.last.copy()
        last[port] = -last[port]
        files = files_of(tmp_path, cells.pattern, replace(cells.weights, last=last))
        code, said = files.check(algorithm.text())
        assert said.splitlines()[-1].startswith(f"HOLDS: {files.claimed.verdict}, 345 states"), said
        assert code == (0 if files.claimed.certified else 1)


def test_a_node_program(tmp_path: Path) -> None:
    program = parse_node_program((ROOT / "examples" / "graphs" / "flooding.bw").read_text())
    cells = train(program)
    assert files_of(tmp_path, cells.pattern, cells.weights).check(program.text())[0] == 0
