"""Engines behind one protocol, the run loop, and traces."""

from bitwright.execution.engine import Batch, Engine
from bitwright.execution.engines import ENGINES, make_engine
from bitwright.execution.run import BatchRun, Run, run, run_batch
from bitwright.execution.trace import Trace

__all__ = ["ENGINES", "Batch", "BatchRun", "Engine", "Run", "Trace", "make_engine", "run", "run_batch"]
