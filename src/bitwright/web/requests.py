"""Requests of the page, checked field by field."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

from bitwright.web.limits import Limits

LIMITS = Limits()
Text = Annotated[str, Field(max_length=LIMITS.text)]
Short = Annotated[str, Field(max_length=60)]
Edge = Annotated[list[int], Field(min_length=2, max_length=2)]
NodeName = Annotated[str, Field(pattern=r"^[A-Za-z0-9_.]{1,20}$")]


class _Model(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)


class Graph(_Model):
    """A graph by its shape, or its nodes by name and edges by the numbers of their ends."""

    shape: Short | None = None
    nodes: Annotated[list[NodeName], Field(max_length=LIMITS.nodes)] = []
    edges: Annotated[list[Edge], Field(max_length=LIMITS.edges)] = []
    directed: bool = False


class ProgramSource(_Model):
    """A program. Every kind has fields of its own and ignores the others."""

    kind: Literal["addition", "multiplication", "permutation", "rules", "sbn", "subleq", "nodes"]
    name: Annotated[str, Field(pattern=r"^[A-Za-z0-9_-]{1,40}$")] | None = None
    bits: Annotated[int, Field(ge=1, le=LIMITS.bits)] = 10
    counter: bool = False
    order: Annotated[list[int], Field(max_length=LIMITS.bits)] = []
    text: Text = ""
    language: Literal["assembly", "image", "python"] = "assembly"
    machine: Literal["A", "B"] = "B"
    words: Annotated[int, Field(ge=1, le=2**24)] | None = None  # None: as the text says
    width: Annotated[int, Field(ge=1, le=64)] | None = None
    dialect: Short | None = None
    graph: Graph = Graph()

    @property
    def title(self) -> str:
        """What the program is called, also in the names of files."""
        return self.name or self.kind


class Request(_Model):
    """A program, its inputs as text, what machine V reads, and how to run it or to train a network for it."""

    source: ProgramSource
    inputs: Annotated[dict[str, Text], Field(max_length=1_000)] = {}
    console: Text = ""
    engine: Literal["templates", "limit", "kernel", "sampled", "network"] = "templates"
    rounding: Literal["calibrated", "sign"] = "calibrated"
    networks: Annotated[int, Field(ge=1, le=10**9)] = 1
    max_steps: Annotated[int, Field(ge=0, le=LIMITS.steps)] = LIMITS.steps
    max_instructions: Annotated[int, Field(ge=0, le=10**12)] | None = None
    of: Literal["cells", "whole"] = "cells"
    width: Annotated[int, Field(ge=1, le=LIMITS.width)] | None = None
    seed: Annotated[int, Field(ge=0, le=2**53)] = 0
