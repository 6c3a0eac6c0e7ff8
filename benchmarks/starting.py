"""How long the command takes to answer."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator

from benchmarks.measure import Row, readable, seconds


def rows() -> Iterator[Row]:
    python = seconds(lambda: call("-c", "pass"))
    for arguments in (["--help"], ["add", "719", "483"], ["multiply", str(2**64 - 1), str(2**64 - 1)]):
        shown = " ".join(arguments) if len(arguments[-1]) < 9 else "multiply of two 64-bit numbers"
        spent = seconds(lambda a=arguments: call("-m", "bitwright", *a), repeat=3)
        yield Row(f"bitwright {shown}", readable(spent), f"Python itself starts in {readable(python)}")


def call(*arguments: str) -> None:
    subprocess.run([sys.executable, *arguments], capture_output=True, check=True)
