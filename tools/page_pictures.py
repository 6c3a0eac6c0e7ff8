"""Takes the pictures of docs/guides/gallery.md from the pages that `make gallery` writes.

make gallery && .venv/bin/python tools/page_pictures.py gallery docs/pictures
"""

from __future__ import annotations

import shutil
import sys
from io import BytesIO
from pathlib import Path

from PIL import Image
from playwright.sync_api import Page, sync_playwright

ENDED = "() => /ended|halted/.test(document.getElementById('status').textContent)"


def prepare(name: str, page: Page) -> None:
    """Brings a page to a step that shows something."""
    if name == "life":
        page.click("#gun")
        page.focus("#graph")
        for _ in range(60):
            page.keyboard.press("]")  # a generation
    else:
        page.wait_for_function(ENDED, timeout=0)
    page.evaluate("() => { document.activeElement.blur(); scrollTo(0, 0); }")
    page.wait_for_timeout(500)


def main(pages: Path, pictures: Path) -> None:
    browser = shutil.which("chromium-headless-shell") or shutil.which("chromium")
    with sync_playwright() as playwright:
        opened = playwright.chromium.launch(executable_path=browser, args=["--no-sandbox"])
        for name in ("multiplication", "gcd", "life", "bfs"):
            page = opened.new_page(viewport={"width": 1200, "height": 960}, color_scheme="light")
            page.goto((pages / f"{name}.html").resolve().as_uri())
            prepare(name, page)
            taken = Image.open(BytesIO(page.screenshot()))
            taken.convert("RGB").quantize(128).save(pictures / f"page-{name}.png", optimize=True)
            print(name, page.text_content("#status"))
        opened.close()


if __name__ == "__main__":
    main(*map(Path, sys.argv[1:]))
