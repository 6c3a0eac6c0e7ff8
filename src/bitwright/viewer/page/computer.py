"""What a page shows of an SBN machine: when the phases of each instruction begin, what it says, and memory by name."""

from __future__ import annotations

import numpy as np

from bitwright.execution import Trace
from bitwright.machines import Code, Machine
from bitwright.viewer.page.blob import Blob


def computer_data(trace: Trace, machine: Machine, code: Code, blob: Blob) -> dict[str, object]:
    """Adds the marks in time to the blob, and gives instructions and words as people read them."""
    begins = np.flatnonzero(trace.bit(machine.boundary))
    address = sum(trace.bit(bit)[begins].astype(np.int64) << place for place, bit in enumerate(machine.address_bits))
    blob.integers("instruction_step", begins)
    blob.integers("instruction_address", address)
    marks = [
        (int(step), number)
        for number, bits in enumerate(machine.phases.values())
        for step in np.flatnonzero(np.logical_or.reduce([trace.bit(bit) for bit in bits]))
    ]
    marks.sort()
    blob.integers("phase_step", [step for step, _ in marks])
    blob.integers("phase_kind", [kind for _, kind in marks])
    labels = {place: label for label, place in reversed(list(code.labels.items()))}
    names = {place: name for name, place in reversed(list(code.names.items()))}
    return {
        "kind": machine.kind,
        "sizes": str(code.sizes),
        "phases": list(machine.phases),
        "instructions": [
            {
                "label": labels.get(at, ""),
                "a": names.get(sbn.a, f"[{sbn.a}]"),
                "b": names.get(sbn.b, f"[{sbn.b}]"),
                "c": labels.get(sbn.c, str(sbn.c)),
                "words": [sbn.a, sbn.b],
            }
            for at, sbn in enumerate(code.instructions)
        ],
        "words": [
            [names.get(place, f"[{place}]"), bits, True] for place, bits in enumerate(machine.memory_bits.tolist())
        ],
    }
