"""Life from random boards: its table, boards and tori of any size, and a network that is proved for all of them."""

from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np
import pytest

from bitwright import InputError, parse, run, train
from bitwright.common.bits import BoolArray
from bitwright.common.files.executions import Executions
from bitwright.exports.pages import graph_page
from bitwright.inference.local_rule import LocalRule, infer_local_rule
from bitwright.rules.pattern import Pattern


def life(boards: BoolArray) -> BoolArray:
    around = sum(np.roll(boards, (i, j), axis=(1, 2)).astype(int) for i in (-1, 0, 1) for j in (-1, 0, 1)) - boards
    return (around == 3) | (boards & (around == 2))


def executions_of(boards: BoolArray, after: BoolArray) -> Executions:
    count, names = len(boards), tuple(f"x[{i + 1}]" for i in range(boards[0].size))
    return Executions(boards.reshape(count, -1), after.reshape(count, -1), names)


def boards(count: int, height: int, width: int, seed: int = 0) -> BoolArray:
    return np.random.default_rng(seed).random((count, height, width)) < 0.5


@cache
def life_rule() -> LocalRule:
    before = boards(40, 12, 11)
    return infer_local_rule(executions_of(before, life(before)), 12, 11)


def test_life_is_inferred_from_random_boards() -> None:
    rule = life_rule()
    assert (rule.seen, len(rule.writes), rule.disagreement) == (512, 140, None)
    assert rule.further_cells() == 0
    for config in range(512):
        near = config >> np.arange(9) & 1
        others = int(near.sum() - near[4])
        assert (config in rule.writes) == (others == 3 or (near[4] == 1 and others == 2))


def bounded_life(board: BoolArray) -> BoolArray:
    height, width = board.shape
    return life(np.pad(board, 1)[np.newaxis])[0, 1 : height + 1, 1 : width + 1]


def generations(shape: str, board: BoolArray, count: int, rule: LocalRule | None = None, **how: Any) -> list[int]:
    program = parse((rule or life_rule()).text(), "rule", generations=count)
    cells = [f"{row}.{column}" for row, column in np.argwhere(board)]
    return [node["alive"] for node in run(program, graph=shape, alive=cells, **how).nodes.values()]


@pytest.mark.parametrize(("height", "width"), [(1, 1), (2, 5), (4, 7)])
def test_the_inferred_program_is_life_on_boards_and_on_tori(height: int, width: int) -> None:
    board = boards(1, height, width, seed=height)[0]
    around, bounded = board, board
    for _ in range(4):
        around, bounded = life(around[np.newaxis])[0], bounded_life(bounded)
    assert generations(f"torus:{height}x{width}", board, 4) == around.ravel().tolist()
    assert generations(f"board:{height}x{width}", board, 4) == bounded.ravel().tolist()


def test_a_network_of_one_cell_is_proved_and_runs_every_board() -> None:
    cells = train(parse(life_rule().text(), "life"))
    assert cells.proved
    board = boards(1, 6, 8, seed=3)[0]
    after = bounded_life(bounded_life(bounded_life(board)))
    assert generations("board:6x8", board, 3, network=cells) == after.ravel().tolist()


def test_a_graph_that_is_no_board_is_refused() -> None:
    with pytest.raises(InputError, match=r"boards.*graph"):
        run(parse(life_rule().text(), "life"), graph="ring:5", alive=["1"])


@pytest.mark.parametrize("neighbourhood", ["moore", "von-neumann"])
@pytest.mark.parametrize("shift", [(1, 0), (0, -1)])
def test_directions_are_kept(neighbourhood: str, shift: tuple[int, int]) -> None:
    before = boards(400, 6, 7)
    rule = infer_local_rule(executions_of(before, np.roll(before, shift, axis=(1, 2))), 6, 7, neighbourhood)
    assert rule.disagreement is None
    board = boards(1, 5, 5, seed=1)
    after = np.roll(board, (2 * shift[0], 2 * shift[1]), axis=(1, 2))
    assert generations("torus:5x5", board[0], 2, rule) == after.ravel().tolist()


def test_boards_of_another_size_are_refused() -> None:
    data = executions_of(boards(3, 4, 4), boards(3, 4, 4))
    with pytest.raises(InputError, match=r"20.*states.*16"):
        infer_local_rule(data, 4, 5)
    with pytest.raises(InputError, match="at least 3x3"):
        infer_local_rule(data, 2, 8)
    with pytest.raises(InputError, match="'moore'"):
        infer_local_rule(data, 4, 4, "more")
    dead = replace(data, after=np.zeros_like(data.after))
    with pytest.raises(InputError, match=r"neighbourhood.*1"):
        infer_local_rule(dead, 4, 4).text()


def test_canonical_text_keeps_the_ways() -> None:
    program = parse(life_rule().text(), "life")
    assert parse(program.text(), "life").text() == program.text()


def test_a_page_shows_a_board_with_ways() -> None:
    """Its wires are those of the graph that the page is of."""
    program = parse(life_rule().text(), "life")
    pattern = Pattern.of(program.kinds)
    network = train(program, width=256)
    page = graph_page(network.weights, pattern, program, "torus:5x6")
    assert (page.view, page.claim.wrong) == ("graph", 0)
