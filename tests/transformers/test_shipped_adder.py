"""The shipped adder is proved on all pairs, and refuted with one changed weight."""

from dataclasses import replace
from hashlib import sha256
from pathlib import Path

import numpy as np
from decoders import digits

from bitwright.transformers.certificate import check_subject, read_certificate
from bitwright.transformers.decoder import Decoder
from bitwright.transformers.files import load_decoder
from bitwright.transformers.modules import logits
from bitwright.transformers.prover import decide
from bitwright.transformers.task_text import load_task

FOLDER = Path(__file__).parents[2] / "examples" / "transformers"


def added(decoder: Decoder, a: int, b: int) -> int:
    row = [*digits([a], 10, 10)[0], 0, *digits([b], 10, 10)[0], 0, 0]
    for _ in range(11):
        row.append(int(logits(decoder, np.array([row]), np.float32)[0, -1].argmax()))
    return sum(digit * 10**place for place, digit in enumerate(row[-11:]))


def test_the_shipped_adder_is_proved_and_a_changed_one_is_refuted():
    decoder, task = load_decoder(FOLDER / "adder.safetensors"), load_task(FOLDER / "adder.task")
    (claim,) = decide(decoder, task).claims
    assert (claim.verdict, claim.arithmetic, claim.inputs) == ("proved", "float32", 10**20)
    assert claim.margin > 2
    assert claim.boxes < 4000
    rng = np.random.default_rng(0)
    for a, b in [(0, 0), (10**10 - 1, 1), (4_200_000_000, 5_800_000_000), *rng.integers(0, 10**10, (20, 2)).tolist()]:
        assert added(decoder, a, b) == a + b
    weight = decoder.head[0].weight.copy()
    weight[0, 9] += 3
    changed = replace(decoder, head=(replace(decoder.head[0], weight=weight),))
    (claim,) = decide(changed, task).claims
    assert claim.verdict == "refuted"
    a, b = (task.number(word, 10) for word in claim.counterexample.symbols)
    assert added(changed, a, b) == sum(digit * 10**place for place, digit in enumerate(claim.counterexample.written))
    assert added(changed, a, b) != a + b


def test_its_certificate_is_about_the_files_beside_it():
    certificate, network = read_certificate(FOLDER / "adder.json"), FOLDER / "adder.safetensors"
    assert certificate["network"] == sha256(network.read_bytes()).hexdigest()
    check_subject(FOLDER / "adder.json", certificate, load_task(FOLDER / "adder.task"), load_decoder(network))
    assert [(claim["verdict"], claim["arithmetic"]) for claim in certificate["claims"]] == [("proved", "float32")]
