"""The report says what is stored: its numbers have sources, its commands exist, and it is typeset without a flaw."""

from __future__ import annotations

import argparse
import doctest
import re
import runpy
import shutil
import subprocess
import sys
from pathlib import Path

import click
import numpy as np
import pytest
from cases import for_each

from bitwright import multiplication, run
from bitwright.cli.main import cli
from bitwright.theory.closed_form import weights
from paper.__main__ import command as figure
from paper.report import law, numbers_tex, stored, tex
from paper.width_integrals import Integrals, Sums, unit_variance

ROOT = Path(__file__).resolve().parents[2]
REPORT = ROOT / "paper" / "report"
TEXTS = {path.name: path.read_text() for path in (REPORT / "report.tex", *sorted((REPORT / "sections").glob("*.tex")))}
TEXT = re.sub(r"(?<!\\)%.*", "", "\n".join(TEXTS.values()))
COMMANDS = re.findall(r"\\cmd\{([^}]*)\}", TEXT.replace("\\cmd{#1}", ""))
COMPLETE = [command for command in COMMANDS if "NAME" not in command]


@pytest.fixture(scope="module")
def numbers() -> dict[str, str]:
    return numbers_tex.numbers()


def names(macro: str) -> set[str]:
    return {" ".join(name.split()) for name in re.findall(rf"\\{macro}\{{([^}}#]*)\}}", TEXT)}


def test_every_number_that_is_asked_for_is_stored_and_every_stored_one_is_used(numbers: dict[str, str]) -> None:
    assert names("N") == set(numbers)
    assert names("rows") == set(numbers_tex.rows())


def test_no_number_is_typed_into_the_text() -> None:
    """Without formulas, pictures, commands, labels, names of places in the paper and the bibliography no digit is left;
    and no formula has a number that may have been measured: a decimal fraction, or three digits.
    """
    _, _, body = TEXT.partition(r"\begin{document}")
    for hidden in (
        r"\\begin\{tikzpicture\}.*?\\end\{tikzpicture\}",
        r"\\begin\{thebibliography\}.*?\\end\{thebibliography\}",
        r"\\begin\{tabularx?\}(\{\\textwidth\})?\{@.*?@\{\}\}",
        r"\\(cmd|file|N|theirs|rows|ref|eqref|label|cite|input|vspace|cmidrule\(l?r?\)|multicolumn)\{[^}]*\}(\{[^}]*\}(?=\{))?",
        r"\\setlength\{[^}]*\}\{[^}]*\}",
        r"\\includegraphics\[[^]]*\]\{[^}]*\}",
    ):
        body = re.sub(hidden, " ", body, flags=re.DOTALL)
    formula = r"\$[^$]*\$|\\\[.*?\\\]|\\begin\{equation\}.*?\\end\{equation\}"
    formulas = re.findall(formula, body, flags=re.DOTALL)
    assert len(formulas) > 100
    assert [text for text in formulas if re.search(r"\d\.\d|\d{3}", text)] == []
    left = re.sub(rf"{formula}|H200|bfloat16", " ", body, flags=re.DOTALL)
    assert re.findall(r"[^\n]*\d[^\n]*", left) == []


def test_numbers_are_those_of_the_runs_themselves(numbers: dict[str, str]) -> None:
    four = multiplication(4)
    steps = sum(run(four, multiplicand=a, multiplier=b).steps for a in range(16) for b in range(16))
    assert numbers["runs of four bits"] == tex.whole(steps)
    assert numbers["every inputs"] == tex.whole(2**20)
    assert numbers["proof multiplication states"] == tex.whole(multiplication(10).steps * 2**20)


def test_numbers_are_those_of_the_captions(numbers: dict[str, str]) -> None:
    """Captions are written by the figures' own code, which shares nothing with the readers here."""
    said = stored.said("explanation/results.md", r"At k = (\d+ that is [\d,]+ networks against [\d,]+)\.")
    assert said == "{experiment k} that is {experiment ntk} networks against {experiment standard}".format_map(numbers)
    ratios = stored.said("explanation/theory.md", r"(\d+ ratios between [\d.]+ and [\d.]+) for")
    assert ratios == "{spread count} ratios between {spread low} and {spread high}".format_map(numbers)


