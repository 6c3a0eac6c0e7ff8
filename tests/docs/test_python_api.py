"""The pages of the Python API: every public name, every name that pages import, every type in a signature."""

import html
import json
import re
from functools import cache
from importlib import import_module
from pathlib import Path

import bitwright
from bitwright.cli.main import VERBS

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "reference" / "python.md").read_text()
LISTED = {f"bitwright.{name}" for name in re.findall(r"^   (\w[\w.]*)$", PAGE, flags=re.MULTILINE)}
IMPORTED = re.compile(r"from (bitwright[\w.]*) import (\([^)]*\)|[^\n#]*)")
PUBLIC = {name for name in bitwright.__all__ if name != "__version__"}
# Of Python and NumPy, which need no explanation, and the class inside a `Model`.
KNOWN = {
    *("Any", "ArrayLike", "Callable", "False", "Generator", "Hashable", "HeldModel", "Iterable", "Iterator", "Literal"),
    *("Mapping", "None", "Path", "PathLike", "Self", "Sequence", "True"),
}


@cache
def imports() -> list[tuple[str, str, str]]:
    """Where a page or a notebook imports from us, from which module, and which name."""
    found = []
    for path in [*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md"), *ROOT.glob("*/**/*.ipynb")]:
        if {"_build", "generated", ".venv"} & set(path.parts):
            continue
        text = path.read_text()
        if path.suffix == ".ipynb":
            text = "\n".join("".join(cell["source"]) for cell in json.loads(text)["cells"])
        for module, names in IMPORTED.findall(text):
            found += [(path.name, module, name.split()[0]) for name in names.strip("()\n ").split(",") if name.strip()]
    return found


def test_every_name_that_a_page_imports_is_public() -> None:
    assert len(imports()) > 50
    for path, module, name in imports():
        offered = import_module(module).__all__ if module == "bitwright" or module in LISTED else ()
        assert name in offered or f"{module}.{name}" in LISTED, f"{path}: from {module} import {name}"


def test_every_public_name_is_listed_and_every_verb_in_the_first_table() -> None:
    assert {f"bitwright.{name}" for name in PUBLIC} <= LISTED
    first = PAGE.split("\n## ")[1]
    assert first.startswith("Run, prove, train")
    assert {name for name in VERBS if name in PUBLIC} <= set(re.findall(r"^   (\w+)$", first, flags=re.MULTILINE))


def test_signatures_name_types_that_are_explained_and_no_place_in_memory(site: Path) -> None:
    pages = {path.name: path.read_text() for path in (site / "generated" / "python").glob("*.html")}
    assert len({name.lower() for name in pages}) == len(pages) > 50
    entries = {
        name.rpartition(".")[2] for text in pages.values() for name in re.findall(r'<dt [^>]*\bid="(.*?)"', text)
    }
    explained = {*entries, *(name.rpartition(".")[2] for name in LISTED), *KNOWN, *re.findall(r"`([A-Z]\w+)`", PAGE)}
    found: dict[str, set[str]] = {}  # by type: the pages with it
    for name, text in pages.items():
        for entry in re.findall(r'<dt class="sig.*?</dt>', text, flags=re.DOTALL):
            signature = html.unescape(re.sub(r"<[^>]+>", "", entry))
            assert not re.search(r" at 0x|<", signature), (name, signature)
            words = set(re.findall(r"\b[A-Z]\w+", re.sub(r"'[^']*'|^.*?(?=[(:=])", "", signature, flags=re.DOTALL)))
            for word in words:
                found.setdefault(word, set()).add(name)
    assert len(found) > 60
    assert {word: names for word, names in found.items() if word not in explained} == {}


def test_every_verb_is_in_the_table_once_and_its_calls_are_there() -> None:
    table = PAGE.split("## The same on the command line")[1].split("\n## ")[0]
    rows = [row.split("|")[1:3] for row in table.splitlines() if row.startswith("| `")]
    verbs = [verb for cell, _ in rows for verb in re.findall(r"`(\w+)`", cell)]
    assert sorted(verbs) == sorted(VERBS)
    code = " ".join(part for _, cell in rows for part in re.findall(r"`([^`]*)`", cell) if not part.startswith("--"))
    called = set(re.findall(r"(?<![\w.])([A-Za-z_]+)(?=\(|\.load|$| )", code)) - {"path", "algorithm", "order", "True"}
    assert len(called) >= 12
    assert called <= PUBLIC
