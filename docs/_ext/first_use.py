"""Links the first use of each word of the glossary on a page to its entry, whose first sentence it shows on hovering.

Words have other meanings too (the cell of a table, a limit of time), so only the forms of glossary_forms.py are linked:
better too few than wrong ones.
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
    """An entry of the glossary: its anchor, its first sentence, and the forms of it that are linked."""

    name: str
    anchor: str
    sentence: str
    form: str


def words_of(glossary: nodes.document) -> list[Word]:
    """The entries that have forms, longest names first: no state is linked inside a local state."""
    words = []
    for item in glossary.findall(nodes.definition_list_item):
        text = " ".join(next(iter(item.findall(nodes.paragraph)), nodes.paragraph()).astext().split())
        for term in item.findall(nodes.term):
            name = term.astext()
            if form := FORMS.get(name, f"{re.escape(name)}s?" if " " in name else ""):
                sentence = re.split(r"(?<=[.!?]) (?=[A-Z])", text, maxsplit=1)[0]
                form = re.sub(r"(?:\\)? ", r"\\s", form)
                words.append(Word(name, term["ids"][0], sentence, f"(?i:{form})" if form.islower() else form))
    return sorted(words, key=lambda word: -len(word.name))


def link(tree: nodes.document, page: str, words: list[Word], address: str) -> None:
    """Puts the links into a page; `address` is that of the glossary, from there."""
    linked = {node["refuri"].partition("#")[2] for node in tree.findall(nodes.reference) if "refuri" in node}
    words = [word for word in words if not page.startswith(tuple(NOT_ON.get(word.name, "-").split()))]
    forms = [rf"(?<![\w-])(?P<w{i}>{word.form})(?![\w-])" for i, word in enumerate(words)]
    pattern = re.compile("|".join([*forms, "(?!)"]))  # which matches nothing

    def parts(text: str) -> Iterator[nodes.Node]:
        """The text in pieces, with links; a form in small letters also has a capital at the beginning of a sentence."""
        done = 0
        for match in pattern.finditer(text):
            word = words[int(str(match.lastgroup)[1:])]
            starts = match[0][1:].islower() and re.search(r"(?:^|[.!?:]\s)$", text[: match.start()])
            if word.anchor not in linked and ("(?i:" not in word.form or match[0].islower() or starts):
                linked.add(word.anchor)
                place, title = f"{address}#{word.anchor}", f"{word.name}: {word.sentence}"
                yield nodes.Text(text[done : match.start()])
                yield nodes.reference("", match[0], internal=True, refuri=place, reftitle=title, classes=["first-use"])
                done = match.end()
        yield nodes.Text(text[done:])

    def walk(node: nodes.Element, runs: bool) -> None:
        """Links in the text of a node, which is running text inside a paragraph, and in the nodes inside it."""
        children: list[nodes.Node] = []
        for is_text, group in groupby(node.children, lambda child: isinstance(child, nodes.Text)):
            if is_text and runs:  # a text of several lines is several nodes
                children += parts("".join(child.astext() for child in group))
                continue
            for child in group:
                children.append(child)
                if isinstance(child, nodes.Element) and not isinstance(child, _CLOSED):
                    walk(child, runs or type(child) is nodes.paragraph)
        if runs:
            node.children = []
            node.extend(children)

    walk(tree, False)


def read(_: Any, env: Any) -> list[str]:
    """Reads the glossary once all pages are read; where it has changed, all pages are to be written again."""
    words = words_of(env.get_doctree(GLOSSARY)) if GLOSSARY in env.found_docs else []
    before, env.glossary_words = getattr(env, "glossary_words", None), words
    return [] if before == words else sorted(env.found_docs)


def resolve(app: Any, tree: nodes.document, page: str) -> None:
    if app.builder.format == "html" and not page.startswith(_LEFT_ALONE):
        link(tree, page, app.env.glossary_words, app.builder.get_relative_uri(page, GLOSSARY))


def setup(app: Any) -> dict[str, bool]:
    app.connect("env-updated", read)
    app.connect("doctree-resolved", resolve)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
