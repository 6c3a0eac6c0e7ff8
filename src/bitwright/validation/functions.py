"""Oracles of the user's: a Python function of one input, or of whole arrays."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from hashlib import sha256
from importlib import import_module, invalidate_caches
from importlib.machinery import ModuleSpec, PathFinder, SourceFileLoader
from importlib.util import find_spec, module_from_spec
from pathlib import Path
from threading import Lock
from types import ModuleType
from typing import Any, Self

from bitwright.bits import shorten
from bitwright.errors import InputError, suggestion
from bitwright.validation.asking import answer_about_arrays, answer_about_one, said
from bitwright.validation.oracles import Values


@dataclass(frozen=True)
class Function:
    """A Python function of the user's, `module:function`; it takes the inputs by name.

    It gives a dictionary of outputs, or the number itself where there is one output; None where a run never ends.
    """

    where: str
    folder: str  # where to look for the module first
    outputs: tuple[str, ...]
    digest: str | None = None  # of the file that it is in, once that is read
    text: bytes | None = field(default=None, repr=False)  # of that file: it travels to machines that do not have it
    arrays = False

    @property
    def name(self) -> str:
        return self.where

    def read(self) -> Self:
        """The function as its file is now: what a validation uses from its beginning to its end."""
        module, _ = self._names()
        source, _ = _source(module, self.folder)
        found = replace(self, digest=None if source is None else sha256(source).hexdigest(), text=source)
        found.load()
        return found

    def load(self) -> Callable[..., Any]:
        """The function, or an InputError that says what is missing."""
        module, name = self._names()
        loaded = _module(module, self.folder, self.digest, self.text)
        function = getattr(loaded, name, None)
        if not callable(function):
            known = [word for word in vars(loaded) if callable(getattr(loaded, word)) and not word.startswith("_")]
            raise InputError(f"module {module} has no function '{shorten(name)}'{suggestion(name, known)}")
        return function  # type: ignore[no-any-return]

    def __call__(self, values: Values) -> Mapping[str, Any] | None:
        return answer_about_one(self.load(), self.where, self.outputs, values)

    def _names(self) -> tuple[str, str]:
        module, colon, name = self.where.partition(":")
        if not (module and colon and name):
            given = shorten(self.where)
            raise InputError(f"an oracle is named as module:function, such as checks:expected, got '{given}'")
        if module.endswith(".py") or "/" in module:
            path = Path(module.removesuffix(".py"))
            inside = not path.is_absolute() and ".." not in path.parts
            plain = ".".join(path.parts) if inside else path.name
            there = "" if inside else f", from the folder {shorten(str(path.parent))}"
            wanted = f"{shorten(plain)}:{shorten(name)}{there}"
            raise InputError(f"an oracle is named by its module, not by a file; write {wanted}")
        return module, name


@dataclass(frozen=True)
class ArrayFunction(Function):
    """The same for a function of NumPy arrays, one for each input word: int64, or Python's integers if `wide`.

    It gives a dictionary of arrays, or the array itself where there is one output. It cannot say that runs never end.
    """

    wide: bool = False
    arrays = True

    def __call__(self, values: Values) -> Mapping[str, Any]:
        """The outputs of arrays, or of one input that is given by its numbers."""
        return answer_about_arrays(self.load(), self.where, self.outputs, values, self.wide)


_lock = Lock()
_read: dict[tuple[str, str, str | None], ModuleType] = {}  # modules by the digest of the text that they are made of


def _module(name: str, folder: str, digest: str | None, text: bytes | None) -> ModuleType:
    """A module made of this very text, which has this digest; without one, of what its file holds now."""
    with _lock:
        if digest is not None and (name, folder, digest) in _read:
            return _read[name, folder, digest]
        try:
            source, spec = _source(name, folder)
        except InputError:
            if text is None:
                raise
            source = spec = None
        found = None if source is None else sha256(source).hexdigest()
        if digest not in (None, found):  # the file is another one by now, or not on this machine
            source, spec, found = text, ModuleSpec(name, None, origin=f"<the oracle's module {name}>"), digest
        if (name, folder, found) not in _read:
            _read[name, folder, found] = _make(name, source, spec)
        return _read[name, folder, found]


def _source(name: str, folder: str) -> tuple[bytes | None, ModuleSpec | None]:
    """The text of a module and where it is; None for what is no single file of Python."""
    if folder not in sys.path:
        sys.path.insert(0, folder)
    try:
        invalidate_caches()
        spec = None if "." in name else PathFinder.find_spec(name, [folder, *sys.path])
        spec = spec or find_spec(name)
        if spec is None:
            raise ModuleNotFoundError(f"No module named '{name}'")
        package = spec.submodule_search_locations is not None
        if package or spec.origin is None or not isinstance(spec.loader, SourceFileLoader):
            return None, None
        return Path(spec.origin).read_bytes(), spec
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # finding a module in a package imports that
        raise _cannot_import(name, error) from None


def _make(name: str, source: bytes | None, spec: ModuleSpec | None) -> ModuleType:
    """The module of this text, or the one of its name that somebody else has imported before."""
    before = sys.modules.get(name)
    ours = before is None or any(before is module for module in _read.values())
    try:
        if source is None or spec is None or spec.origin is None or not ours:
            return import_module(name)
        module = sys.modules[name] = module_from_spec(spec)
        exec(compile(source, spec.origin, "exec", dont_inherit=True), vars(module))
        return module
    except BaseException as error:  # whatever a module of the user's does when it is imported
        if ours:
            sys.modules.pop(name, None)
        if isinstance(error, KeyboardInterrupt):
            raise
        raise _cannot_import(name, error) from None


def _cannot_import(name: str, error: BaseException) -> InputError:
    return InputError(f"cannot import the oracle's module '{shorten(name)}': {said(error)}")
