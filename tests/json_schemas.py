"""JSON schemas of what `--json` prints, in docs/reference/schemas: every document has to fit the one of its kind.

A schema is widened, never guessed: after a change that is meant, `WIDEN_SCHEMAS=1 pytest tests/docs` adds the keys and
types that were met, and the difference is looked at before it is committed.
"""

import json
import os
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).parent.parent / "docs" / "reference" / "schemas"
DIALECT = "https://json-schema.org/draft/2020-12/schema"
# Objects whose keys are names of the user's own.
FREE = {"inputs", "outputs", "expected", "first", "nodes", "tensors", "names", "state"}
TYPES = {bool: "boolean", int: "integer", float: "number", str: "string", list: "array", dict: "object"}
Schema = dict[str, Any]


def load(kind: str) -> Schema:
    found: Schema = json.loads((FOLDER / f"{kind}.json").read_text())
    return found


def assert_fits(kind: str, document: dict[str, Any]) -> None:
    """Fails with the first place where a document is not what its schema says."""
    from jsonschema import Draft202012Validator

    if os.environ.get("WIDEN_SCHEMAS"):
        _widen_file(kind, document)
    found = next(Draft202012Validator(load(kind)).iter_errors(document), None)
    assert found is None, f"{kind}.json, at {found.json_path}: {found.message}"


def _widen_file(kind: str, document: dict[str, Any]) -> None:
    path = FOLDER / f"{kind}.json"
    head = {"$schema": DIALECT, "title": f"bitwright, --json: {kind}"}
    wider = widened(load(kind) if path.exists() else None, document)
    FOLDER.mkdir(exist_ok=True)
    path.write_text(json.dumps({**head, **wider}, indent=1) + "\n")


def widened(schema: Schema | None, value: Any, name: str = "") -> Schema:
    """The schema with just enough added that the value fits."""
    wider = dict(schema or {})
    kind = "null" if value is None else TYPES[type(value)]
    types = {*_types(wider), kind}
    if "number" in types:
        types.discard("integer")
    wider["type"] = sorted(types) if len(types) > 1 else types.pop()
    if isinstance(value, list):
        for item in value:
            wider["items"] = widened(wider.get("items"), item)
    if isinstance(value, dict) and name in FREE:
        for item in value.values():
            wider["additionalProperties"] = widened(wider.get("additionalProperties"), item, name)
    elif isinstance(value, dict):
        known = wider.get("properties", {})
        fresh = "properties" not in wider
        wider["properties"] = {
            key: widened(known.get(key), value[key], key) if key in value else known[key]
            for key in [*known, *sorted(value)]
        }
        wider["required"] = sorted(value) if fresh else [key for key in wider["required"] if key in value]
        wider["additionalProperties"] = False
    return wider


def _types(schema: Schema) -> list[str]:
    found = schema.get("type", [])
    return found if isinstance(found, list) else [found]
