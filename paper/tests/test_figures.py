"""Figures are built without a screen, from fast defaults, and again the same."""

from __future__ import annotations

from pathlib import Path
from xml.etree import ElementTree

import pytest

from bitwright import InputError, addition, parse
from paper import FIGURES, Setting, make_figure
from paper.figures import find_figure, update_page
from paper.table import load_table

CHEAP = ("templates", "predictor", "ensemble-complexity", "orders", "sbn")  # those that train nothing


@pytest.mark.parametrize("name", CHEAP)
@pytest.mark.usefixtures("unrendered")
def test_every_figure_is_written(name: str, tmp_path: Path) -> None:
    seen: list[tuple[int, int]] = []
    setting = Setting(folder=tmp_path / "new" / "folder", progress=lambda done, of: seen.append((done, of)))
    paths = list(make_figure(name, setting))
    figure = find_figure(name)
    assert {path.name for path in paths if path.suffix == ".svg"} == {f"{stem}.svg" for stem in figure.pictures}
    check_pictures(paths)
    assert paths[-1].read_text().startswith("**")
    assert all(done <= of for done, of in seen)
    for path in paths:
        if path.suffix == ".csv":  # a table comes back from its file
            text = path.read_bytes()
            assert load_table(path, text.split(b"\n")[0].decode().split(",")).csv() == text


def check_pictures(paths: list[Path]) -> None:
    for path in paths:
        if path.suffix == ".svg":
            ElementTree.parse(path)
        if path.suffix == ".png":
            assert path.read_bytes().startswith(b"\x89PNG")


def test_the_same_numbers_give_the_same_files(tmp_path: Path) -> None:
    one, two = (list(make_figure("templates", Setting(folder=tmp_path / name))) for name in ("one", "two"))
    check_pictures(one)
    assert all(path.stat().st_size > 1_000 for path in one if path.suffix in (".svg", ".png"))
    assert [p.read_bytes() for p in one if p.suffix != ".png"] == [p.read_bytes() for p in two if p.suffix != ".png"]


@pytest.mark.usefixtures("unrendered")
def test_any_program_can_be_shown(tmp_path: Path) -> None:
    rules = parse("bits x[2] y\nblock x[*]\nblock y\nwhen x[1]=1 x[2]=1 write y\ninput x\noutput y", "both")
    for name in ("templates", "predictor"):
        paths = list(make_figure(name, Setting(folder=tmp_path, algorithm=rules, values={"x": 3})))
        assert "both: x = 3" in paths[-1].read_text()


def test_odd_requests_are_refused_in_one_line(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="did you mean 'sbn'"):
        list(make_figure("snb", Setting(folder=tmp_path)))
    with pytest.raises(InputError, match="shows no single program"):
        list(make_figure("sbn", Setting(folder=tmp_path, algorithm=addition(2))))
    with pytest.raises(InputError, match="at most 2,048 templates and 4,096 bits; addition has 2,400 and 1,800"):
        list(make_figure("templates", Setting(folder=tmp_path, algorithm=addition(600))))
    with pytest.raises(InputError, match="matches no template"):
        list(make_figure("predictor", Setting(folder=tmp_path, algorithm=addition(2), values={"p": 0, "q": 0})))
    (tmp_path / "file").touch()
    with pytest.raises(InputError, match="cannot write to"):
        list(make_figure("sbn", Setting(folder=tmp_path / "file")))


def test_without_matplotlib_it_says_what_to_install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("paper.style.find_spec", lambda _: None)
    with pytest.raises(InputError, match=r"pip install 'bitwright\[plot\]'"):
        list(make_figure("sbn", Setting(folder=tmp_path)))


def test_the_help_text_names_every_figure() -> None:
    from paper.__main__ import command

    assert all(f"\n    {name} " in (command.help or "") or f"\n{name} " in (command.help or "") for name in FIGURES)


def test_a_page_gets_the_captions(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text("one\n<!-- caption a -->\nold\n<!-- end -->\ntwo\n<!-- caption b-1 -->\nkept\n<!-- end -->\n")
    (tmp_path / "a.md").write_text("**new**\nlines\n")
    for _ in range(2):
        assert update_page(page, tmp_path) == 2
        assert page.read_text() == (
            "one\n<!-- caption a -->\n**new**\nlines\n<!-- end -->\ntwo\n<!-- caption b-1 -->\nkept\n<!-- end -->\n"
        )
    page.write_text("nothing")
    with pytest.raises(InputError, match="has no line"):
        update_page(page, tmp_path)
    with pytest.raises(InputError, match="cannot read the page"):
        update_page(tmp_path / "none.md", tmp_path)


def test_the_page_of_results_says_what_was_made() -> None:
    docs = Path(__file__).parent.parent.parent / "docs"
    page = (docs / "explanation/results.md").read_text()
    for name in FIGURES:
        assert page.count(f"<!-- caption {name} -->") == 1, name
        assert f"(../figures/{name}.csv)" in page, name
        for picture in find_figure(name).pictures:
            assert f"(../figures/{picture}.svg)" in page
            assert (docs / "figures" / f"{picture}.svg").is_file()


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("a,b\n1,2\n3\n", "line 3: 1 cells instead of 2"),
        ("a\n", "is not a table with the columns a, b"),
        ("", "is not a table"),
        ("a,b\n\x00,1\n1", "cells instead of 2"),
    ],
)
def test_damaged_tables_are_refused(text: str, problem: str, tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text(text)
    with pytest.raises(InputError, match=problem):
        load_table(tmp_path / "t.csv", ("a", "b"))
