"""Compiles the loops that tests need, once: `python -m tests.compiled`.

They are kept beside the sources. Without this each process of the tests would compile them for itself, all at once.
"""

from typing import Any

from bitwright import addition, validate
from bitwright.web.requests import Limits, Request
from bitwright.web.work import run

SHAPE = {"words": 16, "width": 8, "dialect": "howerj"}
IMAGE = {"kind": "subleq", "language": "image", "text": "6 -1 3 7 7 -1 65", **SHAPE}
RING = "bits x[64]\nblock x[i] for i in 1..64\nwhen x[i]=0 write x[i] for i in 1..64\nsteps 500\n"
REQUESTS: tuple[dict[str, Any], ...] = (
    {"source": IMAGE, "engine": "templates"},
    {"source": IMAGE, "engine": "limit"},
    {"source": IMAGE, "engine": "limit", "rounding": "sign"},
    {"source": {**IMAGE, "text": "0 0 0"}, "engine": "templates", "max_instructions": 2_000},  # that repeat
    {"source": {"kind": "rules", "text": RING}, "engine": "templates"},  # cells that all change
)

if __name__ == "__main__":
    validate(addition(3))
    for request in REQUESTS:
        run(Request(**request), Limits(), lambda *_, **__: None)
