"""The pages of docs/reference/python.md, as autosummary makes them, with what it has no setting for."""

from __future__ import annotations

import re
from importlib import import_module
from pkgutil import walk_packages
from typing import Any

from sphinx.ext.autosummary import autosummary_toc
from sphinx.util.inspect import TypeAliasForwardRef

import bitwright

PUBLIC = {id(getattr(bitwright, name)) for name in bitwright.__all__ if name != "__version__"}


def skip(_app: Any, what: str, _name: str, value: Any, *_: Any) -> bool | None:
    """Leaves names of `import bitwright`, which have pages of their own, out of the pages of modules."""
    return True if what == "module" and id(value) in PUBLIC else None


def write_signature(*given: Any) -> tuple[str | None, str | None]:
    """The signature with three dots for each default that has no text of its own, such as a function."""
    signature, returned = given[-2:]
    return signature and re.sub(r"<(factory|\w+ [^,)]*)>(?=[,)])", "...", signature), returned


def hide(_app: Any, tree: Any) -> None:
    """Keeps the pages out of the sidebar, which a hundred names would bury."""
    for contents in list(tree.findall(autosummary_toc)):
        contents.parent.remove(contents)


def setup(app: Any) -> dict[str, bool]:
    TypeAliasForwardRef.__repr__ = lambda self: self.name  # type: ignore[method-assign]  # inside another type too
    for package in (found.name for found in walk_packages(bitwright.__path__, "bitwright.") if found.ispkg):
        module = import_module(package)  # whose names are loaded when they are used, and are not seen before
        vars(module).update({name: getattr(module, name) for name in getattr(module, "__all__", ())})
    app.connect("autodoc-skip-member", skip)
    app.connect("autodoc-process-signature", write_signature)
    app.connect("doctree-read", hide, priority=100)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
