"""Pages of the JSON schemas in docs/reference/schemas: the documents of `--json`, key by key."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

_HEAD = """# JSON schemas

What `--json` prints, as [JSON schemas](https://json-schema.org) to check documents with. The tests hold every
document that they look at against its schema, and [JSON](../reference/json.md) has what is common to all."""
# Documents that are not all of a verb's, and how one gets them.
TITLES = {
    "run": "`add`, `multiply`, `run`",
    "run-image": "`run` of a SUBLEQ image",
    "certify": "`certify`, of the limit",
    "certify-network": "`certify --network`",
    "certify-decoder": "`certify` of a task (.task)",
    "certify-state": "`certify --network --state`",
    "dataset-executions": "`dataset --executions`",
    "show-cells": "`show --tile 1`",
    "show-network": "`show` of a network file",
    "show-decoder": "`show` of a decoder file",
    "train-decoder": "`train` of a task (.task)",
    "size-network": "`size --of network`",
}


def pages(root: Path) -> Iterator[tuple[str, str]]:
    """One page of all documents, and one for each."""
    names = sorted(path.stem for path in (root / "docs" / "reference" / "schemas").glob("*.json"))
    titles = {name: TITLES.get(name, f"`{name}`") for name in names}
    links = "\n".join(f"| {title} | [{name}.json](schemas/{name}.md) |" for name, title in titles.items())
    table = f"| printed by | document |\n|---|---|\n{links}"
    yield "schemas.md", f"{_HEAD}\n\n{table}\n"
    for name, title in titles.items():
        schema = json.loads((root / "docs" / "reference" / "schemas" / f"{name}.json").read_text(encoding="utf-8"))
        rows = "\n".join(f"| {key} | {kind} | {meaning} |" for key, kind, meaning in _rows(schema, ""))
        file = f"{{download}}`{name}.json <../../reference/schemas/{name}.json>`"
        table = f"| key | type | meaning |\n|---|---|---|\n{rows}"
        yield (
            f"schemas/{name}.md",
            f"# JSON of {title}\n\nThe schema: {file}. A key in brackets is not always there.\n\n{table}\n",
        )


def _rows(schema: dict[str, Any], prefix: str) -> Iterator[tuple[str, str, str]]:
    for key, part in schema.get("properties", {}).items():
        name = f"`{prefix}{key}`"
        meaning = re.sub(r"([|*_<>\[\]\\])", r"\\\1", part.get("description", ""))
        yield name if key in schema["required"] else f"[{name}]", _type(part), meaning
        inner = part.get("items", part)
        yield from _rows(inner, f"{prefix}{key}{'[]' if 'items' in part else ''}.")


def _type(schema: dict[str, Any]) -> str:
    kinds = schema.get("type", "anything")
    words = [kinds] if isinstance(kinds, str) else kinds
    if "array" in words and "items" in schema:
        words = [f"array of {_type(schema['items'])}" if word == "array" else word for word in words]
    if "object" in words and isinstance(schema.get("additionalProperties"), dict):
        words = [f"object of {_type(schema['additionalProperties'])}" if w == "object" else w for w in words]
    return " or ".join(sorted(words, key=lambda word: word == "null"))
