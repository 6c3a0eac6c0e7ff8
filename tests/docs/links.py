"""Which links of a folder of pages, or of Markdown files of the repository, lead nowhere."""

import re
from collections.abc import Iterator
from functools import cache
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit


class _Page(HTMLParser):
    """The anchors of a page, its links, and what it loads."""

    def __init__(self) -> None:
        super().__init__()
        self.anchors: set[str] = set()
        self.links: list[str] = []
        self.loaded: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        about = dict(attrs)
        self.anchors |= {value for name in ("id", "name") if (value := about.get(name))}
        if tag == "a" and (link := about.get("href")):
            self.links.append(link)
        elif link := about.get("href" if tag == "link" else "src"):
            self.loaded.append(link)


@cache
def _read(path: Path) -> _Page:
    page = _Page()
    page.feed(path.read_text(encoding="utf-8"))
    return page


def broken_in_site(folder: Path) -> Iterator[str]:
    """Links to pages, anchors and files that are not there, and whatever is loaded from elsewhere."""
    for path in sorted(folder.rglob("*.html")):
        page, name = _read(path), path.relative_to(folder)
        yield from (f"{name} loads {link}" for link in page.loaded if urlsplit(link).netloc)
        for link in (*page.links, *page.loaded):
            parts = urlsplit(link)
            if parts.scheme or parts.netloc:
                continue
            target = (path.parent / unquote(parts.path)).resolve() if parts.path else path
            if not target.is_file():
                yield f"{name}: {link} is not there"
            elif parts.fragment and target.suffix == ".html" and unquote(parts.fragment) not in _read(target).anchors:
                yield f"{name}: {link} has no such anchor"


def broken_in_markdown(path: Path) -> Iterator[str]:
    """Links of a Markdown file, as a repository shows it, to files and headings that are not there."""
    text = re.sub(r"^```.*?^```", "", path.read_text(encoding="utf-8"), flags=re.DOTALL | re.MULTILINE)
    for link in re.findall(r"\]\(([^)\s]+)\)", text):
        parts = urlsplit(link)
        if parts.scheme:
            continue
        target = path.parent / unquote(parts.path) if parts.path else path
        if not target.exists():
            yield f"{path.name}: {link} is not there"
        elif parts.fragment and target.suffix == ".md" and parts.fragment not in headings(target):
            yield f"{path.name}: {link} has no such heading"


@cache
def headings(path: Path) -> frozenset[str]:
    """The anchors that a repository gives to headings."""
    text = re.sub(r"^```.*?^```", "", path.read_text(encoding="utf-8"), flags=re.DOTALL | re.MULTILINE)
    return frozenset(_slug(title) for title in re.findall(r"^#+ (.*)$", text, flags=re.MULTILINE))


def _slug(title: str) -> str:
    return re.sub(r"[^\w\- ]", "", title.strip().lower()).replace(" ", "-")
