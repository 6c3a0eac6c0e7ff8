"""`certify` for tasks of transformers: values in, claims with a certificate out; what does not fit is one line."""

from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from decoders import bit_copier

from bitwright import InputError, addition, certify
from bitwright.transformers import Decoder, load_decoder, read_task, save_decoder
from bitwright.transformers.modules import logits

TEXT = """
words a: 4 symbols 0..1
ensure z[i] == a[i] for i in 1..4
prompt a[1..4]
answer z[4..1]
"""


@pytest.fixture(autouse=True)
def _own_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def test_the_text_of_a_task_and_a_decoder_give_claims_and_a_certificate() -> None:
    _, decoder = bit_copier(6.0)
    decision = certify(TEXT, decoder, module=partial(logits, decoder, dtype=np.float32))
    assert (decision.verdict, bool(decision), decision.counterexample) == ("proved", True, None)
    assert decision.comparison is not None
    assert decision.comparison.agrees
    decision.save("copy.json")
    assert certify(read_task(TEXT), load_decoder("copy.safetensors")).verdict == "proved"
    html = decision._repr_html_()
    assert html is not None
    assert "PROVED" in html


def test_a_certificate_is_not_written_beside_another_decoder() -> None:
    decision = certify(TEXT, bit_copier(6.0)[1])
    save_decoder(bit_copier(7.0)[1], "copy.safetensors")
    with pytest.raises(InputError, match="different decoder"):
        decision.save("copy.json")
    with pytest.raises(InputError, match=r"\.json"):
        decision.save("copy.txt")
    assert not Path("copy.json").exists()


COPIER: Decoder = bit_copier(6.0)[1]


@pytest.mark.parametrize(
    ("what", "network", "options", "hint"),
    [
        (read_task(TEXT), None, {}, "got None"),
        (read_task(TEXT), "copy.safetensors", {}, "got 'copy.safetensors'; load_decoder(path)"),
        (read_task(TEXT), len, {}, "module="),
        ("copy.task", COPIER, {}, "got 'copy.task'; load_task(path)"),
        ("addition", COPIER, {}, "got 'addition'; load_task(path)"),
        (bit_copier(1.0)[0].columns, COPIER, {}, "load_task"),
        (3, COPIER, {}, "got 3"),
        (TEXT, COPIER, {"sizes": "1..3"}, "sizes cannot be used with a transformer task"),
        (TEXT, COPIER, {"seconds": -1}, "seconds must be a finite number of at least 0, got -1"),
        (TEXT, COPIER, {"seconds": "60"}, "seconds must be"),
        (TEXT, COPIER, {"module": 3}, "module must be a function from tokens to logits, got int"),
        (addition(2), None, {"seconds": 3}, "seconds works only with a transformer task"),
        (TEXT, COPIER, {"workers": 2}, "workers cannot be used with a transformer task"),
        (TEXT.replace("ensure", "ensur"), COPIER, {}, "task:3:1"),
    ],
)
def test_what_does_not_fit_is_refused_in_one_line(what: Any, network: Any, options: Any, hint: str) -> None:
    with pytest.raises(InputError) as error:
        certify(what, network, **options)
    assert hint in str(error.value)
    assert "\n" not in str(error.value)
