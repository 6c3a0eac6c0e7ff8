"""First uses of the glossary's words: what is linked on a page, what is not, and that the table of forms is of them."""

import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from cases import for_each

pytest.importorskip("sphinx")
from docutils import nodes

DOCS = Path(__file__).parents[2] / "docs"
ENTRIES = {
    re.sub(r"\s+", " ", name)
    for name in re.findall(
        r"^(\S.*)\n  \S",
        (DOCS / "glossary.md").read_text().partition("```{glossary}\n")[2].partition("\n```")[0],
        re.MULTILINE,
    )
}


@pytest.fixture(scope="module")
def first_use() -> Iterator[Any]:
    sys.path.insert(0, str(DOCS / "_ext"))
    import first_use

    yield first_use
    sys.path.remove(str(DOCS / "_ext"))


def glossary(**entries: str) -> nodes.document:
    tree = nodes.document(None, None)
    items = nodes.definition_list()
    for name, said in entries.items():
        name = name.replace("_", " ")
        term = nodes.term("", name, ids=[f"term-{name.replace(' ', '-')}"])
        items += nodes.definition_list_item("", term, nodes.definition("", nodes.paragraph("", said)))
    return _with(tree, items)


def _with(tree: nodes.document, *parts: nodes.Node) -> nodes.document:
    tree.extend(parts)
    return tree


def linked(first_use: Any, page: str, *parts: nodes.Node, **entries: str) -> list[tuple[str, str]]:
    """The links that come into a page of these parts, and the entries that they lead to."""
    tree = _with(nodes.document(None, None), *parts)
    words = first_use.words_of(glossary(**entries))
    first_use.link(tree, page, words, "glossary.html")
    links = [node for node in tree.findall(nodes.reference) if "first-use" in node["classes"]]
    return [(node.astext(), node["refuri"].partition("#term-")[2]) for node in links]


def text(*lines: str) -> nodes.paragraph:
    """A paragraph as MyST makes it: a node for each line, and for each line's end."""
    found = nodes.paragraph()
    for number, line in enumerate(lines):
        found.extend([nodes.Text("\n")] * (number > 0) + [nodes.Text(line)])
    return found


def test_every_form_is_of_an_entry(first_use: Any) -> None:
    assert set(first_use.FORMS) <= ENTRIES
    assert set(first_use.NOT_ON) <= set(first_use.FORMS)
    pages = [path.relative_to(DOCS).with_suffix("").as_posix() for path in DOCS.rglob("*.md")]
    for name in {name for names in first_use.NOT_ON.values() for name in names.split()}:
        assert name in pages or name.startswith("generated/"), name


def test_the_first_use_and_no_other(first_use: Any) -> None:
    parts = (text("A cell, then cells."), text("One more cell."))
    assert linked(first_use, "page", *parts, cell="A group.") == [("cell", "cell")]


def test_words_over_the_end_of_a_line_and_the_longest_of_several(first_use: Any) -> None:
    entries = {"local_state": "One.", "state": "Two."}
    assert linked(first_use, "page", text("all local", "states, any state"), **entries) == [
        ("local\nstates", "local-state"),
        ("state", "state"),
    ]
    assert linked(first_use, "page", text("a local state, a local state"), **entries) == [
        ("local state", "local-state")
    ]


@for_each(
    ("said", "name"),
    [
        ("a limit of time", "limit"),
        ("kinds of graphs", "kind"),
        ("a cell of the table", "cell"),
        ("a block of code", "block"),
        ("a rule file", "rule"),
        ("Neural GPUs Learn Algorithms", "algorithm"),
        ("multi-state", "state"),
        ("they run", "run"),
    ],
)
def test_other_meanings_are_not_linked(first_use: Any, said: str, name: str) -> None:
    assert linked(first_use, "page", text(said), **{name: "Something."}) == []
    assert linked(first_use, "page", text(*said.split(" ")), **{name: "Something."}) == []


@for_each(
    ("said", "name", "form"),
    [
        ("proved of the limit, and", "limit", "limit"),
        ("its kinds of cells", "kind", "kinds of cells"),
        ("Blocks divide it", "block", "Blocks"),
        ("So it is. Blocks divide it", "block", "Blocks"),
        ("33 examples", "example", "examples"),
        ("new words here", "new_words", "new words"),
    ],
)
def test_what_is_linked(first_use: Any, said: str, name: str, form: str) -> None:
    assert linked(first_use, "page", text(said), **{name: "Something."}) == [(form, name.replace("_", "-"))]


def test_code_headings_links_tables_and_names_in_bold_stay_as_they_are(first_use: Any) -> None:
    closed = [nodes.literal, nodes.strong, nodes.reference]
    inline = text("see ")
    inline.extend(kind("", "a cell") for kind in closed)
    row = nodes.table("", nodes.tgroup("", nodes.tbody("", nodes.row("", nodes.entry("", text("a cell"))))))
    parts = (nodes.title("", "a cell"), nodes.literal_block("", "a cell"), inline, row)
    assert linked(first_use, "page", *parts, cell="A group.") == []
    assert linked(first_use, "page", nodes.paragraph("", "", nodes.emphasis("", "a cell")), cell="A.") == [
        ("cell", "cell")
    ]


def test_pages_of_another_meaning_and_links_that_are_there(first_use: Any) -> None:
    assert linked(first_use, "guides/infer", text("a cell"), cell="A group.") == []
    own = nodes.paragraph("", "", nodes.reference("", "cells", refuri="glossary.html#term-cell"))
    assert linked(first_use, "page", own, text("a cell"), cell="A group.") == []


def test_the_title_is_the_first_sentence(first_use: Any) -> None:
    words = first_use.words_of(glossary(cell="A group of\nblocks, i.e. such. It has ports.", margin="How far"))
    assert {word.name: word.sentence for word in words} == {
        "cell": "A group of blocks, i.e. such.",
        "margin": "How far",
    }
