"""The site is built without a warning, needs nothing from elsewhere, and has every page, verb, option and name."""

import html
import json
import re
from pathlib import Path
from typing import Any

import click
import pytest
from cases import for_each
from docs.links import broken_in_markdown, broken_in_site
from long import LONG
from waiting import PATIENCE

import bitwright
from bitwright.cli.main import VERBS, cli

ROOT = Path(__file__).parents[2]
PHONE = 400  # pixels
NOTEBOOKS = sorted((ROOT / "examples").glob("*.ipynb"))
MARKDOWN = [*ROOT.glob("*.md"), *(ROOT / "docs").glob("*.md"), ROOT / "sceptic" / "README.md"]


def test_no_link_leads_nowhere_and_nothing_is_loaded_from_elsewhere(site: Path) -> None:
    assert list(broken_in_site(site)) == []


def test_every_page_is_there(site: Path) -> None:
    pages = [path for path in (ROOT / "docs").rglob("*.md") if not {"_build", "figures", "report"} & set(path.parts)]
    assert len(pages) > 25
    missing = [page for page in pages if not (site / page.relative_to(ROOT / "docs")).with_suffix(".html").exists()]
    assert missing == []


def test_every_verb_and_option_is_there(site: Path) -> None:
    context = click.Context(cli)
    for verb in VERBS:
        page = (site / "generated" / "verbs" / f"{verb}.html").read_text()
        command = cli.get_command(context, verb)
        assert command is not None
        for parameter in command.params:
            if isinstance(parameter, click.Option) and not parameter.hidden:
                for name in parameter.opts:
                    assert re.search(rf'<span class="pre">{re.escape(name)}</span>', page), (verb, name)


def test_every_public_name_is_there_with_its_examples(site: Path) -> None:
    page = "".join(path.read_text() for path in sorted((site / "generated" / "python").glob("*.html")))
    text = html.unescape(re.sub(r"<[^>]+>", "", page))
    for name in bitwright.__all__:
        if name != "__version__":
            assert f'id="bitwright.{name}"' in page, name
    assert text.count(">>> ") > 60


@pytest.mark.parametrize(
    ("page", "words"),
    [
        ("tutorial/division-by-three", {"cell", "block", "rule", "verdict"}),
        ("explanation/theory", {"limit", "training set", "margin", "writers"}),
        ("explanation/cells", {"cell", "port", "local state", "wire"}),
    ],
)
def test_words_of_the_glossary_are_linked_where_a_page_first_uses_them(site: Path, page: str, words: set[str]) -> None:
    text = (site / f"{page}.html").read_text()
    links = re.findall(
        r'<a class="first-use reference internal" href="\.\./glossary\.html#term-\S+" title="(.*?): ', text
    )
    assert words <= set(links)
    assert len(set(links)) == len(links)
    for part in re.findall(r"<h\d.*?</h\d>|<pre.*?</pre>|<code.*?</code>|<table.*?</table>", text, flags=re.DOTALL):
        assert "first-use" not in part


def test_the_glossary_and_other_folders_are_left_alone(site: Path) -> None:
    for path in (site / "glossary.html", *(site / "project").glob("*.html")):
        assert "first-use" not in path.read_text()


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_pages_of_notebooks_show_what_is_kept_in_them(site: Path, path: Path) -> None:
    page = (site / "generated" / "notebooks" / f"{path.stem}.html").read_text()
    outputs = [output for cell in json.loads(path.read_text())["cells"] for output in cell.get("outputs", [])]
    shown = ["".join(output["data"]["text/html"]) for output in outputs if "text/html" in output.get("data", {})]
    assert page.count("<iframe ") == sum(one.startswith("<iframe ") for one in shown)
    assert outputs
    assert page.count('<div class="notebook-output">') == len(shown)
    assert not re.search(r"\$\w", page)  # formulas in TeX would need a script from elsewhere
    assert len(page) < 400_000


@for_each("path", MARKDOWN)
def test_links_work_in_the_repository_too(path: Path) -> None:
    assert list(broken_in_markdown(path)) == []


