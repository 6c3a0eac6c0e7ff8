"""What a module of the user's is made of: its own text, and that of every module that it imports, found unexecuted."""

from __future__ import annotations

import ast
import sys
import sysconfig
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from hashlib import sha256
from importlib import metadata
from importlib.machinery import ModuleSpec, PathFinder, SourceFileLoader
from pathlib import Path
from platform import python_version
from types import CodeType, ModuleType

from bitwright.version import __version__

# What imports or executes text that no import line names.
_HIDDEN = {"__import__", "import_module", "reload", "exec", "eval", "run_path", "run_module", "spec_from_file_location"}
_INSTALLED = {"site-packages", "dist-packages"}


@dataclass(frozen=True)
class Sources:
    """The modules by name, each with the sha256 of its file; Python and installed packages, with their versions."""

    modules: tuple[tuple[str, str], ...] = ()
    packages: tuple[tuple[str, str], ...] = ()
    hidden: str | None = None  # what may load text that is not among these

    @property
    def digest(self) -> str:
        """One sha256 for all of them."""
        return sha256(repr((self.modules, self.packages)).encode()).hexdigest()


def sources_of(name: str, text: bytes | None) -> Sources:
    """The sources of a module; with a `text`, that text is its own."""
    found: dict[str, str] = {}
    packages = {"python": python_version()}
    hidden: list[str] = []
    waiting = [name]
    if text is not None:
        found[name] = sha256(text).hexdigest()
        waiting = _imports(name, text, name, hidden)
    while waiting:
        for spec in _specs(waiting.pop()):
            top = spec.name.partition(".")[0]
            if spec.name in found or top in packages:
                continue
            place = Path(spec.origin) if spec.origin is not None and spec.has_location else None
            if place is None or _ships_with_python(place):
                continue
            if (version := _version(top, place)) is not None:
                packages[top] = version
                continue
            content = place.read_bytes()
            found[spec.name] = sha256(content).hexdigest()
            if place.suffix == ".py":
                package = spec.name if spec.submodule_search_locations is not None else spec.parent or ""
                waiting += _imports(package, content, spec.name, hidden)
    return Sources(tuple(sorted(found.items())), tuple(sorted(packages.items())), next(iter(hidden), None))


_exact: dict[str, str] = {}  # modules that oracles import, with the sha256 that their files must have


def import_exactly(modules: Iterable[tuple[str, str]]) -> None:
    """Lets imports of these modules give the texts with these digests, or fail; those with other texts are dropped."""
    wanted = dict(modules)
    if any(_exact.get(name, digest) != digest for name, digest in wanted.items()):
        for name in wanted.keys() & _exact.keys():
            sys.modules.pop(name, None)
    _exact.update(wanted)
    if _ExactFinder not in sys.meta_path:
        sys.meta_path.insert(0, _ExactFinder)


class _ExactFinder:
    """Finds the modules that oracles import; `reload`, which gives a target, is a wish for another text."""

    @staticmethod
    def find_spec(name: str, path: Sequence[str] | None, target: ModuleType | None = None) -> ModuleSpec | None:
        spec = PathFinder.find_spec(name, path) if name in _exact and target is None else None
        if spec is not None and spec.origin is not None and type(spec.loader) is SourceFileLoader:
            spec.loader = _ExactLoader(name, spec.origin)
        return spec


class _ExactLoader(SourceFileLoader):
    """Reads the text itself: Python's cache does not notice a text of the same length in the same second."""

    def get_code(self, fullname: str) -> CodeType:
        content = self.get_data(self.path)
        if sha256(content).hexdigest() != _exact[fullname]:
            raise ImportError(f"{self.path} has changed since the oracle was read, or is another on this machine")
        return compile(content, self.path, "exec", dont_inherit=True)


def _imports(package: str, text: bytes, name: str, hidden: list[str]) -> list[str]:
    """The names that a module may import, inside of functions too; a text that is no Python has none."""
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError):
        return []
    names = []
    for node in ast.walk(tree):
        words = [getattr(node, "id", None), getattr(node, "attr", None)]  # of a name, and of an attribute
        words += [alias.name for alias in node.names] if isinstance(node, ast.ImportFrom) else []
        hidden += [f"{name} uses '{word}'" for word in words if word in _HIDDEN]
        if isinstance(node, ast.Import):
            names += [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            above = package.split(".")[: len(package.split(".")) + 1 - node.level] if node.level else []
            base = ".".join([*above, *([node.module] if node.module else [])])
            names += [base, *(f"{base}.{alias.name}" for alias in node.names if alias.name != "*")]
    return names


def _specs(name: str) -> Iterator[ModuleSpec]:
    """Where a module and the packages around it are, as far as there are such modules."""
    path = None
    parts = name.split(".")
    for end in range(1, len(parts) + 1):
        whole = ".".join(parts[:end])
        finders = (one for one in sys.meta_path if hasattr(one, "find_spec"))
        spec = next((spec for one in finders if (spec := one.find_spec(whole, path)) is not None), None)
        if spec is None:
            return
        yield spec
        path = spec.submodule_search_locations
        if path is None:
            return


def _ships_with_python(place: Path) -> bool:
    inside = any(place.is_relative_to(sysconfig.get_path(kind)) for kind in ("stdlib", "platstdlib"))
    return inside and not _INSTALLED & set(place.parts)


def _version(top: str, place: Path) -> str | None:
    """The version of an installed package; None for a file without one."""
    if top == "bitwright":
        return __version__
    if not _INSTALLED & set(place.parts):
        return None
    versions = [f"{one} {metadata.version(one)}" for one in sorted(set(_distributions().get(top, ())))]
    return ", ".join(versions) or None


@cache
def _distributions() -> dict[str, list[str]]:
    return {name: list(ones) for name, ones in metadata.packages_distributions().items()}
