"""bitwright: write an algorithm as bit rules, and have a wide two-layer network run it exactly.

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
    from bitwright.api.checked import Checked as Checked
    from bitwright.api.checked import check as check
    from bitwright.api.engines import EngineChoice as EngineChoice
    from bitwright.api.engines import choose_engine as choose_engine
    from bitwright.api.export.writing import Export as Export
    from bitwright.api.exports import export as export
    from bitwright.api.graphs import run_graphs as run_graphs
    from bitwright.api.graphs import with_results as with_results
    from bitwright.api.inference import Inference as Inference
    from bitwright.api.inference import infer as infer
    from bitwright.api.kinds import KindsOfCells as KindsOfCells
    from bitwright.api.kinds import cell_kinds as cell_kinds
    from bitwright.api.learning import executions as executions
    from bitwright.api.network import Network as Network
    from bitwright.api.open import open_program as open_program
    from bitwright.api.public import certify as certify
    from bitwright.api.public import ensemble_sizes as ensemble_sizes
    from bitwright.api.public import run as run
    from bitwright.api.public import run_batch as run_batch
    from bitwright.api.public import validate as validate
    from bitwright.api.public_networks import certify_network as certify_network
    from bitwright.api.train import train as train
    from bitwright.api.widths import network_width as network_width
    from bitwright.checking.certificate import Certificate as Certificate
    from bitwright.checking.exhaustion import NetworkCertificate as NetworkCertificate
    from bitwright.checking.inference.local_rule import LocalRule as LocalRule
    from bitwright.checking.inference.local_rule import infer_local_rule as infer_local_rule
    from bitwright.checking.validation import Validation as Validation
    from bitwright.checking.width import NetworkWidth as NetworkWidth
    from bitwright.encoding.training_set import TrainingSet as TrainingSet
    from bitwright.engines.make import make_engine as make_engine
    from bitwright.engines.protocol import Batch as Batch
    from bitwright.engines.protocol import Engine as Engine
    from bitwright.errors import BitwrightError as BitwrightError
    from bitwright.errors import BitwrightWarning as BitwrightWarning
    from bitwright.errors import DoesNotHoldError as DoesNotHoldError
    from bitwright.errors import InputError as InputError
    from bitwright.errors import Problem as Problem
    from bitwright.errors import ProgramError as ProgramError
    from bitwright.files.executions import Executions as Executions
    from bitwright.machines import machine_a as machine_a
    from bitwright.machines import machine_b as machine_b
    from bitwright.machines.subleq import machine_v as machine_v
    from bitwright.networks import Recipe as Recipe
    from bitwright.networks import TrainingError as TrainingError
    from bitwright.program import FIXED_POINT as FIXED_POINT
    from bitwright.program import Algorithm as Algorithm
    from bitwright.program import Builder as Builder
    from bitwright.program import NodeProgram as NodeProgram
    from bitwright.program import Program as Program
    from bitwright.program import Topology as Topology
    from bitwright.program import Word as Word
    from bitwright.program import grid as grid
    from bitwright.program import index_grid as index_grid
    from bitwright.program import index_range as index_range
    from bitwright.program import parse_node_program as parse_node_program
    from bitwright.program import span as span
    from bitwright.program import word as word
    from bitwright.program import word_of as word_of
    from bitwright.program.text.warned import load as load
    from bitwright.program.text.warned import parse as parse
    from bitwright.program.text.warned import warnings_of as warnings_of
    from bitwright.program.trace import Trace as Trace
    from bitwright.running.run import BatchRun as BatchRun
    from bitwright.running.run import Run as Run
    from bitwright.theory import Predictor as Predictor
    from bitwright.theory import calibrated_size as calibrated_size
    from bitwright.theory import sign_size as sign_size
    from bitwright.theory import smallest_examples as smallest_examples
    from bitwright.theory import variance as variance
    from bitwright.theory import weights as weights

    open, limit_variance, limit_weights = open_program, variance, weights

# The public names, and the room each comes from.
_names, __getattr__ = lazy_names(
    __name__,
    {
        "bitwright.algorithms": "addition multiplication permutation",
        "bitwright.api.checked": "Checked check",
        "bitwright.api.engines": "EngineChoice choose_engine",
        "bitwright.api.export.writing": "Export",
        "bitwright.api.exports": "export",
        "bitwright.api.graphs": "run_graphs with_results",
        "bitwright.api.inference": "Inference infer",
        "bitwright.api.kinds": "KindsOfCells cell_kinds",
        "bitwright.api.learning": "executions",
        "bitwright.api.network": "Network",
        "bitwright.api.open": "open_program open_program=open",
        "bitwright.api.public": "certify ensemble_sizes run run_batch validate",
        "bitwright.api.public_networks": "certify_network",
        "bitwright.api.train": "train",
        "bitwright.api.widths": "network_width",
        "bitwright.checking.certificate": "Certificate",
        "bitwright.checking.exhaustion": "NetworkCertificate",
        "bitwright.checking.inference.local_rule": "LocalRule infer_local_rule",
        "bitwright.checking.validation": "Validation",
        "bitwright.checking.width": "NetworkWidth",
        "bitwright.encoding.training_set": "TrainingSet",
        "bitwright.engines.make": "make_engine",
        "bitwright.engines.protocol": "Batch Engine",
        "bitwright.errors": "BitwrightError BitwrightWarning DoesNotHoldError InputError Problem ProgramError",
        "bitwright.files.executions": "Executions",
        "bitwright.machines": "machine_a machine_b",
        "bitwright.machines.subleq": "machine_v",
        "bitwright.networks": "Recipe TrainingError",
        "bitwright.program": "FIXED_POINT Algorithm Builder NodeProgram Program Topology Word grid index_grid "
        "index_range parse_node_program span word word_of",
        "bitwright.program.text.warned": "load parse warnings_of",
        "bitwright.program.trace": "Trace",
        "bitwright.running.run": "BatchRun Run",
        "bitwright.theory": "Predictor calibrated_size sign_size smallest_examples "
        "variance variance=limit_variance weights weights=limit_weights",
    },
)
# `bitwright.open` is there, but `from bitwright import *` leaves Python's own open as it is.
__all__ = ["__version__", *(name for name in _names if name != "open")]


def __dir__() -> list[str]:
    return sorted([*__all__, "open"])
