"""Links that work in the repository work on the site: to notebooks, to pages outside docs/, and to folders.

A folder is a part of one page, with every file in it to download, and what an example is about.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from docutils import nodes
from sphinx import addnodes

from bitwright.verbs.examples import ExampleFile

# Pages of the repository that are shown on the site, and where.
PAGES = {
    "CHANGELOG.md": "project/changelog",
    "CONTRIBUTING.md": "project/contributing",
    "SECURITY.md": "project/contributing",
    "CODE_OF_CONDUCT.md": "project/contributing",
    "sceptic/README.md": "project/sceptic",
    "README.md": "index",
    "docs/figures": "explanation/results",
    "docs/reference/schemas": "generated/schemas",
}
# What is in a folder of the repository.
FOLDERS = {
    "docs/runs": "Logs of runs that took long or needed a GPU, as the commands wrote them.",
    "examples": "Programs in rule text, and notebooks.",
    "examples/clrs": "Programs for tasks of CLRS-30.",
    "examples/exact_gnn": "Programs of exact_gnn.",
    "examples/graphs": "Node programs.",
    "examples/sbn": "Programs for SBN, in assembly.",
    "examples/subleq": "Programs for SUBLEQ, in assembly.",
    "proofs": "Theorems in Rocq about trained networks.",
    "sceptic": "A checker of our files that uses none of our code.",
}


def pages(root: Path) -> Iterator[tuple[str, str]]:
    parts = ["# Files", "Logs, examples and scripts that pages link to, as they are in the repository."]
    for folder, title in FOLDERS.items():
        files = sorted(path for path in (root / folder).glob("[!.]*") if path.is_file())
        links = [f"- {{download}}`{path.name} <../../{folder}/{path.name}>`{_about(path)}" for path in files]
        parts += [f"({folder.replace('/', '-')})=\n## {folder}", title, "\n".join(links)]
    yield "files.md", "\n\n".join(parts) + "\n"


def _about(path: Path) -> str:
    """The first line of an example's comment, as plain text of a page."""
    about = ExampleFile(path.name, path).about if path.suffix in (".bw", ".sbn", ".sq", ".py") else ""
    return about and ": " + re.sub(r"([*_<>$`\[\]])", r"\\\1", about)


def lead(app: Any, tree: nodes.document) -> None:
    """Gives each link to something outside the pages of the site the page that shows it, or leaves its text alone."""
    for node in list(tree.findall(lambda node: isinstance(node, addnodes.pending_xref | addnodes.download_reference))):
        if node.get("reftype") == "myst" and (found := _find(app, node)):
            page, part = found
            target = {"refdomain": "doc", "reftarget": page, "reftargetid": part, "refdoc": node["refdoc"]}
            link = addnodes.pending_xref("", *node.children, **target, reftype="myst", refexplicit=True)
            node.replace_self(link)
        elif isinstance(node, addnodes.pending_xref) and (Path(app.srcdir).parent / str(node["reftarget"])).exists():
            node.replace_self(node.children)  # in the repository alone


def _find(app: Any, node: nodes.Element) -> tuple[str, str | None] | None:
    """The page that shows the target of a link, and the part of it."""
    root = Path(app.srcdir).parent
    target, _, part = str(node["reftarget"]).partition("#")
    if not target or (node.get("refdomain") == "doc" and target in app.env.found_docs):
        return None
    if node.get("refdomain") == "doc":
        path = Path(app.srcdir, f"{target}.md").resolve()
        part = node.get("reftargetid") or ""
    else:
        path = Path(app.env.relfn2path(target, node["refdoc"])[1]).resolve()
        if not path.exists():  # of a page that is included from the root of the repository
            path = (root / target).resolve()
    name = path.relative_to(root).as_posix() if path.is_relative_to(root) else ""
    folder = name.removesuffix("/README.md")
    if name in PAGES:
        return PAGES[name], part or None
    if folder in FOLDERS:
        return "generated/files", folder.replace("/", "-")
    return (f"generated/notebooks/{path.stem}", None) if name and path.suffix == ".ipynb" else None


def setup(app: Any) -> dict[str, bool]:
    app.connect("doctree-read", lead)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
