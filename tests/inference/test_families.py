"""Programs for every size, from executions at a few sizes."""

import random
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from calling import ask
from long import LONG, seeds

from bitwright import executions, infer, run
from bitwright.common.errors import InputError, ProgramError
from bitwright.common.files.executions import Executions, save_executions
from bitwright.inference.families.search import find_families
from bitwright.rules import Program, load, parse
from bitwright.rules.text import RuleText
from bitwright.runs.successors import executions_of_inputs, random_executions, successors
from tests.cases import for_each

Capture = pytest.CaptureFixture[str]
EXAMPLES = Path(__file__).parents[2] / "examples"
SHIFT = "let l = 9\nbits x[l]\nblock x[i] for i in 1..l\nwhen x[i]=1 write x[i+{0}] for i in 1..l-{0}\n"


def example(name: str) -> Callable[[int], Program]:
    let = "w" if name == "rule110" else "l"
    return lambda size: load(EXAMPLES / f"{name}.bw", lets={let: size}).program


def text_at(text: str) -> Callable[[int], Program]:
    return lambda size: parse(text, lets={"l": size}).program


def states_of(program: Callable[[int], Program], sizes: tuple[int, ...], states: int = 300) -> dict[int, Executions]:
    return {size: random_executions(program(size), states, seed=size) for size in sizes}


def saved(folder: Path, given: dict[int, Executions]) -> list[str]:
    for size, one in given.items():
        save_executions(folder / f"{size}.npz", one)
    return [f"l={size}:{folder / f'{size}.npz'}" for size in given]


@for_each("name", ["comparison", "rule110", "addition-counter", *["addition", "permutation", "subtraction"] * LONG])
def test_the_program_of_an_example_at_every_size(name: str) -> None:
    program = example(name)
    found = infer(states_of(program, (5, 6, 7), 600))
    assert found.verdict == "DETERMINED", str(found)
    assert found.smallest == 1
    assert ("left[(i-2)%l+1]" in found.text()) == (name == "rule110")
    for size in (1, 2, 3, 4, 5, 8, 33):
        assert found.algorithm(size).program.id == program(size).id, size


def test_multiplication_with_whole_arrays() -> None:
    program = example("multiplication")
    found = infer(states_of(program, (5, 6, 7), 2000), RuleText.of((EXAMPLES / "multiplication.bw").read_text()))
    assert found.verdict == "DETERMINED"
    assert found.first == 4
    for size in (1, 2, 4, 5, 16):
        assert found.algorithm(size).program.id == program(size).id, size


@for_each("by", [1, 2, 3])
def test_shifts_need_larger_sizes(by: int) -> None:
    program = text_at(SHIFT.format(by))
    found = infer(states_of(program, (2 * by + 2, 2 * by + 3, 4 * by + 1)))
    assert found.to_dict()["offsets"] == by
    assert found.verdict == "DETERMINED"
    for size in (2 * by + 1, 2 * by + 2, 13, 39):
        assert found.algorithm(size).program.id == program(size).id


@for_each(("targets", "size"), [("x[i+1]", 5), ("x[i+1] y[i] y[i+1] y[1]", 7)])
def test_the_size_that_decides_is_that_of_the_theorem(targets: str, size: int) -> None:
    """max(2(A+1)B + 1, 2B + m + 2), for A = B = 1 and at most m indices into one array."""
    text = "let l = 9\nbits x[l] y[l]\nblock x[i] for i in 1..l\nblock y[i] for i in 1..l\n"
    found = find_families(states_of(text_at(f"{text}when x[i]=1 write {targets} for i in 1..l-1\n"), (5, 6, 7))).fitted
    bounds = found.evidence.bounds
    assert (bounds.coefficient, bounds.offset, found.needs.size) == (1, 1, size)


def test_an_array_that_does_not_grow_asks_for_no_larger_offsets() -> None:
    text = "let l = 9\nbits x[l] f[3]\nblock x[i] for i in 1..l\nblock f[i] for i in 1..3\n"
    text += "when x[i]=1 write x[i+1] for i in 1..l-1\nwhen f[1]=1 write f[3]\nwhen f[3]=1 write f[2]\n"
    found = infer(states_of(text_at(text), (5, 6, 7)))
    assert (found.verdict, found.to_dict()["offsets"]) == ("DETERMINED", 1)


