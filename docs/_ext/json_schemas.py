"""Pages of the JSON schemas in docs/reference/schemas: the documents of `--json`, key by key."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

_HEAD = """# JSON schemas

What `--json` prints, as [JSON schemas](https://json-schema.org) to check documents with. The tests hold every
document that they look at against its schema, and [JSON](../reference/json.md) has what is common to all.

| printed by | document |
|---|---|
"""
# Documents that are not all of a verb's, and how one gets them.
TITLES = {
    "run": "`add`, `multiply`, `run`",
    "run-image": "`run` of a SUBLEQ image",
    "certify": "`certify`, of the limit",
    "certify-network": "`certify --network`",
    "certify-decoder": "`certify` of a task (.task)",
    "dataset-executions": "`dataset --executions`",
    "show-cells": "`show --tile 1`",
    "show-network": "`show` of a network file",
    "show-decoder": "`show` of a decoder file",
    "train-decoder": "`train` of a task (.task)",
}


def pages(root: Path) -> Iterator[tuple[str, str]]:
    """One page of all documents, and one for each."""
    links = []
    for path in sorted((root / "docs" / "reference" / "schemas").glob("*.json")):
        title = TITLES.get(path.stem, f"`{path.stem}`")
        links.append(f"| {title} | [{path.name}](schemas/{path.stem}.md) |\n")
        head = f"# JSON of {title}\n\nThe schema: {{download}}`{path.name} <../../reference/schemas/{path.name}>`."
        rows = "\n".join(_rows(json.loads(path.read_text(encoding="utf-8")), ""))
        table = f"| key | type | meaning |\n|---|---|---|\n{rows}"
        yield f"schemas/{path.stem}.md", f"{head} A key in brackets is not always there.\n\n{table}\n"
    yield "schemas.md", _HEAD + "".join(links)


def _rows(schema: dict[str, Any], prefix: str) -> Iterator[str]:
    for key, part in schema.get("properties", {}).items():
        name = f"`{prefix}{key}`" if key in schema["required"] else f"[`{prefix}{key}`]"
        meaning = re.sub(r"([|*_<>\[\]\\])", r"\\\1", part.get("description", ""))
        yield f"| {name} | {_type(part)} | {meaning} |"
        yield from _rows(part.get("items", part), f"{prefix}{key}{'[]' if 'items' in part else ''}.")


def _type(schema: dict[str, Any]) -> str:
    kinds = schema.get("type", "anything")
    inner = {"array": schema.get("items"), "object": schema.get("additionalProperties")}
    words = [kinds] if isinstance(kinds, str) else sorted(kinds, key=lambda kind: kind == "null")
    return " or ".join(
        f"{word} of {_type(inner[word])}" if isinstance(inner.get(word), dict) else word for word in words
    )