def test_a_source_that_has_changed_is_noticed() -> None:
    with pytest.raises(LookupError, match="one is needed"):
        stored.said("explanation/theory.md", r"a sentence that (nobody) wrote")
    with pytest.raises(LookupError, match="no table"):
        stored.page_table("explanation/networks.md", "no", "such", "columns")
    with pytest.raises(LookupError, match="nothing with"):
        stored.log("cells.jsonl", pattern="none")
    with pytest.raises(LookupError, match="lines with"):
        stored.line("cells.jsonl", kinds=2)


def test_values_and_terms_become_tex() -> None:
    assert doctest.testmod(tex) == (0, 3)
    assert doctest.testmod(law) == (0, 1)


def computed(known: dict[str, float], *lists: dict[str, str]) -> dict[str, float]:
    """The definitions of the appendix, one after the other."""
    found = {"pi": np.pi, "sqrt": np.sqrt, "asin": np.arcsin, **known}
    for definitions in lists:
        for name, expression in definitions.items():
            found[name] = eval(expression, {}, found)
    return found


def sums_over(examples: float, matched: float, writer: float, other: float) -> dict[str, float]:
    """e1, e2 and A over this many examples, of which `matched` have the value of writers."""
    e1, e2 = (matched * writer**p + (examples - matched) * other**p for p in (1, 2))
    return {"M": examples, "e1": e1, "e2": e2, "A": e1**2 - e2}


@pytest.mark.parametrize(("K", "n"), [(5, 4), (12, 4), (40, 20), (40, 40), (202, 31)])
def test_the_printed_terms_are_the_law(K: int, n: int) -> None:
    """V of every bit of a random state, from the expressions that the appendix prints."""
    rng = np.random.default_rng(K + n)
    m = rng.integers(0, min(n, 3) + 1, size=6)
    c = m + rng.integers(0, min(K - n, 3) + 1, size=6)
    w, L, kappa = weights(n, K), 2 * np.pi - 1 + K, 2 * np.pi / (2 * np.pi - 1)
    base = {"n": n, "z": n**-0.5, "w1": float(w.matched), "w0": float(w.unmatched)}
    unit = computed(base, law.CONSTANTS, law.INTEGRALS)
    for name, value in vars(Integrals(np.array(float(n)))).items():
        assert unit[{"DD": "D2", "H": "U"}.get(name, name)] == pytest.approx(float(value)), name
    own, shared = [], np.zeros(5)
    for matched, writers in zip(m, c, strict=True):
        values = kappa * (1 - writers / L), -kappa * writers / L
        S, T = sums_over(n, matched, *values), sums_over(K - n, writers - matched, *values)
        both = {
            f"{side}_{name}": value
            for side, sums in (("S", S), ("T", T))
            for name, value in computed({**unit, **sums}, law.MOMENTS).items()
            if name in law.MOMENTS
        }
        gates = np.array([S["e2"], T["e2"], S["e1"] ** 2, S["e1"] * T["e1"], T["e1"] ** 2])
        named = dict(zip(("tS", "tT", "uSS", "uST", "uTT"), gates, strict=True))
        parts = computed({**unit, **S, **both, **named}, law.MIXED, law.PARTS)
        own.append(parts["X"] + 2 * parts["Y"] + 2 * parts["G"])
        shared += gates
    named = dict(zip(("tS", "tT", "uSS", "uST", "uTT"), shared, strict=True))
    G_all = eval(law.PARTS["G"], {}, {**unit, **named})
    assert np.array(own) + G_all == pytest.approx(unit_variance(n, m, c, K, Sums.of(m, c)).ravel(), rel=1e-9, abs=1e-12)


def test_there_are_commands() -> None:
    assert len(COMPLETE) > 25


