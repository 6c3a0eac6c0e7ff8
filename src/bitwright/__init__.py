"""bitwright: write an algorithm as bit rules; train a small network on them, prove it exact, and run it.

>>> import bitwright
>>> bitwright.run(bitwright.addition(10), p=719, q=483).value
1202
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from bitwright.common.lazy import lazy_names
from bitwright.version import __version__

if TYPE_CHECKING:
    from bitwright.common.errors import BitwrightError as BitwrightError
    from bitwright.common.errors import BitwrightWarning as BitwrightWarning
    from bitwright.common.errors import InputError as InputError
    from bitwright.common.errors import ProgramError as ProgramError
    from bitwright.common.errors import ProofError as ProofError
    from bitwright.common.files.executions import Executions as Executions
    from bitwright.networks import TrainingError as TrainingError
    from bitwright.networks.external import Model as Model
    from bitwright.rules import Algorithm as Algorithm
    from bitwright.rules import Builder as Builder
    from bitwright.rules import NodeProgram as NodeProgram
    from bitwright.rules import Program as Program
    from bitwright.rules import Word as Word
    from bitwright.rules.algorithms import addition as addition
    from bitwright.rules.algorithms import multiplication as multiplication
    from bitwright.rules.algorithms import permutation as permutation
    from bitwright.rules.text.lint import parse as parse
    from bitwright.runs.run import Run as Run
    from bitwright.verbs.certificates import Certificate as Certificate
    from bitwright.verbs.certify import certify as certify
    from bitwright.verbs.check import check as check
    from bitwright.verbs.executions import executions as executions
    from bitwright.verbs.exports import export as export
    from bitwright.verbs.infer import infer as infer
    from bitwright.verbs.network import Network as Network
    from bitwright.verbs.open import open_program
    from bitwright.verbs.run import run as run
    from bitwright.verbs.size import size as size
    from bitwright.verbs.train import train as train
    from bitwright.verbs.validate import validate as validate

    open = open_program

# The public names, and the room each comes from.
_names, __getattr__ = lazy_names(
    __name__,
    {
        "bitwright.rules.algorithms": "addition multiplication permutation",
        "bitwright.verbs.certificates": "Certificate",
        "bitwright.verbs.certify": "certify",
        "bitwright.verbs.check": "check",
        "bitwright.verbs.exports": "export",
        "bitwright.verbs.infer": "infer",
        "bitwright.verbs.executions": "executions",
        "bitwright.verbs.network": "Network",
        "bitwright.verbs.open": "open_program=open",
        "bitwright.verbs.run": "run",
        "bitwright.verbs.size": "size",
        "bitwright.verbs.train": "train",
        "bitwright.verbs.validate": "validate",
        "bitwright.common.errors": "BitwrightError BitwrightWarning InputError ProgramError ProofError",
        "bitwright.common.files.executions": "Executions",
        "bitwright.networks": "TrainingError",
        "bitwright.networks.external": "Model",
        "bitwright.rules": "Algorithm Builder NodeProgram Program Word",
        "bitwright.rules.text.lint": "parse",
        "bitwright.runs.run": "Run",
    },
)
# `bitwright.open` is there, but `from bitwright import *` leaves Python's own open as it is.
__all__ = ["__version__", *(name for name in _names if name != "open")]


def __dir__() -> list[str]:
    return sorted([*__all__, "open"])
