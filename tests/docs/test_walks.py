"""The walks through the code in CONTRIBUTING.md name functions that are called in that order."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

import bitwright

ROOT = Path(__file__).parents[2]
WALKS = re.findall(r"walk\*\*, `bitwright (.*?)`: (.*)", (ROOT / "CONTRIBUTING.md").read_text())
# Prints every function of the package once, in the order of the first calls.
TRACED = """
import sys, bitwright
from bitwright.cli.main import main

root, calls = bitwright.__file__.removesuffix("__init__.py"), {}

def note(frame, event, argument):
    code = frame.f_code
    if event == "call" and code.co_filename.startswith(root):
        module = code.co_filename.removeprefix(root).removesuffix(".py").replace("/", ".")
        calls[f"{module}.{code.co_qualname}"] = None

sys.setprofile(note)
main(sys.argv[1:])
sys.setprofile(None)
print(*calls, sep="\\n")
"""


@pytest.mark.parametrize(("command", "text"), WALKS, ids=["multiply", "certify"])
def test_a_walk_names_the_functions_in_order(command: str, text: str, tmp_path: Path) -> None:
    named = re.findall(r"`(\w+(?:\.\w+)+\.\w+)`", text)
    assert 8 <= len(named) <= 10
    network = tmp_path / "network.safetensors"
    if "FILE" in command:
        bitwright.train(bitwright.open(ROOT / "examples" / "subtraction.bw")).save(network)
    words = command.replace("FILE", str(network)).split()
    done = subprocess.run([sys.executable, "-c", TRACED, *words], cwd=ROOT, env={}, capture_output=True, text=True)
    assert [line for line in done.stdout.splitlines() if line in named] == named, done.stderr