class ParsedError(Exception):
    """The options of a benchmark were read, and nothing was measured."""


@for_each("command", sorted(set(COMPLETE)))
def test_commands_are_there_and_take_these_options(command: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    program, *arguments = command.split()
    if program == "make":
        assert re.search(rf"^{arguments[0]}:", (ROOT / "Makefile").read_text(), flags=re.MULTILINE)
    elif program == "bitwright":
        check_verb(arguments)
    elif arguments[:2] == ["-m", "paper"]:
        figure.make_context("paper", arguments[2:])
    elif arguments[:2] == ["-m", "pytest"]:
        assert all((ROOT / path).exists() for path in arguments[2:])
    elif arguments[0] == "-m":
        check_benchmark(arguments[1], arguments[2:], monkeypatch)
    else:
        assert command == "pip install -e .[plot]"
        assert "\nplot = " in (ROOT / "pyproject.toml").read_text()


def check_verb(arguments: list[str]) -> None:
    with click.Context(cli) as above:
        verb = cli.get_command(above, arguments[0])
        assert verb is not None
        if arguments[1:] == ["--check"]:  # named in passing, without its file
            assert any("--check" in option.opts for option in verb.params)
        elif arguments[1:]:
            verb.make_context(arguments[0], arguments[1:], parent=above)


def check_benchmark(module: str, arguments: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    """As far as its options are read; where it has none, that its file is there."""
    path = ROOT / (module.replace(".", "/") + ".py")
    if "parse_args" not in path.read_text():
        assert not arguments
        return
    parse = argparse.ArgumentParser.parse_args

    def stop(self: argparse.ArgumentParser, *_: object) -> argparse.Namespace:
        parse(self, arguments)  # ends the program where an option is unknown
        raise ParsedError

    monkeypatch.setattr(argparse.ArgumentParser, "parse_args", stop)
    monkeypatch.syspath_prepend(ROOT)
    monkeypatch.setattr(sys, "argv", [module, *arguments])
    with pytest.raises(ParsedError):
        runpy.run_path(str(path), run_name="__main__")


def test_files_that_are_named_are_there() -> None:
    files = set(re.findall(r"\\file\{([^}#]*)\}", TEXT))
    assert len(files) > 15
    known = [ROOT, ROOT / "docs", ROOT / "src" / "bitwright"]
    pages = {path.name for path in (ROOT / "docs").rglob("*.md")}
    assert [name for name in files if not any((at / name).exists() for at in known) and name not in pages] == []


def test_references_lead_somewhere() -> None:
    cited = {key for group in re.findall(r"\\cite\{([^}]*)\}", TEXT) for key in group.split(",")}
    assert cited == set(re.findall(r"\\bibitem\{([^}]*)\}", TEXT))
    labels = re.findall(r"\\label\{([^}]*)\}", TEXT)
    assert len(labels) == len(set(labels))
    assert set(re.findall(r"\\(?:eq)?ref\{([^}]*)\}", TEXT)) <= set(labels)


@pytest.mark.skipif(shutil.which("pdflatex") is None, reason="no TeX installation")
def test_it_is_typeset_without_a_flaw_on_six_to_ten_pages(tmp_path: Path) -> None:
    place = tmp_path / "report"
    shutil.copytree(REPORT, place, ignore=shutil.ignore_patterns("build", "__pycache__"))
    for script in ("numbers_tex", "figures"):
        subprocess.run([sys.executable, "-m", f"paper.report.{script}", place / "build"], cwd=ROOT, check=True)
    command = ["pdflatex", "-interaction=batchmode", "-halt-on-error", "-output-directory=build", "report.tex"]
    for _ in range(3):
        subprocess.run(command, cwd=place, check=True, stdout=subprocess.DEVNULL)
    log = (place / "build" / "report.log").read_text(errors="replace")
    assert re.findall(r".*(?:Overfull|undefined|multiply defined).*", log) == []
    [pages] = re.findall(r"Output written on build/report\.pdf \((\d+) pages", log)
    assert 6 <= int(pages) <= 10
