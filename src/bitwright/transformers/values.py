"""Frozen values as JSON and back: a dataclass is an object of its fields, each checked against its annotation."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from math import isfinite
from types import NoneType, UnionType
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

import numpy as np

from bitwright.errors import InputError, shorten
from bitwright.transformers.decoder import Weights

MAX_ITEMS = 1 << 24  # of a list
Arrays = dict[str, Any]
SIMPLE: dict[Any, tuple[tuple[type, ...], str]] = {
    float: ((int, float), "a finite number"),
    bool: ((bool,), "true or false"),
    int: ((int,), "a whole number"),
    str: ((str,), "text"),
}


def describe(value: Any, arrays: Arrays | None = None) -> Any:
    """The structure of a value. With `arrays`, which gets them by name, names stand for arrays, equal ones once."""
    names: dict[tuple[str, tuple[int, ...], bytes], str] = {}

    def visit(part: Any, name: str) -> Any:
        if isinstance(part, np.ndarray):
            if arrays is None:
                return part.tolist()
            known = names.setdefault((part.dtype.name, part.shape, part.tobytes()), name)
            arrays.setdefault(known, part)
            return known
        prefix = f"{name}." if name else ""
        if is_dataclass(part):
            return {field.name: visit(getattr(part, field.name), prefix + field.name) for field in fields(part)}
        if isinstance(part, Mapping):
            return {key: visit(item, prefix + key) for key, item in part.items()}
        if isinstance(part, tuple):
            return [visit(item, f"{prefix}{number}") for number, item in enumerate(part)]
        return part if arrays is None or isinstance(part, str | bool | NoneType) else float(part)

    return visit(value, "")


def build(kind: Any, value: Any, where: str, arrays: Mapping[str, Any] | None = None) -> Any:
    """A value of an annotated type; raises InputError unless all of the structure fits it."""
    if get_origin(kind) in (UnionType, Union):
        choices = [choice for choice in get_args(kind) if choice is not NoneType]
        if value is None and len(choices) < len(get_args(kind)):
            return None
        if set(choices) == set(get_args(Weights)):
            if type(value) is not str or value not in (arrays or {}):
                raise InputError(f"{where} must name a tensor of the file, got {shorten(repr(value))}")
            return (arrays or {})[value]
        kind = int if int in choices and type(value) is int else choices[-1]
    origin = get_origin(kind)
    if origin is np.ndarray:
        return _array(get_args(get_args(kind)[1])[0], value, where)
    if origin is tuple:
        if type(value) is not list or len(value) > MAX_ITEMS:
            raise InputError(f"{where} must be a list of at most {MAX_ITEMS:,} items")
        return tuple(build(get_args(kind)[0], item, f"{where}.{n}", arrays) for n, item in enumerate(value))
    if origin is Mapping:
        if type(value) is not dict:
            raise InputError(f"{where} must be an object")
        return {name: build(get_args(kind)[1], item, f"{where}.{name}", arrays) for name, item in value.items()}
    if is_dataclass(kind):
        types = get_type_hints(kind)
        if type(value) is not dict or set(value) != {field.name for field in fields(kind)}:
            raise InputError(f"{where} must be an object of {', '.join(field.name for field in fields(kind))}")
        made: Any = kind
        return made(**{name: build(types[name], item, f"{where}.{name}", arrays) for name, item in value.items()})
    if origin is Literal:
        sound, wanted = type(value) is str and value in get_args(kind), f"one of {get_args(kind)}"
    else:
        allowed, wanted = SIMPLE[kind]
        sound = type(value) in allowed and (kind is str or isfinite(value))
    if not sound:
        raise InputError(f"{where} must be {wanted}, got {shorten(repr(value))}")
    return float(value) if kind is float else value


def _array(dtype: type, value: Any, where: str) -> Any:
    """An array of whole numbers or of truth values, from lists in lists."""
    exact, parts = (bool if dtype is np.bool_ else int), [value]
    for part in parts:
        if type(part) is list:
            parts += part
        elif type(part) is not exact:
            raise InputError(f"{where} must be lists of {SIMPLE[exact][1]}, got {shorten(repr(part))}")
    try:
        return np.array(value, dtype)
    except (ValueError, OverflowError):
        raise InputError(f"{where} has rows of different lengths, or numbers of more than 64 bits") from None
