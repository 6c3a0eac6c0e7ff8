"""docs/reference/file-formats.md, or a schema that it leads to, explains all fields that the readers know."""

from __future__ import annotations

import io
import json
import re
from importlib import import_module
from pathlib import Path

import numpy as np
from cases import for_each

from bitwright import addition
from bitwright.files.executions import Executions, save_executions
from bitwright.networks.ensemble import Study
from bitwright.networks.train import Recipe
from bitwright.theory.encoding.training_set import TrainingSet

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "reference" / "file-formats.md").read_text()
SOURCE = ROOT / "src"
# Fields of certificates are keys of what `certify --json` prints, which the schemas explain: which schema, and where.
IN_SCHEMAS = {
    "bitwright.proofs.certificate_file:_FIELDS": ("certify", ()),
    "bitwright.proofs.exhaustion.certificate_file:_FIELDS": ("certify-network", ()),
    "bitwright.proofs.exhaustion.certificate_file:_BIT_FIELDS": ("certify-network", ("closest",)),
}
# Files that only the command that wrote them reads, to continue.
PRIVATE = {
    "bitwright.proofs.exhaustion.findings:FIELDS",
    *(f"bitwright.validation.tally:{name}" for name in ("_FIELDS", "_CROWD", "_FAILURE")),
    *(f"bitwright.machines.subleq.checkpoint:{name}" for name in ("_ABOUT", "_TALLY")),
}


def tables(kind: str) -> dict[str, set[str]]:
    """The names in the first column of every table that a comment such as `<!-- fields: ... -->` stands above."""
    found = {}
    for about, rows in re.findall(rf"<!-- {kind}: (.*?) -->\n\n\|.*\n\|---.*\n((?:\|.*\n)+)", PAGE):
        names = [name for row in rows.splitlines() for name in re.findall(r"`(\w+)`", row.split("|")[1])]
        assert len(set(names)) == len(names), f"{about} lists a field twice"
        found[about] = set(names)
    return found


@for_each("place", tables("fields"))
def test_fields_are_those_of_the_reader(place: str) -> None:
    module, name = place.split(":")
    assert tables("fields")[place] == set(getattr(import_module(module), name))


@for_each("place", IN_SCHEMAS)
def test_fields_of_certificates_are_in_a_schema(place: str) -> None:
    module, name = place.split(":")
    schema, path = IN_SCHEMAS[place]
    assert f"[Schema `{schema}`](schemas)" in PAGE
    explained = json.loads((ROOT / "docs" / "reference" / "schemas" / f"{schema}.json").read_text())["properties"]
    for key in path:
        explained = explained[key]["properties"]
    known = set(getattr(import_module(module), name)) - {"model"}  # which the page has
    assert known <= set(explained)


def test_every_reader_is_on_the_page() -> None:
    """A list of fields in the sources is a dictionary of checks, under a name in capitals."""
    readers = set()
    for path in SOURCE.rglob("*.py"):
        if "bitwright.files.documents import" in (text := path.read_text()):
            module = ".".join(path.relative_to(SOURCE).with_suffix("").parts)
            named = re.findall(
                r"^([A-Z_]+: dict\[str, Check\]|[A-Z_]*FIELDS) = (?:\{|checks_of)", text, flags=re.MULTILINE
            )
            readers |= {f"{module}:{name.partition(':')[0]}" for name in named}
    assert len(readers) >= 12
    assert readers == set(tables("fields")) | set(IN_SCHEMAS) | PRIVATE


def test_arrays_are_those_in_the_files(tmp_path: Path) -> None:
    path = tmp_path / "run.npz"
    one = np.ones((1, 1), dtype=bool)
    save_executions(path, Executions(one, one, ("x",), addition(2).program.id, {"l": 2}))
    described = tables("arrays")
    assert described["executions"] == set(np.load(path).files)
    assert described["training set"] == set(np.load(io.BytesIO(TrainingSet(addition(2).program).npz())).files)


def test_the_header_of_an_ensemble() -> None:
    program = addition(2).program
    study = Study(program, Recipe(width=64), np.zeros((1, program.bits), dtype=bool))
    assert tables("header")["ensemble"] == set(study.header())


def test_formats_have_the_names_that_are_written() -> None:
    for path in SOURCE.rglob("*.py"):
        for name in re.findall(r'^\w*FORMAT\b.*? = "(bitwright [^"]*\d)"', path.read_text(), flags=re.MULTILINE):
            assert f"`{name}`" in PAGE, (path, name)
