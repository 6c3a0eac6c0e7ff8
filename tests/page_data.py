"""What a page holds, read as its own script reads it."""

import json
import re
import zlib
from base64 import b64decode
from typing import Any

import numpy as np


def opened(html: str) -> tuple[dict[str, Any], dict[str, np.ndarray[Any, Any]]]:
    """Facts and arrays, as the page's script reads them."""
    [facts] = re.findall(r'<script type="application/json" id="facts">(.*?)</script>', html, re.DOTALL)
    [data] = re.findall(r'<script type="application/octet-stream" id="data">(.*?)</script>', html)
    found = json.loads(facts)
    return found, unpacked(found["arrays"], b64decode(data))


def unpacked(directory: list[Any], data: bytes) -> dict[str, np.ndarray[Any, Any]]:
    """The arrays that a page's data holds, by its directory."""
    blob, at = zlib.decompress(data), 0
    arrays: dict[str, np.ndarray[Any, Any]] = {}
    for name, coding, length in directory:
        part = blob[at : at + length]
        at += -(-length // 8) * 8
        if coding.startswith("xor"):
            rows = np.frombuffer(part, dtype=np.uint8).reshape(-1, int(coding[3:]))
            arrays[name] = np.bitwise_xor.accumulate(rows, axis=0)
        elif coding == "sum":
            arrays[name] = np.cumsum(np.frombuffer(part, dtype="<i4"), dtype=np.int32)
        else:
            arrays[name] = np.frombuffer(part, dtype=f"<{coding}")
    return arrays
