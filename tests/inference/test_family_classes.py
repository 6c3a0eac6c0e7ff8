"""Programs for every size beyond arrays of one dimension: boards and memories; and few states."""

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from long import LONG
from waiting import PATIENCE

from bitwright import infer
from bitwright.common.files.executions import Executions
from bitwright.rules import load
from bitwright.runs import progress
from bitwright.runs.successors import random_executions, successors
from tests.cases import for_each
from tests.inference.test_families import states_of, text_at

Capture = pytest.CaptureFixture[str]
EXAMPLES = Path(__file__).parents[2] / "examples"
TRANSPOSED = """let l = 5
bits m[l,l]
block m[i,j] for i in 1..l, j in 1..l
when m[i,j]=1 write m[j,i] for i in 1..l, j in 1..l
"""
WORDS = """let l = 5
bits m[l,l+1] f[l]
block m[i,j] for i in 1..l, j in 1..l+1
block f[i] for i in 1..l
when m[i,j]=1 write m[i+1,j] for i in 1..l-1, j in 1..l+1
also when m[i,1]=1 write f[i] for i in 1..l
when f[i]=1 write m[1,i] for i in 1..l
"""
TORUS = """let l = 5
bits x[l,l] y[l,l]
block x[i,j] y[i,j] for i in 1..l, j in 1..l
when x[i,j]=1 y[i,j]=0 write x[i%l+1,j] y[i,(j-2)%l+1] for i in 1..l, j in 1..l
when x[i,j]=1 y[i,j]=1 write x[i%l+1,j%l+1] for i in 1..l, j in 1..l
"""
ODD_EVEN_WORDS = """let l = 5
bits m[2*l,l] y[2*l,l]
block m[2*i-1,j] m[2*i,j] for i in 1..l, j in 1..l
block y[1,j] for j in 1..l
block y[2*l,j] for j in 1..l
block y[2*i,j] y[2*i+1,j] for i in 1..l-1, j in 1..l
when m[2*i-1,j]=1 m[2*i,j]=1 write y[2*i-1,j] y[2*i,j] for i in 1..l, j in 1..l
when m[2*i-1,j]!=m[2*i,j] write y[2*i,j] for i in 1..l, j in 1..l
when y[2*i,j]=1 y[2*i+1,j]=1 write m[2*i,j] m[2*i+1,j] for i in 1..l-1, j in 1..l
when y[2*i,j]!=y[2*i+1,j] write m[2*i+1,j] for i in 1..l-1, j in 1..l
when y[1,j]=1 write m[1,j] for j in 1..l
when y[2*l,j]=1 write m[2*l,j] for j in 1..l
"""
ROWS = """let l = 5
bits m[l,l] on[l]
block m[i,j] for i in 1..l, j in 1..l
block on[i] for i in 1..l
when m[i,j]=1 write m[i,j] for i in 1..l, j in 1..l
when on[i]=1 write m[i,*] on[i] for i in 1..l
"""


@for_each(
    ("text", "count", "sizes"),
    [(TRANSPOSED, 150, (5, 6)), (WORDS, 200, (5, 6)), (TORUS, 200, (5, 6)), (ODD_EVEN_WORDS, 200, (4, 5))],
)
def test_the_program_that_ran_is_found_and_holds_at_larger_sizes(text: str, count: int, sizes: tuple[int, ...]) -> None:
    found = infer(states_of(text_at(text), sizes, count))
    assert found.verdict == "DETERMINED", str(found)
    for size in (*(range(found.first, 12) if LONG else (found.first, 8)), 16):
        program = text_at(text)(size)
        assert found.algorithm(size).program.id == program.id, size
        unseen = random_executions(program, 20, seed=99)
        assert (successors(found.algorithm(size).program, unseen.before) == unseen.after).all()


def test_a_row_as_a_whole_is_never_said_to_be_determined() -> None:
    """No theorem says at which size slices of arrays that grow in two dimensions are decided."""
    few = infer(states_of(text_at(ROWS), (5, 6, 7), 200))
    assert few.verdict == "SHORTEST"
    assert "open        when on[i]=1 write m[i,k] for i in 2..l-2, k in 2..l-2" in str(few)
    found = infer(states_of(text_at(ROWS), (6, 13), 200))
    assert found.verdict == "SHORTEST"
    for size in (2, 5, 9, 20):
        assert found.algorithm(size).program.id == text_at(ROWS)(size).id


def test_a_board_on_a_torus_from_boards_that_were_computed_elsewhere() -> None:
    """A cell becomes 1 if exactly two of itself, its northern and its western neighbour are; numpy makes the data."""

    def boards(size: int, count: int) -> Executions:
        before = np.random.default_rng(size).random((count, 3, size, size)) < 0.5
        alive = before.sum(axis=1) == 2
        after = np.stack([alive, np.roll(alive, 1, axis=1), np.roll(alive, 1, axis=2)], axis=1)
        names = tuple(f"{name}[{i},{j}]" for name in "xnw" for i in range(1, size + 1) for j in range(1, size + 1))
        return Executions(before.reshape(count, -1), after.reshape(count, -1), names)

    found = infer({size: boards(size, 300) for size in (4, 5)})
    assert found.verdict == "DETERMINED", str(found)
    assert "write x[i,j] n[i%l+1,j] w[i,j%l+1] for i in 1..l, j in 1..l" in found.text()
    for size in (3, 7, 11):
        larger = boards(size, 50)
        assert (successors(found.algorithm(size).program, larger.before) == larger.after).all()


@for_each(("name", "seed"), [("gray", 5), *[("gray", 0)] * LONG])
def test_few_states_are_never_said_to_fit_nothing(name: str, seed: int) -> None:
    """Six states a size are explained by blocks that are too small, of which no index fits; larger ones are tried."""
    given = {
        size: random_executions(load(EXAMPLES / f"{name}.bw", lets={"l": size}).program, 6, seed=1000 * seed + size)
        for size in (5, 6, 7)
    }
    found = infer(given)
    assert found.verdict == "SHORTEST", str(found)
    for size, one in given.items():
        assert (successors(found.algorithm(size).program, one.before) == one.after).all()


def test_work_in_compiled_code_can_be_interrupted() -> None:
    """Ctrl-C while a thread sleeps without asking for signals: the caller hears of it at once."""
    program = (
        "import signal, threading, time, os\n"
        "from bitwright.runs.progress import interruptible\n"
        "def work():\n"
        "    assert threading.current_thread() is not threading.main_thread()\n"
        "    os.kill(os.getpid(), signal.SIGINT); time.sleep(10**6)\n"
        "try: interruptible(work)\n"
        "except KeyboardInterrupt: print('stopped', flush=True); os._exit(3)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, timeout=PATIENCE, check=False
    )
    assert (done.returncode, done.stdout) == (3, "stopped\n"), done.stderr
    with pytest.raises(ZeroDivisionError):
        progress.interruptible(lambda: 1 // 0)
