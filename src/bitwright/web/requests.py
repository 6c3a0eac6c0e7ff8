"""Defines the requests of the local page, which are checked field by field, and their limits."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field


@dataclass(frozen=True)
class Limits:
    """The limits of the local page."""

    text: int = 65_536  # characters of a pasted program
    body: int = 1 << 19  # bytes of a request
    bits: int = 20_000
    templates: int = 20_000
    steps: int = 20_000
    cells: int = 25_000_000  # recorded bits: steps times bits
    network: int = 256  # examples that a network is trained on
    width: int = 16_384
    proof: int = 1 << 24  # states to check
    memory_bits: int = 1 << 15  # of machine V, whose steps are not recorded: 1,024 words of 32 bits
    console: int = 1 << 16  # bytes that machine V prints
    nodes: int = 2_000  # in a graph
    edges: int = 10_000
    drawn: int = 300  # nodes of a graph drawn before a run
    seconds: float = 20.0
    check_seconds: float = 5.0
    memory: int = 3 << 30  # bytes of address space of the worker
    result: int = 32 << 20  # bytes of the files of one result, and of any file that the worker writes
    kept: int = 8  # results whose files can be downloaded


LIMITS = Limits()
Text = Annotated[str, Field(max_length=LIMITS.text)]
Short = Annotated[str, Field(max_length=60)]
Edge = Annotated[list[int], Field(min_length=2, max_length=2)]
NodeName = Annotated[str, Field(pattern=r"^[A-Za-z0-9_.]{1,20}$")]


class _Model(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)


class Graph(_Model):
    """A graph: a shape, or the names of nodes and the numbers of each edge's two nodes."""

    shape: Short | None = None
    nodes: Annotated[list[NodeName], Field(max_length=LIMITS.nodes)] = []
    edges: Annotated[list[Edge], Field(max_length=LIMITS.edges)] = []
    directed: bool = False


class ProgramSource(_Model):
    """A program. Each kind uses its own fields and ignores the others."""

    kind: Literal["addition", "multiplication", "permutation", "rules", "sbn", "subleq", "nodes"]
    name: Annotated[str, Field(pattern=r"^[A-Za-z0-9_-]{1,40}$")] | None = None
    bits: Annotated[int, Field(ge=1, le=LIMITS.bits)] = 10
    counter: bool = False
    order: Annotated[list[int], Field(max_length=LIMITS.bits)] = []
    text: Text = ""
    language: Literal["assembly", "image"] = "assembly"
    machine: Literal["A", "B"] = "B"
    words: Annotated[int, Field(ge=1, le=2**24)] | None = None  # None: taken from the text
    width: Annotated[int, Field(ge=1, le=64)] | None = None
    dialect: Short | None = None
    graph: Graph = Graph()

    @property
    def title(self) -> str:
        """The name of the program, also used in file names."""
        return self.name or self.kind


class Request(_Model):
    """A program, its inputs as text, the console input of machine V, and settings to run it or train a network."""

    source: ProgramSource
    inputs: Annotated[dict[str, Text], Field(max_length=1_000)] = {}
    console: Text = ""
    engine: Literal["templates", "limit", "sampled", "network"] = "templates"
    rounding: Literal["calibrated", "sign"] = "calibrated"
    networks: Annotated[int, Field(ge=1, le=10**9)] = 1
    max_steps: Annotated[int, Field(ge=0, le=LIMITS.steps)] = LIMITS.steps
    max_instructions: Annotated[int, Field(ge=0, le=10**12)] | None = None
    tile: Annotated[int, Field(ge=1)] | Literal["all"] = 1
    width: Annotated[int, Field(ge=1, le=LIMITS.width)] | None = None
    seed: Annotated[int, Field(ge=0, le=2**53)] = 0
