"""Programs whose `ensure` lines hold at every length."""

from pathlib import Path

from long import LONG

HERE = Path(__file__).parent
EXAMPLES = HERE.parents[2] / "examples"
CHAINS = {
    **{name: EXAMPLES / f"{name}.bw" for name in ("addition", "addition-counter", "subtraction", "comparison", "gray")},
    **{name: HERE / f"{name}.bw" for name in ("increment", "saturating", "adder", "third")},
}


SOME = CHAINS if LONG else ("addition-counter", "gray", "third")  # for tests that take long


def text_of(name: str) -> str:
    return CHAINS[name].read_text()
