"""Programs that the page offers to start from: files of the package, the same as in the project's examples."""

from __future__ import annotations

from functools import cache
from importlib.resources import files

# Title and inputs of each, in the order in which the page lists them.
EXAMPLES = (
    ("subtraction.bw", "Subtraction", {"a": "719", "b": "483"}),
    ("comparison.bw", "Comparison", {"a": "719", "b": "483"}),
    ("gray.bw", "Gray code", {"x": "1000"}),
    ("rule110.bw", "Rule 110", {"row": "1"}),
    ("gcd.sbn", "Greatest common divisor", {"a": "12", "b": "18"}),
    ("sort4.sbn", "Sort four numbers", {"a": "7", "b": "2", "c": "9", "d": "4"}),
    ("multiply.sbn", "Multiplication", {"a": "6", "b": "7"}),
    ("fibonacci.sbn", "Fibonacci numbers", {"n": "9"}),
    ("collatz.sbn", "Collatz", {"n": "6"}),
    ("prime.sbn", "Prime numbers", {"n": "7"}),
)


@cache
def example_texts() -> list[dict[str, object]]:
    """Every example with its text."""
    folder = files("bitwright.web") / "example_files"
    return [
        {
            "kind": "sbn" if name.endswith(".sbn") else "rules",
            "name": name,
            "title": title,
            "inputs": inputs,
            "text": (folder / name).read_text("utf-8"),
        }
        for name, title, inputs in EXAMPLES
    ]