def test_broken_links_are_noticed(tmp_path: Path) -> None:
    (tmp_path / "a.html").write_text(
        '<p id="x"><a href="#x">1</a><a href="#y">2</a><a href="b.html">3</a><script src="https://cdn/x.js"></script>'
    )
    assert list(broken_in_site(tmp_path)) == [
        "a.html loads https://cdn/x.js",
        "a.html: #y has no such anchor",
        "a.html: b.html is not there",
    ]
    page = tmp_path / "a.md"
    page.write_text("# One thing\n[1](#one-thing) [2](#other) [3](b.md)\n")
    assert list(broken_in_markdown(page)) == ["a.md: #other has no such heading", "a.md: b.md is not there"]


# In a browser, from files: readable on a phone, light and dark, and it can be searched.


def test_no_page_is_wider_than_a_phone(site: Path, browser: Any) -> None:
    page = browser.new_page(viewport={"width": PHONE, "height": 800}, java_script_enabled=False)
    found = {}
    for number, path in enumerate(sorted(site.rglob("*.html"))):
        if number % 5 and "generated" in path.parts and not LONG:  # most of these are made alike
            continue
        page.goto(path.as_uri())
        found[path.relative_to(site).as_posix()] = page.evaluate("document.documentElement.scrollWidth")
    page.close()
    assert len(found) > 50
    assert {name: width for name, width in found.items() if width > PHONE} == {}


@pytest.mark.parametrize("width", [1280, PHONE])
def test_no_formula_is_cut_off(site: Path, browser: Any, width: int) -> None:
    page = browser.new_page(viewport={"width": width, "height": 800}, java_script_enabled=False)
    inside = """() => [...document.querySelectorAll(".formula, article math")].filter((x) =>
        x.scrollWidth > x.clientWidth + 1 && x.matches(".formula") || x.getBoundingClientRect().right > innerWidth
    ).map((x) => x.textContent)"""
    paths = [path for path in sorted(site.rglob("*.html")) if "<math" in path.read_text()]
    assert len(paths) > 5
    for path in paths:
        page.goto(path.as_uri())
        assert page.evaluate(inside) == [], path.name
    page.close()


def test_a_button_copies_the_commands_of_a_session(site: Path, browser: Any) -> None:
    page = browser.new_page()
    page.add_init_script("addEventListener('copy', () => { window.copied = document.activeElement.value })")
    page.goto((site / "guides" / "install.html").as_uri())
    block = page.locator("div.highlight", has_text="719 + 483")
    block.hover()
    block.locator("button.copybtn").click()
    assert page.evaluate("copied") == "bitwright add 719 483"
    page.close()


def test_on_a_phone_code_is_not_cut_off_and_pictures_open_in_full(site: Path, browser: Any) -> None:
    page = browser.new_page(viewport={"width": PHONE, "height": 800})
    page.goto((site / "tutorial" / "division-by-three.html").as_uri())
    cut = """() => [...document.querySelectorAll("div.highlight")].filter((block) => {
        const code = block.querySelector("pre"), lines = document.createRange();
        lines.selectNodeContents(code);
        const button = block.querySelector("button.copybtn").getBoundingClientRect();
        return code.scrollWidth > code.clientWidth || button.bottom > lines.getBoundingClientRect().top + 1;
    }).map((block) => block.textContent)"""
    assert page.evaluate(cut) == []
    page.locator("article img").first.click()
    assert page.url.endswith("/_images/tutorial-cells.svg")
    page.close()


def test_a_page_of_the_gallery_runs_where_it_is_described(site: Path, browser: Any) -> None:
    page = browser.new_page()
    page.set_default_timeout(1000 * PATIENCE)
    page.goto((site / "guides" / "gallery.html").as_uri())
    assert page.locator("details.gallery").count() == 1  # the one that was made; others have their pictures alone
    page.locator("details.gallery summary").click()
    frame = page.frame_locator("details.gallery iframe")
    frame.locator("html[data-ready]").wait_for()
    frame.locator("#run").click()
    page.close()


def test_rule_text_is_in_colours(site: Path) -> None:
    page = (site / "reference" / "rule-text.html").read_text()
    assert '<span class="k">when</span>' in page
    assert '<span class="gp">$ </span>' in page


