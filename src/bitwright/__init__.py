"""bitwright: write an algorithm as bit rules; train a small network on them, prove it exact, and run it.

>>> import bitwright
>>> bitwright.run(bitwright.addition(10), p=719, q=483).value
1202
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from bitwright.lazy import lazy_names
from bitwright.version import __version__

if TYPE_CHECKING:
    from bitwright.algorithms import addition as addition
    from bitwright.algorithms import multiplication as multiplication
    from bitwright.algorithms import permutation as permutation
    from bitwright.api.certificates import Certificate as Certificate
    from bitwright.api.certify import certify as certify
    from bitwright.api.check import check as check
    from bitwright.api.executions import executions as executions
    from bitwright.api.exports import export as export
    from bitwright.api.infer import infer as infer
    from bitwright.api.machine import machine as machine
    from bitwright.api.network import Network as Network
    from bitwright.api.open import open_program
    from bitwright.api.run import run as run
    from bitwright.api.size import size as size
    from bitwright.api.train import train as train
    from bitwright.api.validate import validate as validate
    from bitwright.errors import BitwrightError as BitwrightError
    from bitwright.errors import BitwrightWarning as BitwrightWarning
    from bitwright.errors import InputError as InputError
    from bitwright.errors import ProgramError as ProgramError
    from bitwright.errors import ProofError as ProofError
    from bitwright.files.executions import Executions as Executions
    from bitwright.networks import Recipe as Recipe
    from bitwright.networks import TrainingError as TrainingError
    from bitwright.networks.foreign import Model as Model
    from bitwright.program import Algorithm as Algorithm
    from bitwright.program import Builder as Builder
    from bitwright.program import NodeProgram as NodeProgram
    from bitwright.program import Program as Program
    from bitwright.program import Word as Word
    from bitwright.program.text.lint import parse as parse
    from bitwright.running.run import Run as Run

    open = open_program

# The public names, and the room each comes from.
_names, __getattr__ = lazy_names(
    __name__,
    {
        "bitwright.algorithms": "addition multiplication permutation",
        "bitwright.api.certificates": "Certificate",
        "bitwright.api.certify": "certify",
        "bitwright.api.check": "check",
        "bitwright.api.exports": "export",
        "bitwright.api.infer": "infer",
        "bitwright.api.executions": "executions",
        "bitwright.api.machine": "machine",
        "bitwright.api.network": "Network",
        "bitwright.api.open": "open_program=open",
        "bitwright.api.run": "run",
        "bitwright.api.size": "size",
        "bitwright.api.train": "train",
        "bitwright.api.validate": "validate",
        "bitwright.errors": "BitwrightError BitwrightWarning InputError ProgramError ProofError",
        "bitwright.files.executions": "Executions",
        "bitwright.networks": "Recipe TrainingError",
        "bitwright.networks.foreign": "Model",
        "bitwright.program": "Algorithm Builder NodeProgram Program Word",
        "bitwright.program.text.lint": "parse",
        "bitwright.running.run": "Run",
    },
)
# `bitwright.open` is there, but `from bitwright import *` leaves Python's own open as it is.
__all__ = ["__version__", *(name for name in _names if name != "open")]


def __dir__() -> list[str]:
    return sorted([*__all__, "open"])