def test_what_is_open_is_not_called_determined() -> None:
    """x[i] -> x[i+1], of which the states at all sizes hide what the last bit writes."""
    program = text_at(SHIFT.format(1))
    given = states_of(program, (5, 6, 7))
    hidden = {}
    for size, one in given.items():
        kept = ~one.before[:, -1]
        hidden[size] = Executions(one.before[kept], one.after[kept], one.names)
    found = infer(hidden)
    assert found.verdict == "SHORTEST"
    assert "not seen    x[l]=1" in found.text()
    assert parse(found.text()).program.id == program(7).id
    few = infer({size: Executions(one.before[:3], one.after[:3], one.names) for size, one in given.items()})
    assert few.verdict == "SHORTEST"


def test_two_explanations_are_both_listed() -> None:
    """f writes bit 2 of 4 and is never on at other sizes: that is x[2] or x[l-2]."""
    text = "let l = 4\nbits x[l] f\nblock x[i] for i in 1..l\nblock f\nwhen x[i]=1 write x[i] for i in 1..l\n"
    given = states_of(text_at(text + "when f=1 write x[2]\n"), (4, 5, 6))
    for size in (5, 6):
        kept = ~given[size].before[:, -1]
        given[size] = Executions(given[size].before[kept], given[size].after[kept], given[size].names)
    found = infer(given)
    assert found.verdict == "SHORTEST"
    assert "open        when f=1 write x[2]" in str(found)
    assert "open        when f=1 write x[l-2]" in str(found)


def test_random_programs_that_are_determined_are_right() -> None:
    """Random members of the class; a wrong one among the determined refutes the theorem or the code."""
    determined = tried = 0
    for seed in seeds(12, of=40):
        rng = random.Random(seed)
        text = "\n".join(["let l = 5", "bits x[l] y[l]", "block x[i] for i in 1..l", "block y[i] for i in 1..l"])
        for _ in range(rng.randint(1, 5)):
            index = rng.choice(["i", "i+1", "i-1", "l+1-i", "l-i", "1", "l", "l-1", "1..l", "2..l-1"])
            low, high = rng.choice(["1", "2", "l"]), rng.choice(["1", "l-1", "l"])
            text += f"\nalso when {rng.choice('xy')}[i]={rng.choice('011')} write {rng.choice('xy')}[{index}]"
            text += f" for i in {low}..{high}"
        program = text_at(text)
        try:
            parse(text, lets={"l": 3})
        except ProgramError:
            continue  # a target outside its array
        tried += 1
        found = infer(states_of(program, (5, 6), 200))
        assert found.inferred, text
        if found.determined:
            determined += 1
            for size in range(found.first, 21 if LONG else 12):
                assert found.algorithm(size).program.id == program(size).id, text
    assert tried > 3
    assert determined > tried // 2


def test_a_flipped_bit_is_a_contradiction() -> None:
    given = states_of(example("addition"), (5, 6, 7))
    for seed in seeds(2, of=5):
        rng = np.random.default_rng(seed)
        after = given[6].after.copy()
        state, bit = rng.integers(len(after)), rng.integers(after.shape[1])
        after[state, bit] ^= True
        found = infer({**given, 6: replace(given[6], after=after)})
        assert found.verdict == "CONTRADICTION", (seed, str(found))
        assert found.sentence.startswith("CONTRADICTION at l = 6: ")
        assert not found.inferred


def test_right_states_are_no_contradiction() -> None:
    """A few states of rules outside the class, with blocks x[i] y[i]; smaller ones explain all sizes but one."""
    lines = ["let l = 5", "bits x[l] y[l]", "block x[i] y[i] for i in 1..l"]
    lines += ["when x[i]=1 y[i]=0 write x[i] for i in 1..l", "when x[i]=0 y[i]=1 write y[i*i%l+1] for i in 1..l"]
    lines += ["when x[i]=1 y[i]=1 write y[(2*i)%l+1] for i in 1..l"]
    text, several = "\n".join([*lines, "steps 1"]), {4: 3, 5: 12, 6: 3, 7: 3}
    given = {
        l: executions(parse(text, lets={"l": l}), "states", states=n, sample_seed=200 + l) for l, n in several.items()
    }
    found = infer(given)
    assert found.verdict == "NO FAMILY"
    assert "(indices a*i+b*l+c with |a| <= 2 and |c| <= 2; ranges and slices between b*l+c with |c| <= 2)" in str(found)