@pytest.mark.parametrize(("width", "beside"), [(1200, True), (PHONE, False)])
def test_a_run_in_a_notebook_is_a_page_with_its_panel(site: Path, browser: Any, width: int, beside: bool) -> None:
    page = browser.new_page(viewport={"width": width, "height": 900})
    page.set_default_timeout(1000 * PATIENCE)
    page.goto((site / "generated/notebooks/your-own-algorithm.html").as_uri())
    page.locator("iframe").scroll_into_view_if_needed()
    frame = page.frame_locator("iframe")
    frame.locator("html[data-ready]").wait_for()
    rows, outputs = (frame.locator(name).bounding_box() for name in ("#scroller", "#outputs"))
    assert (outputs["x"] >= rows["x"] + rows["width"]) == beside
    assert (outputs["y"] >= rows["y"] + rows["height"]) != beside
    page.close()


@pytest.mark.parametrize("system", ["light", "dark"])
def test_a_run_in_a_notebook_has_the_theme_that_was_chosen(site: Path, browser: Any, system: str) -> None:
    chosen = {"light": "dark", "dark": "light"}[system]
    page = browser.new_page(color_scheme=system)
    page.set_default_timeout(1000 * PATIENCE)
    page.add_init_script(f"if (window === top) localStorage.setItem('theme', '{chosen}')")
    page.goto((site / "generated/notebooks/your-own-algorithm.html").as_uri())
    page.locator("iframe").scroll_into_view_if_needed()
    page.frame_locator("iframe").locator(f"html[data-ready][data-theme={chosen}]").wait_for()
    page.close()


def test_what_a_keyboard_chooses_is_seen(site: Path, browser: Any) -> None:
    """Also on a narrow screen, where search and contents stand outside of it until they are asked for."""
    page = browser.new_page(viewport={"width": PHONE, "height": 800}, reduced_motion="reduce")
    page.set_default_timeout(1000 * PATIENCE)
    page.goto((site / "guides" / "proof.html").as_uri())
    page.keyboard.press("Tab")
    inside = "(x) => 0 <= x.getBoundingClientRect().left && x.getBoundingClientRect().right <= innerWidth"
    parts = [page.locator(name).last for name in (".sidebar-search", ".sidebar-tree .toctree-l1 > a", ".toc-tree a")]
    assert not any(part.evaluate(inside) for part in parts)
    for part in parts:
        part.focus()
        page.wait_for_function(inside, arg=part.element_handle())
    page.locator(".sidebar-search").focus()
    assert page.evaluate("getComputedStyle(document.activeElement).outlineStyle") == "solid"
    page.close()


def test_pages_of_verbs_say_what_stands_for_file_and_name(site: Path) -> None:
    page = (site / "generated" / "verbs" / "run.html").read_text()
    assert "FILE: rule text (.bw), SBN (.sbn), SUBLEQ (.sq, .dec)." in page
    assert "writes the files below examples/." in page
    for path in (site / "generated" / "verbs").glob("*.html"):
        assert "`" not in re.sub(r"<pre.*?</pre>|<script.*?</script>", "", path.read_text(), flags=re.DOTALL), path.stem


def test_light_and_dark(site: Path, browser: Any) -> None:
    colours = set()
    for scheme in ("light", "dark"):
        page = browser.new_page(color_scheme=scheme)
        page.goto((site / "index.html").as_uri())
        colours.add(page.evaluate("getComputedStyle(document.body).backgroundColor"))
        page.close()
    assert len(colours) == 2


@pytest.mark.parametrize(("words", "expected"), [("calibrated", "theory.html"), ("ProofError", "ProofError.html")])
def test_it_can_be_searched_from_a_file(site: Path, browser: Any, words: str, expected: str) -> None:
    page = browser.new_page()
    page.set_default_timeout(1000 * PATIENCE)
    page.goto(f"{(site / 'search.html').as_uri()}?q={words}")
    page.wait_for_selector(f"ul.search a[href*='{expected}']", state="attached")
    page.close()
