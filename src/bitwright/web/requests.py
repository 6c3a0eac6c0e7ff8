"""The requests, as models that check every field."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

from bitwright.web.limits import Limits

LIMITS = Limits()
Text = Annotated[str, Field(max_length=LIMITS.text)]
Name = Annotated[str, Field(pattern=r"^[A-Za-z0-9_-]{1,40}$")]
Seed = Annotated[int, Field(ge=0, le=2**53)]
Width = Annotated[int, Field(ge=1, le=LIMITS.width)]


class _Model(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)


class Permutation(_Model):
    kind: Literal["permutation"]
    order: Annotated[list[int], Field(min_length=1, max_length=LIMITS.bits)]


class Addition(_Model):
    kind: Literal["addition"]
    bits: Annotated[int, Field(ge=1, le=LIMITS.bits)]
    counter: bool = False


class Multiplication(_Model):
    kind: Literal["multiplication"]
    bits: Annotated[int, Field(ge=1, le=LIMITS.bits)]


class Rules(_Model):
    kind: Literal["rules"]
    text: Text
    name: Name = "program"


class Sbn(_Model):
    kind: Literal["sbn"]
    text: Text
    name: Name = "program"
    machine: Literal["A", "B"] = "B"
    language: Literal["assembly", "python"] = "assembly"


class Subleq(_Model):
    """A program for machine V; None stands for what the text says, and an image says nothing."""

    kind: Literal["subleq"]
    text: Text
    name: Name = "program"
    language: Literal["assembly", "image"] = "assembly"
    words: Annotated[int, Field(ge=1, le=2**24)] | None = None
    width: Annotated[int, Field(ge=1, le=64)] | None = None
    dialect: Annotated[str, Field(max_length=60)] | None = None


class Graph(_Model):
    """A graph by its shape, or its nodes by name and edges by the numbers of their ends."""

    shape: Annotated[str, Field(max_length=60)] | None = None
    nodes: Annotated[list[Annotated[str, Field(pattern=r"^[A-Za-z0-9_.]{1,20}$")]], Field(max_length=LIMITS.nodes)] = []
    edges: Annotated[list[Annotated[list[int], Field(min_length=2, max_length=2)]], Field(max_length=LIMITS.edges)] = []
    directed: bool = False


class Nodes(_Model):
    kind: Literal["nodes"]
    text: Text
    graph: Graph
    name: Name = "program"


Source = Annotated[Permutation | Addition | Multiplication | Rules | Sbn | Subleq | Nodes, Field(discriminator="kind")]


class CheckRequest(_Model):
    """A program to look for problems in."""

    source: Source


class GraphRequest(_Model):
    """A graph to be drawn."""

    graph: Graph


class RunRequest(_Model):
    """A program, its inputs as text, and how to run it. `console` is what machine V reads."""

    source: Source
    inputs: Annotated[dict[str, Text], Field(max_length=1_000)] = {}
    console: Text = ""
    engine: Literal["templates", "limit", "kernel", "sampled", "network"] = "templates"
    rounding: Literal["calibrated", "sign"] = "calibrated"
    networks: Annotated[int, Field(ge=1, le=10**9)] = 1
    seed: Seed = 0
    width: Width | None = None
    max_steps: Annotated[int, Field(ge=0, le=LIMITS.steps)] | None = None
    max_instructions: Annotated[int, Field(ge=0, le=10**12)] | None = None
    delta: Annotated[float, Field(gt=0, lt=1)] = 0.01


class NetworkRequest(_Model):
    """A network to train, to round to integers and to prove: of the cells, or of the whole state."""

    source: Source
    of: Literal["cells", "whole"] = "cells"
    width: Width | None = None
    seed: Seed = 0
