"""One page of the folders that pages link to, with every file in them to download, and what an example is about."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from bitwright.api.examples import ExampleFile

# What is in a folder of the repository; a link to it leads to its part of the page.
FOLDERS = {
    "docs/runs": "Logs of runs that took long or needed a GPU, as the commands wrote them.",
    "examples": "Programs in rule text, and notebooks.",
    "examples/clrs": "Programs for tasks of CLRS-30.",
    "examples/exact_gnn": "Programs of exact_gnn.",
    "examples/graphs": "Node programs.",
    "examples/sbn": "Programs for SBN, in assembly and in the small language.",
    "examples/subleq": "Programs for SUBLEQ, in assembly.",
    "proofs": "Theorems in Rocq about trained networks.",
    "sceptic": "What checks our files without our code.",
}


def anchor(folder: str) -> str:
    return folder.replace("/", "-")


def pages(root: Path) -> Iterator[tuple[str, str]]:
    parts = [
        "# Files",
        "What pages link to besides other pages: logs, examples and scripts, as they are in the repository.",
    ]
    for folder, what in FOLDERS.items():
        if not (root / folder).is_dir():
            continue
        files = sorted(path for path in (root / folder).iterdir() if path.is_file() and not path.name.startswith("."))
        links = [f"- {{download}}`{path.name} <../../{folder}/{path.name}>`{_about(path)}" for path in files]
        parts += [f"({anchor(folder)})=\n## {folder}", what, "\n".join(links)]
    yield "files.md", "\n\n".join(parts) + "\n"


def _about(path: Path) -> str:
    """The first line of what an example says about itself, as plain text of a page."""
    if path.suffix not in (".bw", ".sbn", ".sq", ".py"):
        return ""
    said = ExampleFile(path.name, path).about
    return ": " + re.sub(r"([*_<>$`\[\]])", r"\\\1", said) if said else ""
