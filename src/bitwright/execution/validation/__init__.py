"""Validation: run every input of an algorithm through an engine, and compare every output with an oracle."""

from bitwright.execution.validation.oracles import Arithmetic, Function, Interpreter, Oracle
from bitwright.execution.validation.tally import Failure, Tally
from bitwright.execution.validation.task import Task
from bitwright.execution.validation.validate import Validation, make_task, validate

__all__ = [
    "Arithmetic",
    "Failure",
    "Function",
    "Interpreter",
    "Oracle",
    "Tally",
    "Task",
    "Validation",
    "make_task",
    "validate",
]
