"""Every number in a caption that speaks of a program is the program's."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path

import numpy as np
import pytest
from cases import for_each
from long import LONG

from bitwright import Algorithm, addition, multiplication, parse, permutation, run
from bitwright.rules import FIXED_POINT
from paper import Setting
from paper.figures import find_figure
from paper.worked import window_of

GAPS = """
bits a[2] b c d
block b
block a[1] a[2]
block d
block c
when a[1]=1 a[2]=0 write a[2] b
when c=1 write d
input a b c d
output a
steps 3
"""
LAST = """
bits a b
block a
block b
when b=1 write b
input a b
steps 1
"""
ONE = """
bits a
block a
when a=1 write a
input a
"""
ENDLESS = """
bits a[3]
block a[1] a[2] a[3]
when a[1]=1 a[2]=0 a[3]=0 write a[2]
when a[1]=0 a[2]=1 a[3]=0 write a[3]
when a[1]=0 a[2]=0 a[3]=1 write a[1]
input a
steps 1000
"""
HALTS = """
bits a[3]
block a[i] for i in 1..3
when a[i]=1 write a[i+1] for i in 1..2
when a[3]=1 write a[1]
input a
halt when a[2]
"""
SHOWN: list[tuple[Algorithm, dict[str, int]]] = [
    (addition(2), {"p": 2, "q": 3}),
    (addition(1), {"p": 0, "q": 1}),
    (addition(2, counter=True), {"p": 1, "q": 1}),
    (permutation([2, 1]), {"p": 0}),
    (permutation([1]), {"p": 1}),
    (parse(GAPS), {"a": 1, "b": 1, "c": 1, "d": 1}),
    (parse(GAPS), {"a": 0, "b": 1, "c": 0, "d": 1}),
    (parse(LAST), {"a": 1, "b": 1}),
    (parse(ONE), {"a": 1}),
    (parse(ENDLESS), {"a": 1}),
    (parse(HALTS), {"a": 1}),
    (addition(8), {"p": 255, "q": 255}),
    (multiplication(4), {"multiplicand": 9, "multiplier": 15}),
    (permutation(range(40, 0, -1)), {"p": 1}),
]


def caption(name: str, algorithm: Algorithm, values: Mapping[str, int]) -> str:
    figure = find_figure(name)
    return figure.caption(figure.tables(Setting(folder=Path("nowhere"), algorithm=algorithm, values=values)))


def counted(count: int, what: str) -> str:
    return f"{count} {what}" + ("" if count == 1 else "s")


@for_each(("algorithm", "values"), SHOWN)
def test_templates(algorithm: Algorithm, values: dict[str, int]) -> None:
    program, said = algorithm.program, caption("templates", algorithm, values)
    with_templates = len({int(block) for block in program.template_block})
    blocks = counted(program.blocks, "block")
    if with_templates < program.blocks:
        blocks = f"{with_templates} of {blocks}"
    sizes = f"{counted(program.templates, 'template')} in {blocks} (heavier"
    assert f". {sizes} lines; blocks of one kind share a colour) over {counted(program.bits, 'bit')}." in said
    assert (" Shown is a window of " in said) == (program.templates > 16 or program.bits > 12)
    n = len(program.match(algorithm.state(values)))
    encoded = (
        f"the sum of its {counted(n, 'matched row')} (marked *) over the root of {n}." if n else "zero: no row matches."
    )
    assert f"the input is {encoded} Right" in said
    done = run(algorithm, values, record=True)
    assert done.trace is not None
    states = [np.asarray(state) for state in done.trace.states()]
    steady = next((s for s in range(len(states) - 1) if (states[s] == states[s + 1]).all()), None)
    if algorithm.halt == FIXED_POINT:
        steady = done.steps
    if steady is not None and steady <= 12:
        ending = f"steady after {counted(steady, 'step')}"
    elif done.steps <= 12:
        ending = f"done after {counted(done.steps, 'step')}"
    else:
        ending = "its first 12 steps"
    assert f"the run, {ending}. All" in said


@pytest.mark.parametrize(("algorithm", "values"), [pair for pair in SHOWN if any(pair[1].values())], ids=str)
def test_predictor(algorithm: Algorithm, values: dict[str, int]) -> None:
    program = algorithm.program
    state = algorithm.state(values)
    n, K = len(program.match(state)), program.templates
    if not n:
        pytest.skip("there is nothing to predict")
    said = caption("predictor", algorithm, values)
    assert f"the {counted(n, 'matched example')} (col" in said or (
        n == K and f"all {counted(n, 'matched example')} (c" in said
    )
    assert (" elsewhere (grey)" in said) == (n < K)
    assert (" off it" in said) == (K > 1)
    after = {int(bit) for template in program.match(state) for bit in program.writes(int(template))}
    assert (", the others of at most" in said) == (len(after) < program.bits)
    assert f" of {program.bits} signs are right" in said
    assert "inf" not in said.replace("infinite", "")
    assert "nan" not in said


@pytest.mark.parametrize("name", ["templates", "predictor"])
@pytest.mark.usefixtures("unrendered")
def test_blocks_without_templates_can_be_drawn(name: str, tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    from paper import make_figure

    for number, (algorithm, values) in enumerate([*SHOWN[5:6], *SHOWN[7:8], *[*SHOWN[:1], *SHOWN[8:9]] * LONG]):
        folder = tmp_path / str(number)
        files = make_figure(name, Setting(folder=folder, algorithm=algorithm, values=values))
        assert all(file.stat().st_size for file in files)


LARGE = [pair for pair in SHOWN if pair[0].program.templates > 36]


@pytest.mark.parametrize("name", ["templates", "predictor"])
@pytest.mark.parametrize(("algorithm", "values"), LARGE, ids=str)
def test_of_a_large_program_a_window_is_shown(
    name: str, algorithm: Algorithm, values: dict[str, int], tmp_path: Path
) -> None:
    image = pytest.importorskip("matplotlib.image")
    from paper import make_figure

    program, state = algorithm.program, algorithm.state(values)
    window = window_of(program, state)
    assert 0 < len(window.templates) <= 16
    assert 0 < len(window.bits) <= 12
    assert set(program.block_of[window.bits].tolist()) == set(window.blocks)
    assert set(program.template_block[window.templates].tolist()) <= set(window.blocks)
    assert set(window.templates.tolist()) & set(program.match(state).tolist())
    left = [
        f"{len(window.templates)} of {program.templates} templates",
        f"{len(window.blocks)} of {program.blocks} blocks",
        f"{len(window.bits)} of {program.bits} bits",
    ]
    assert f"Shown is a window of {', '.join(left)}; the rest is left out." in caption(name, algorithm, values)
    if algorithm is not LARGE[-1][0] and not LONG:
        return  # one is drawn
    list(make_figure(name, Setting(folder=tmp_path, algorithm=algorithm, values=values)))
    height, width, _ = image.imread(tmp_path / f"{name}.png").shape
    assert width <= 3400
    assert height <= 1100


def test_of_one_large_block_the_templates_that_match_are_shown() -> None:
    conditions = (" ".join(f"a[{i}]={n >> i - 1 & 1}" for i in range(1, 6)) for n in range(1, 32))
    rules = "\n".join(f"when {condition} write a[1]" for condition in conditions)
    algorithm = parse(f"bits a[5]\nblock a[*]\n{rules}\ninput a\nsteps 1")
    window = window_of(algorithm.program, algorithm.state({"a": 31}))
    assert len(window.templates) == 16
    assert int(algorithm.program.match(algorithm.state({"a": 31}))[0]) in window.templates.tolist()


@pytest.mark.parametrize("name", ["templates", "predictor"])
@pytest.mark.parametrize(("algorithm", "values"), SHOWN if LONG else SHOWN[::3], ids=str)
def test_zeros_have_no_sign(name: str, algorithm: Algorithm, values: dict[str, int]) -> None:
    pyplot = pytest.importorskip("matplotlib.pyplot")
    figure = find_figure(name)
    if name == "predictor" and not len(algorithm.program.match(algorithm.state(values))):
        pytest.skip("there is nothing to predict")
    tables = figure.tables(Setting(folder=Path("nowhere"), algorithm=algorithm, values=values))
    drawn = figure.pictures[name](pyplot, tables)
    texts = [text.get_text() for axes in drawn.axes for text in axes.texts]
    pyplot.close(drawn)
    texts += [figure.caption(tables), tables[name].csv().decode()]
    assert not [text for text in texts if re.search(r"(?<![\d.e])[-+\N{MINUS SIGN}]0(\.0*)?(?![.\de])", text)]


def test_the_padding_that_is_said_to_be_given_to_multiplication() -> None:
    shown = find_figure("ensemble-complexity").tables(Setting(folder=Path("nowhere")))["ensemble-complexity"]
    part = shown.where(task="multiplication")
    assert (part.numbers("K") == 21 * part.numbers("bits")).all()
    assert (part.numbers("n_max") == 7 * part.numbers("bits") + 1).all()
