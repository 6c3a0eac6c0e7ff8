"""What may be asked for, as models that check every field."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

from bitwright.engines.make import ENGINES
from bitwright.web.limits import Limits

LIMITS = Limits()
Text = Annotated[str, Field(max_length=LIMITS.text)]
Name = Annotated[str, Field(pattern=r"^[A-Za-z0-9_-]{1,40}$")]


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


Source = Annotated[Permutation | Addition | Multiplication | Rules | Sbn, Field(discriminator="kind")]


class CheckRequest(_Model):
    """A program to look for problems in."""

    source: Source


class RunRequest(_Model):
    """A program, its inputs as text, and how to run it."""

    source: Source
    inputs: Annotated[dict[str, str], Field(max_length=1_000)] = {}
    engine: Literal["templates", "limit", "kernel", "sampled", "network"] = "templates"
    rounding: Literal["calibrated", "sign"] = "calibrated"
    networks: Annotated[int, Field(ge=1, le=10**9)] = 1
    seed: Annotated[int, Field(ge=0, le=2**53)] = 0
    width: Annotated[int, Field(ge=1, le=LIMITS.width)] | None = None
    max_steps: Annotated[int, Field(ge=0, le=LIMITS.steps)] | None = None
    delta: Annotated[float, Field(gt=0, lt=1)] = 0.01


assert set(ENGINES) == {"templates", "limit", "kernel", "sampled", "network"}
