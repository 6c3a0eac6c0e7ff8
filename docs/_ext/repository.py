"""Links that work in the repository work on the site: to folders, to notebooks, and to pages outside docs/."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from docutils import nodes
from files_page import FOLDERS, anchor
from sphinx import addnodes

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


def lead(app: Any, tree: nodes.document) -> None:
    """Gives each link to something outside the pages of the site the page that shows it."""
    for node in list(tree.findall(lambda node: isinstance(node, addnodes.pending_xref | addnodes.download_reference))):
        if node.get("reftype") == "myst" and (found := _find(app, node)):
            page, part = found
            target = {"refdomain": "doc", "reftarget": page, "reftargetid": part, "refdoc": node["refdoc"]}
            link = addnodes.pending_xref("", *node.children, **target, reftype="myst", refexplicit=True)
            node.replace_self(link)


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
        return "generated/files", anchor(folder)
    return (f"generated/notebooks/{path.stem}", None) if name and path.suffix == ".ipynb" else None


def setup(app: Any) -> dict[str, bool]:
    app.connect("doctree-read", lead)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
