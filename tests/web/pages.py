"""What tests of the page do in a browser."""

from collections.abc import Callable
from typing import Any

Visit = Callable[..., Any]


def choose(page: Any, kind: str, **inputs: str) -> None:
    page.check(f"input[name=kind][value={kind}]")
    for name, value in inputs.items():
        page.fill(f"#inputs input[name={name}]", value)


def press_run(page: Any) -> None:
    page.click("#run")
    page.wait_for_selector("html[data-busy='']")


def text_of(page: Any) -> str:
    """What stands in the editor, also where it is scrolled away."""
    return str(page.evaluate("import('./assets/editor.js').then((editor) => editor.read())"))