def test_sizes_that_no_family_has() -> None:
    down = SHIFT.format(1).replace("x[i+1] for i in 1..l-1", "x[i-1] for i in 2..l")
    mixed = {5: text_at(SHIFT.format(1)), 6: text_at(down), 7: text_at(SHIFT.format(1))}
    found = infer({size: random_executions(program(size), 200) for size, program in mixed.items()})
    assert found.verdict == "NO FAMILY"
    assert "is written at size 5, but no index for it fits the other sizes" in str(found)
    assert "even if all bits at a position are read together (indices a*i+b*l+c with |a| <= 2 and |c| <= 2; " in str(
        found
    )
    squares = {5: 25, 6: 36, 7: 49}
    permutation = example("permutation")
    lengths = infer({size: random_executions(permutation(length), 100) for size, length in squares.items()})
    assert "the length of p is not a multiple of the size plus a constant: 25 at 5, 36 at 6, 49 at 7" in str(lengths)
    with pytest.raises(InputError, match="program"):
        lengths.text()


def _lines(source: Path) -> list[str]:
    """The lines of a rule file about inputs, outputs and the end of a run."""
    words = ("input", "output", "start", "steps", "halt", "ensure")
    return [line for line in source.read_text().splitlines() if line.startswith(words)]


def test_a_few_runs_give_a_program_that_adds() -> None:
    source = EXAMPLES / "addition.bw"
    given = {size: executions_of_inputs(load(source, lets={"l": size}), 8, seed=size) for size in (5, 6, 7)}
    found = infer(given, lines=_lines(source))
    assert found.inferred
    rng, algorithm = random.Random(0), found.algorithm(64)
    for _ in range(20):
        p, q = rng.getrandbits(64), rng.getrandbits(64)
        assert run(algorithm, p=p, q=q).outputs["sum"] == p + q


def test_sixteen_runs_of_multiplication_multiply() -> None:
    """Several choices of blocks explain such runs, and the program is not the one that ran."""
    source = EXAMPLES / "multiplication.bw"
    given = {size: executions_of_inputs(load(source, lets={"l": size}), 16, seed=size) for size in (3, 4, 5)}
    found = infer(given, lines=_lines(source))
    assert found.verdict == "SHORTEST"
    assert "other blocks explain the states too" in str(found)
    assert found.algorithm(5).program.id != example("multiplication")(5).id
    for size in (1, 2, 3, 7, 12):
        rng, algorithm = random.Random(size), found.algorithm(size)
        for _ in range(5):
            a, b = rng.getrandbits(size), rng.getrandbits(size)
            assert run(algorithm, multiplicand=a, multiplier=b).outputs["product"] == a * b


def test_from_executions_to_a_certified_network(tmp_path: Path, capsys: Capture) -> None:
    files = saved(tmp_path, states_of(example("addition"), (5, 6, 7)))
    rules, network = tmp_path / "found.bw", tmp_path / "adder.safetensors"
    assert ask(capsys, 0, "infer", *files, "-o", rules).startswith("DETERMINED: 5 rules for every l >= 3")
    ask(capsys, 0, "check", rules)
    with rules.open("a") as file:
        file.write("input p q\noutput sum = c[l] p\nsteps 2*l\nensure sum == p + q\n")
    ask(capsys, 0, "train", rules, "-o", network)
    said = ask(capsys, 0, "certify", rules, "--network", network)
    assert "CERTIFIED: this network computes sum == p + q, at every size" in said
    p, q = 2**99 - 7, 3**60
    sums = ask(
        capsys, 0, "run", rules, "--let", "l=100", f"p={p}", f"q={q}", "--engine", "network", "--network", network
    )
    assert f"sum = {p + q}" in sums


ODD_EVEN = """let l = 4
bits x[{0}] y[{0}]
block x[2*i-1] x[2*i] for i in 1..l
block y[1]
block y[2*i] y[2*i+1] for i in 1..l-1
block y[i] for i in 2*l..{0}
when x[2*i-1]=1 x[2*i]=1 write y[2*i-1] y[2*i] for i in 1..l
when x[2*i-1]!=x[2*i] write y[2*i] for i in 1..l
when y[2*i]=1 y[2*i+1]=1 write x[2*i] x[2*i+1] for i in 1..l-1
when y[2*i]!=y[2*i+1] write x[2*i+1] for i in 1..l-1
when y[1]=1 write x[1]
when y[i]=1 write x[i] for i in 2*l..{0}
input x
output sorted = x
steps 2*l
"""


