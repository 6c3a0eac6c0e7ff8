"""Files that are either complete or not there: write, fsync, rename."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

from bitwright.errors import InputError


def write_atomically(path: Path, data: bytes) -> None:
    """Puts `data` at `path`; a reader sees the old file or the new one, never a part, whatever interrupts us."""
    temporary = ""
    try:
        handle, temporary = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
        with os.fdopen(handle, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        os.chmod(temporary, 0o644)
        os.replace(temporary, path)
    except OSError as error:
        raise InputError(f"cannot write {path}: {error.strerror or error}") from None
    finally:
        if temporary and os.path.exists(temporary):
            os.unlink(temporary)
