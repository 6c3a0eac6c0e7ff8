"""Validation: runs every input of an algorithm through an engine, and compares every output with an oracle."""

from bitwright.validation.oracles import UNKNOWN, Function, Oracle
from bitwright.validation.task import BrokenBound, Failure, Tally, Task
from bitwright.validation.validate import Validation, Verdict, make_task, validate

__all__ = [
    "UNKNOWN",
    "BrokenBound",
    "Failure",
    "Function",
    "Oracle",
    "Tally",
    "Task",
    "Validation",
    "Verdict",
    "make_task",
    "validate",
]
