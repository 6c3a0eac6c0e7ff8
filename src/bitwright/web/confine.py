"""Confines the process of a run: little memory, no changes to files, no reading except modules.

The kernel enforces all of it. docs/reference/pages.md says which system enforces what.
"""

from __future__ import annotations

import ctypes
import os
import struct
import sys
from contextlib import suppress
from importlib import import_module
from pathlib import Path
from sysconfig import get_path
from typing import Any

# System calls, and rights by the version of Landlock that brought them: see landlock(7).
_CREATE, _ADD, _RESTRICT, _NO_NEW_PRIVILEGES = 444, 445, 446, 38
_FILE_RIGHTS = (0, 13, 14, 15, 15, 16)  # how many there are: from executing to using devices
_READ = 0b1100  # the rights to read a file and to list a folder
_TCP, _SCOPES = 0b11, 0b11  # to bind and to connect; abstract sockets and signals of other processes


def confine(memory: int) -> None:
    """Removes rights from this process for good. Call it in the only thread, after all imports."""
    with suppress(ImportError):
        resource: Any = import_module("resource")
        for limit, value in ((resource.RLIMIT_AS, memory), (resource.RLIMIT_FSIZE, 0), (resource.RLIMIT_CORE, 0)):
            with suppress(ValueError, OSError):  # an operator's limit is already lower
                resource.setrlimit(limit, (value, value))
    if version := landlock():
        _lock(version, _module_folders())


def landlock() -> int:
    """The version of Landlock that this kernel has; 0 if it has none."""
    if sys.platform != "linux":
        return 0
    with suppress(OSError):
        return _call("syscall", _CREATE, None, 0, 1)
    return 0


def _lock(version: int, folders: tuple[str, ...]) -> None:
    """Denies every right that this version knows, except reading in these folders."""
    files = (1 << _FILE_RIGHTS[min(version, len(_FILE_RIGHTS) - 1)]) - 1
    rights = struct.pack("QQQ", files, _TCP, _SCOPES)[: 8 if version < 4 else 16 if version < 6 else 24]
    rules = _call("syscall", _CREATE, rights, len(rights), 0)
    for folder in folders:
        opened = os.open(folder, os.O_PATH)
        _call("syscall", _ADD, rules, 1, struct.pack("=Qi", _READ, opened), 0)
        os.close(opened)
    _call("prctl", _NO_NEW_PRIVILEGES, 1, 0, 0, 0)
    _call("syscall", _RESTRICT, rules, 0)
    os.close(rules)


def _call(name: str, *arguments: int | bytes | None) -> int:
    """A function of the C library; raises the OSError that it reports."""
    given = (ctypes.c_long(one) if isinstance(one, int) else one for one in arguments)
    result: int = getattr(ctypes.CDLL(None, use_errno=True), name)(*given)
    if result < 0:
        raise OSError(ctypes.get_errno(), f"{name}: {os.strerror(ctypes.get_errno())}")
    return result


def _module_folders() -> tuple[str, ...]:
    """Python's own library, and the folders that the modules loaded so far came from."""
    files = (getattr(module, "__file__", None) for module in list(sys.modules.values()))
    folders = {Path(file).parent for file in files if file} | {Path(get_path("stdlib")), Path(get_path("platstdlib"))}
    return tuple(sorted({os.path.realpath(folder) for folder in folders if folder.is_dir()}))
