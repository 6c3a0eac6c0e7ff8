"""What outsiders look for is there and agrees with the rest: one version, the same linters, commands that exist."""

import re
import tomllib
from pathlib import Path
from typing import Any

import pytest
import yaml

import bitwright

ROOT = Path(__file__).parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())
MAKEFILE = (ROOT / "Makefile").read_text()
TARGETS = set(re.findall(r"^([a-z-]+):", MAKEFILE, flags=re.MULTILINE))


def read(name: str) -> Any:
    return yaml.safe_load((ROOT / name).read_text())


def test_the_version_is_written_once() -> None:
    assert PROJECT["project"]["dynamic"] == ["version"]
    assert re.fullmatch(r"\d+\.\d+\.\d+", bitwright.__version__)
    holders = [
        path
        for folder, kind in (("src", "*.py"), (".", "*.toml"), (".", "*.cff"), ("docs", "*.py"))
        for path in (ROOT / folder).rglob(kind)
        if not {".venv", "_build", ".venv-peers"} & set(path.parts) and f'"{bitwright.__version__}"' in path.read_text()
    ]
    assert holders == [ROOT / "src" / "bitwright" / "version.py"]


def test_hooks_call_the_linters_of_make_lint() -> None:
    hooks = [hook for repo in read(".pre-commit-config.yaml")["repos"] for hook in repo["hooks"]]
    recipe = MAKEFILE.split("\nlint:")[1].split("\n\n")[0]
    commands = {line.strip().removeprefix("$(BIN)/").removesuffix(" .") for line in recipe.splitlines()[1:]}
    assert {hook["entry"].removeprefix(".venv/bin/") for hook in hooks} == commands


@pytest.mark.parametrize("name", ["test", "pages"])
def test_workflows_call_make(name: str) -> None:
    jobs = read(f".github/workflows/{name}.yml")["jobs"]
    typed = [step["run"] for job in jobs.values() for step in job["steps"] if "run" in step]
    assert typed
    for command in typed:
        program, target = command.split()
        assert program == "make"
        assert target in TARGETS, command


def test_workflows_try_every_version_that_is_promised() -> None:
    matrix = read(".github/workflows/test.yml")["jobs"]["test"]["strategy"]["matrix"]
    assert matrix["python"] == ["3.11", "3.12", "3.13", "3.14"]
    assert PROJECT["project"]["requires-python"] == f">={matrix['python'][0]}"
    assert {system.split("-")[0] for system in matrix["system"]} == {"ubuntu", "macos"}


def test_exit_codes_are_those_of_the_page() -> None:
    page = (ROOT / "docs" / "reference" / "json.md").read_text()
    said = set(re.findall(r"^\| (\d+) \|", page, flags=re.MULTILINE))
    files = [path.read_text() for path in (ROOT / "src" / "bitwright" / "cli").glob("*.py")]
    given = {code for text in files for code in re.findall(r"^ +return (\d+)$", text, flags=re.MULTILINE)}
    assert {"1", "2", "130"} <= given <= said


def test_the_demo_runs_what_it_shows() -> None:
    """So that a command that is typed after it finds the file that the one before wrote."""
    part = re.sub(r"\s*\\\n\s*", " ", MAKEFILE.partition("demo: $(VENV)/ready\n")[2].partition("\n\n")[0])
    command = "((?:bitwright|python) .*?)"
    pattern = rf"echo '\$\$ {command}'; *(?:! )?\$\(BIN\)/{command}(?: >/dev/null)?$"
    pairs = re.findall(pattern, part, re.MULTILINE)
    assert len(pairs) == len(part.splitlines()) > 8
    for shown, run in pairs:
        assert shown.split() == run.split()


def test_no_two_classes_have_one_name() -> None:
    names = [
        name
        for file in (ROOT / "src/bitwright").rglob("*.py")
        for name in re.findall(r"^class (\w+)", file.read_text(), re.MULTILINE)
    ]
    assert len(names) > 400
    assert sorted({name for name in names if names.count(name) > 1}) == []


def test_every_table_has_a_head() -> None:
    """A blank line between rows ends a table, and the rest of it is shown as text."""
    tables = 0
    for path in (one for folder in ("docs", "examples", "sceptic", "proofs") for one in (ROOT / folder).rglob("*.md")):
        text = re.sub(r"^```.*?^```", "", path.read_text(), flags=re.MULTILINE | re.DOTALL)
        for head, rule in re.findall(r"(?:\A|\n\n|\n[^|\n][^\n]*\n)(\|[^\n]*)\n([^\n]*)", text):
            assert re.fullmatch(r"[|: -]+", rule), f"{path.name}: {head}"
            tables += 1
    assert tables > 20


def test_the_tree_of_packages_is_the_one_that_contributors_read() -> None:
    """The packages and their order are those of the import rules, and every file that is named exists."""
    text = (ROOT / "CONTRIBUTING.md").read_text()
    tree = text.partition("    src/bitwright/\n")[2].partition("    paper/")[0]
    named = re.findall(r"^      (\w+)/", tree, flags=re.MULTILINE)
    source = ROOT / "src" / "bitwright"
    assert set(named) == {path.parent.name for path in source.glob("*/__init__.py")}
    (layers,) = (rule["layers"] for rule in PROJECT["tool"]["importlinter"]["contracts"] if rule["type"] == "layers")
    order = [name for layer in reversed(layers) for name in layer.split(" | ")]
    assert named == [name for name in order if name in named]
    for path in re.findall(r"`([\w/]+\.py|[\w/]+/)`", text):
        assert (ROOT / path).exists() or (source / path).exists(), path
