"""What a process that works for strangers may not do: use much memory, write files, read other files than modules."""

from __future__ import annotations

import os
import sys
from contextlib import suppress
from importlib import import_module
from pathlib import Path
from sysconfig import get_path
from typing import Any

_READS = ("open", "os.listdir", "os.scandir")
_NEVER = (
    *("socket.connect", "socket.bind", "socket.sendto", "socket.getaddrinfo"),
    *("subprocess.Popen", "os.system", "os.exec", "os.posix_spawn", "os.fork", "os.forkpty"),
    *("os.remove", "os.rename", "os.mkdir", "os.rmdir", "os.link", "os.symlink", "os.truncate", "os.chmod"),
)


def confine(memory: int) -> None:
    """Takes rights away from this process for good. Parsers and engines need none of them; this is the second lock.

    The operating system limits memory and forbids writing to files (not on Windows); an audit hook refuses every
    open() outside the folders that modules come from, connections and other programs. Import what you need before.
    """
    with suppress(ImportError):
        resource: Any = import_module("resource")
        for limit, value in ((resource.RLIMIT_AS, memory), (resource.RLIMIT_FSIZE, 0), (resource.RLIMIT_CORE, 0)):
            with suppress(ValueError, OSError):  # an operator's limit is already lower
                resource.setrlimit(limit, (value, value))
    folders = _module_folders()

    def refuse(event: str, arguments: tuple[Any, ...]) -> None:
        if event in _NEVER:
            raise PermissionError(f"{event} is not allowed here")
        if event in _READS and arguments and not isinstance(arguments[0], int):
            path = os.path.realpath(os.fsdecode(arguments[0] if arguments[0] is not None else "."))
            if not any(path.startswith(folder) for folder in folders):
                raise PermissionError("files cannot be opened here")

    sys.addaudithook(refuse)


def _module_folders() -> tuple[str, ...]:
    """Python's own library, and the folders that the modules loaded so far came from."""
    files = (getattr(module, "__file__", None) for module in list(sys.modules.values()))
    folders = {Path(file).parent for file in files if file} | {Path(get_path("stdlib")), Path(get_path("platstdlib"))}
    return tuple(sorted({os.path.realpath(folder) + os.sep for folder in folders}))
