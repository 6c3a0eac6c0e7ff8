"""Validation: run every input of an algorithm through an engine, and compare every output with an oracle."""

from bitwright.validation.functions import Function, given_oracle
from bitwright.validation.oracles import UNKNOWN, Arithmetic, Oracle
from bitwright.validation.report import BrokenBound, Failure, Tally
from bitwright.validation.task import Task
from bitwright.validation.validate import Validation, Verdict, make_task, validate

__all__ = [
    "UNKNOWN",
    "Arithmetic",
    "BrokenBound",
    "Failure",
    "Function",
    "Oracle",
    "Tally",
    "Task",
    "Validation",
    "Verdict",
    "given_oracle",
    "make_task",
    "validate",
]
