"""Engines behind one protocol, the run loop, and traces."""

from bitwright.execution.engine import Batch, Engine
from bitwright.execution.engines import ENGINES, Settings, make_engine
from bitwright.execution.reachable import reachable_range
from bitwright.execution.run import BatchRun, Run, Watch, run, run_batch
from bitwright.program.trace import Trace

__all__ = [
    "ENGINES",
    "Batch",
    "BatchRun",
    "Engine",
    "Run",
    "Settings",
    "Trace",
    "Watch",
    "make_engine",
    "reachable_range",
    "run",
    "run_batch",
]
