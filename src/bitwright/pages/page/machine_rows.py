"""What a page shows of an SBN machine: marks in time, instructions, and memory by name."""

from __future__ import annotations

import numpy as np

from bitwright.pages.machine_view import MachineView
from bitwright.pages.page.blob import Blob
from bitwright.pages.page.sampling import SampledSteps
from bitwright.program.trace import Trace


def computer_data(trace: Trace, computer: MachineView, blob: Blob, sample: SampledSteps) -> dict[str, object]:
    """Adds the marks in time to the blob, and gives instructions and words as people read them."""
    machine, code = computer.machine, computer.code
    steps, addresses = computer.instructions(trace)
    phases = computer.phases(trace)
    blob.integers("instruction_step", sample.piece_of(steps))
    blob.integers("instruction_address", addresses)
    blob.integers("phase_step", sample.piece_of(np.array([step for step, _ in phases], dtype=np.int64)))
    blob.integers("phase_kind", [number for _, number in phases])
    return {
        "kind": machine.kind,
        "phases": list(machine.phases),
        "instructions": [
            {
                "label": computer.label(at),
                "a": computer.word(sbn.a),
                "b": computer.word(sbn.b),
                "c": computer.label(sbn.c) or str(sbn.c),
                "words": [sbn.a, sbn.b],
            }
            for at, sbn in enumerate(code.instructions)
        ],
        "words": [[computer.word(place), bits, True] for place, bits in enumerate(machine.memory_bits.tolist())],
    }
