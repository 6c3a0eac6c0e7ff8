"""Links the first use of each word of the glossary on a page to its entry, whose first sentence it shows on hovering.

Words have other meanings too (the cell of a table, a limit of time), so only the forms below are linked, and better too
few than wrong ones. An entry of several words needs no line here: it is linked where it stands as it is written there.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import groupby
from typing import Any

from docutils import nodes
from glossary_forms import FORMS, NOT_ON
from sphinx import addnodes

GLOSSARY = "glossary"
# What is not running text, and what is a link already.
_CLOSED = (
    *(nodes.title, nodes.literal, nodes.literal_block, nodes.doctest_block, nodes.raw, nodes.strong, nodes.table),
    *(nodes.reference, nodes.term, nodes.math, nodes.figure, nodes.field_name, addnodes.pending_xref),
    *(addnodes.download_reference, addnodes.desc_signature, addnodes.compact_paragraph, addnodes.glossary),
)
# Pages about the project, and tables of data.
_LEFT_ALONE = (GLOSSARY, "project/", "generated/figures", "generated/files", "generated/schemas")


@dataclass(frozen=True)
class Word:
    """An entry of the glossary: where it is, what it says first, and the forms of it that are linked."""

    name: str
    anchor: str
    said: str
    form: re.Pattern[str]


def words_of(glossary: nodes.document) -> Iterator[Word]:
    for item in glossary.findall(nodes.definition_list_item):
        said = next(iter(item.findall(nodes.paragraph)), nodes.paragraph()).astext()
        for term in item.findall(nodes.term):
            name = term.astext()
            form = FORMS.get(name, re.escape(name) if " " in name else "")
            if form and term["ids"]:
                yield Word(name, term["ids"][0], first_sentence(said), pattern(form))


def pattern(form: str) -> re.Pattern[str]:
    """Where a form stands as words of their own, also over the end of a line and at the beginning of a sentence."""
    spaced = re.sub(r"(?:\\)? ", r"\\s", form)
    return re.compile(rf"(?<![\w-])(?:{spaced})(?![\w-])", re.IGNORECASE if form.islower() else 0)


def first_sentence(text: str) -> str:
    text = " ".join(text.split())
    return re.split(r"(?<=[.!?]) (?=[A-Z])", text, maxsplit=1)[0]


def link(tree: nodes.document, page: str, words: list[Word], address: str) -> None:
    """Puts the links into a page; `address` is that of the glossary, from there."""
    linked = {node["refuri"].partition("#")[2] for node in tree.findall(nodes.reference) if "refuri" in node}
    words = [word for word in words if not page.startswith(NOT_ON.get(word.name, ()))]

    def walk(node: nodes.Element, runs: bool) -> None:
        """Links in the text of a node, which is running text inside a paragraph, and in the nodes inside it."""
        children: list[nodes.Node] = []
        for is_text, group in groupby(node.children, lambda child: isinstance(child, nodes.Text)):
            if is_text and runs:  # a text of several lines is several nodes
                children += _parts("".join(child.astext() for child in group), words, linked, address)
                continue
            for child in group:
                children.append(child)
                if isinstance(child, nodes.Element) and not isinstance(child, _CLOSED):
                    walk(child, runs or type(child) is nodes.paragraph)
        if runs:
            node.children = []
            node.extend(children)

    walk(tree, False)


def _parts(text: str, words: list[Word], linked: set[str], address: str) -> Iterator[nodes.Node]:
    """The text in pieces, with links, which are noted in `linked`.

    The longest of several forms is meant, also where it is linked already: no state is linked inside a local state.
    """
    done = begin = 0
    while found := [(match, word) for word in words if (match := _next(word, text, begin))]:
        match, word = min(found, key=lambda one: (one[0].start(), -one[0].end()))
        begin = match.end()
        if word.anchor in linked:
            continue
        linked.add(word.anchor)
        yield nodes.Text(text[done : match.start()])
        yield nodes.reference(
            "",
            match[0],
            internal=True,
            refuri=f"{address}#{word.anchor}",
            reftitle=f"{word.name}: {word.said}",
            classes=["first-use"],
        )
        done = begin
    yield nodes.Text(text[done:])


def _next(word: Word, text: str, begin: int) -> re.Match[str] | None:
    """Where a form of the word comes next: in small letters, or with a capital at the beginning of a sentence."""
    for match in word.form.finditer(text, begin):
        starts = match[0][1:].islower() and re.search(r"(?:^|[.!?:]\s)$", text[: match.start()])
        if word.form.flags & re.IGNORECASE == 0 or match[0].islower() or starts:
            return match
    return None


def read(_: Any, env: Any) -> list[str]:
    """Reads the glossary once all pages are read; where it has changed, all pages are to be written again."""
    words = list(words_of(env.get_doctree(GLOSSARY))) if GLOSSARY in env.found_docs else []
    before, env.first_use_words = getattr(env, "first_use_words", None), words
    return [] if before == words else sorted(env.found_docs)


def resolve(app: Any, tree: nodes.document, page: str) -> None:
    if app.builder.format == "html" and not page.startswith(_LEFT_ALONE):
        link(tree, page, app.env.first_use_words, app.builder.get_relative_uri(page, GLOSSARY))


def setup(app: Any) -> dict[str, bool]:
    app.connect("env-updated", read)
    app.connect("doctree-resolved", resolve)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
