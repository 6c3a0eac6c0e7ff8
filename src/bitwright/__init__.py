"""bitwright: write an algorithm as bit rules, and have a wide two-layer network run it exactly.

>>> from bitwright import addition, run
>>> run(addition(10), p=719, q=483).value
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
    from bitwright.app import EngineChoice
    from bitwright.app import run as run
    from bitwright.app import run_batch as run_batch
    from bitwright.encoding.training_set import TrainingSet as TrainingSet
    from bitwright.engines.make import make_engine as make_engine
    from bitwright.engines.protocol import Engine as Engine
    from bitwright.errors import BitwrightError as BitwrightError
    from bitwright.errors import InputError as InputError
    from bitwright.errors import Problem as Problem
    from bitwright.errors import ProgramError as ProgramError
    from bitwright.program import FIXED_POINT as FIXED_POINT
    from bitwright.program import Algorithm as Algorithm
    from bitwright.program import Builder as Builder
    from bitwright.program import Program as Program
    from bitwright.program import Word as Word
    from bitwright.program import grid as grid
    from bitwright.program import load as load
    from bitwright.program import parse as parse
    from bitwright.program import span as span
    from bitwright.program import word as word
    from bitwright.program.trace import Trace as Trace
    from bitwright.running.run import BatchRun as BatchRun
    from bitwright.running.run import Run as Run
    from bitwright.theory import Certificate as Certificate
    from bitwright.theory import Predictor as Predictor
    from bitwright.theory import calibrated_size as calibrated_size
    from bitwright.theory import certify as certify
    from bitwright.theory import sign_size as sign_size
    from bitwright.theory import smallest_examples as smallest_examples
    from bitwright.theory import variance as variance
    from bitwright.theory import weights as weights

# The public names, and the room each comes from.
_names, __getattr__ = lazy_names(
    __name__,
    {
        "bitwright.algorithms": "addition multiplication permutation",
        "bitwright.errors": "BitwrightError InputError Problem ProgramError",
        "bitwright.execution": "BatchRun Engine Run Settings Trace make_engine run run_batch",
        "bitwright.program": "FIXED_POINT Algorithm Builder Program Word grid load parse span word",
        "bitwright.theory": "Certificate Predictor calibrated_size certify sign_size "
        "smallest_examples variance weights",
        "bitwright.encoding.training_set": "TrainingSet",
    },
)
__all__ = ["__version__", *_names]
