"""docs/reference/file-formats.md, or a schema that it leads to, explains all fields that the readers know."""

import json
import re
from dataclasses import fields, is_dataclass
from importlib import import_module
from pathlib import Path

from cases import for_each

import bitwright

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "reference" / "file-formats.md").read_text()
SOURCE = ROOT / "src"
# Fields of certificates are keys of what `certify --json` prints, which the schemas explain: which schema, and where.
IN_SCHEMAS = {
    "bitwright.proofs.certificate_file:_LIMIT_FIELDS": ("certify", ()),
    "bitwright.proofs.certificate_file:_NETWORK_FIELDS": ("certify-network", ()),
    "bitwright.proofs.certificate_file:_BIT_FIELDS": ("certify-network", ("closest",)),
}
# Files that only the command that wrote them reads, to continue.
PRIVATE = {
    *(f"bitwright.machines.subleq.computer:{name}" for name in ("_ABOUT", "_TALLY")),
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
    known = getattr(import_module(module), name)
    read = {field.name for field in fields(known)} | {"format"} if is_dataclass(known) else set(known)
    assert tables("fields")[place] == read


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
        if "bitwright.common.files.documents import" in (text := path.read_text()):
            module = ".".join(path.relative_to(SOURCE).with_suffix("").parts)
            named = re.findall(
                r"^([A-Z_]+: dict\[str, Check\]|[A-Z_]*FIELDS) = (?:\{|checks_of)", text, flags=re.MULTILINE
            )
            readers |= {f"{module}:{name.partition(':')[0]}" for name in named}
    assert len(readers) >= 10
    assert readers == set(tables("fields")) | set(IN_SCHEMAS) | PRIVATE


def test_formats_have_the_names_that_are_written() -> None:
    for path in SOURCE.rglob("*.py"):
        for name in re.findall(r'^\w*FORMAT\b.*? = "(bitwright [^"]*\d)"', path.read_text(), flags=re.MULTILINE):
            assert f"`{name}`" in PAGE, (path, name)


def test_the_annotated_certificate_is_one_that_certify_writes(tmp_path: Path) -> None:
    """What the listing shows is in the file, except for what depends on how a machine adds up while it trains."""
    page = (ROOT / "docs" / "reference" / "reading-a-certificate.md").read_text()
    (listing,) = re.findall(r"^```javascript\n(.*?)^```", page, flags=re.MULTILINE | re.DOTALL)
    shown = json.loads(re.sub(r"//.*", "", listing))
    text = ROOT / "examples" / "subtraction.bw"
    program = bitwright.open(text)
    bitwright.certify(program, bitwright.train(program)).save(tmp_path / "sub.json")
    written = json.loads((tmp_path / "sub.json").read_text())
    assert set(shown) == set(written)
    assert {"distance", "tensors", "links"} < set(shown)
    passing = {"distance", "closest", "by_n", "margin", "tensors", "network_sha256", "version"}
    compare({key: value for key, value in shown.items() if key not in passing}, written)


def compare(shown: object, written: object) -> None:
    """Objects may leave out keys, and texts that end in dots their ends; all else is equal."""
    if isinstance(shown, dict):
        assert isinstance(written, dict)
        for key, value in shown.items():
            compare(value, written[key])
    elif isinstance(shown, str) and shown.endswith("..."):
        assert isinstance(written, str)
        assert written.startswith(shown[:-3])
    else:
        assert shown == written
