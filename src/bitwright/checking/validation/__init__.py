"""Validation: run every input of an algorithm through an engine, and compare every output with an oracle."""

from bitwright.checking.validation.functions import ArrayFunction, Function
from bitwright.checking.validation.given import HeldFunction, given_oracle
from bitwright.checking.validation.oracles import UNKNOWN, Arithmetic, InterpreterOracle, Oracle
from bitwright.checking.validation.tally import BrokenBound, Failure, Tally
from bitwright.checking.validation.task import Task
from bitwright.checking.validation.validate import Validation, Verdict, make_task, validate

__all__ = [
    "UNKNOWN",
    "Arithmetic",
    "ArrayFunction",
    "BrokenBound",
    "Failure",
    "Function",
    "HeldFunction",
    "InterpreterOracle",
    "Oracle",
    "Tally",
    "Task",
    "Validation",
    "Verdict",
    "given_oracle",
    "make_task",
    "validate",
]