def test_odd_even_sort_from_runs_sorts() -> None:
    """Blocks of neighbours: every second position is an array of its own."""
    program = text_at(ODD_EVEN.format("2*l"))
    found = infer(states_of(program, (5, 6, 7)))
    assert found.verdict == "DETERMINED", str(found)
    for size in (1, 2, 3, 5, 9, 20):
        assert found.algorithm(size).program.id == program(size).id, size
    runs = {size: executions_of_inputs(parse(ODD_EVEN.format("2*l"), lets={"l": size}), 20) for size in (5, 6, 7)}
    learnt = infer(runs, lines=["input x", "output sorted = x", "steps 2*l"])
    assert run(learnt.algorithm(8), x=0b1011001110100101).outputs["sorted"] == 0b1111111110000000


def test_smaller_blocks_are_not_determined_where_larger_ones_fit_too() -> None:
    """x[1]=0 y[1]=1 -> y[1], and no state has both off: the bit x[1] by itself explains it, and is wrong."""
    text = "let l = 5\nbits x[l] y[l]\nblock x[i] y[i] for i in 1..l\nwhen x[1]=0 y[1]=1 write y[1]\n"
    given = {}
    for size in (5, 7):
        states = np.random.default_rng(size).random((200, 2 * size)) < 0.5
        states[:, size] |= ~states[:, 0]
        names = tuple(f"{name}[{i + 1}]" for name in "xy" for i in range(size))
        given[size] = Executions(states, successors(text_at(text)(size), states), names)
    found = infer(given)
    assert found.algorithm(5).program.id != text_at(text)(5).id
    assert found.verdict == "SHORTEST"
    assert "with larger blocks, such as x y, other programs fit or may fit too" in str(found)


def test_files_that_carry_their_sizes(tmp_path: Path, capsys: Capture) -> None:
    """Runs with lines about inputs and the end: the sum is proved at every size."""
    files = [tmp_path / f"{size}.npz" for size in (5, 6, 7)]
    for size, file in zip((5, 6, 7), files, strict=True):
        ask(capsys, 0, "export", "addition", "--bits", size, "--from", "runs:20", "-o", file)
    rules, given = tmp_path / "found.bw", ("input p q", "output sum = c[l] p", "steps 2*l", "ensure sum == p + q")
    lines = [word for line in given for word in ("--line", line)]
    assert ask(capsys, 0, "infer", *files, *lines, "-o", rules).startswith("DETERM")
    assert "function  proved at every size" in ask(capsys, 0, "certify", rules)
    assert "a line must begin with one of" in ask(capsys, 2, "infer", *files, "--line", "bits z")
    assert "from 400 states of 15 bits in 10 blocks" in ask(capsys, 0, "infer", files[0], files[0])
    assert "differ in" in ask(capsys, 2, "infer", _with_lets(files[0], l=5, w=2), _with_lets(files[1], l=6, w=3))


def _with_lets(file: Path, **lets: int) -> Path:
    save_executions(file, replace(Executions.load(file), lets=lets))
    return file


def test_bad_input_is_one_line(tmp_path: Path, capsys: Capture) -> None:
    files = saved(tmp_path, states_of(example("addition"), (5, 6), 50))
    five, six = (file.partition(":")[2] for file in files)
    for arguments, message in [
        ([files[0], f"l=6:{five}"], "the same bits"),
        ([files[0], six], "give the size of every file"),
        ([files[0], f"w=6:{six}"], "give the size of every file"),
        ([files[0], f"l=5:{six}"], "files must have the same bits"),
        ([f"l=0:{five}", files[1]], "a size must be an integer from 1"),
        ([f"p=5:{five}", f"p=6:{six}"], "must not be i, j, a keyword"),
        ([f"for=5:{five}", f"for=6:{six}"], "must not be i, j, a keyword"),
    ]:
        said = ask(capsys, 2, "infer", *arguments)
        assert message in said, said
        assert said.count("\n") == 1
    with pytest.raises(InputError, match=r"sizes.*0"):
        infer({})
    one = Executions.load(five)
    with pytest.raises(InputError, match=r"sizes.*5.*6"):
        infer({5: one, 6: one})
