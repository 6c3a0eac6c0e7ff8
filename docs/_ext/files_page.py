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
    "sceptic": "A checker of our files that uses none of our code.",
}


def anchor(folder: str) -> str:
    return folder.replace("/", "-")


def pages(root: Path) -> Iterator[tuple[str, str]]:
    parts = ["# Files", "Logs, examples and scripts that pages link to, as they are in the repository."]
    for folder, title in FOLDERS.items():
        files = sorted(path for path in (root / folder).glob("[!.]*") if path.is_file())
        links = [f"- {{download}}`{path.name} <../../{folder}/{path.name}>`{_about(path)}" for path in files]
        parts += [f"({anchor(folder)})=\n## {folder}", title, "\n".join(links)]
    yield "files.md", "\n\n".join(parts) + "\n"


def _about(path: Path) -> str:
    """The first line of an example's comment, as plain text of a page."""
    about = ExampleFile(path.name, path).about if path.suffix in (".bw", ".sbn", ".sq", ".py") else ""
    return about and ": " + re.sub(r"([*_<>$`\[\]])", r"\\\1", about)
