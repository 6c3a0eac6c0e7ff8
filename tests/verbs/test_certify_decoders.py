"""`certify` for tasks of transformers: values in, claims with a certificate out; what does not fit is one line."""

from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from decoders import bit_copier, every_input

from bitwright import InputError, addition, certify
from bitwright.transformers import Decoder, load_decoder, read_certificate, read_task, save_decoder
from bitwright.transformers.certificate import StepResult
from bitwright.transformers.counterexamples import forced_margins
from bitwright.transformers.decision import SplitTrees
from bitwright.transformers.modules import logits
from bitwright.transformers.prover import BoxProof, _claim_of
from bitwright.verbs.decoders import train_file
from bitwright.verbs.progress import Listener

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
    assert read_certificate("copy.json").claims[0].verdict == "proved"
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


def test_the_margin_and_the_wrong_inputs_are_those_of_all_inputs() -> None:
    for sharp in (6.0, 0.0):
        task, decoder = bit_copier(sharp)
        found, margins = certify(task, decoder, measure=True), forced_margins(decoder, task, every_input(task))
        assert found.verdict == ("proved" if sharp else "refuted")
        if found:
            assert found.wrong is None
            assert found.smallest is not None
            assert found.smallest.bound <= margins.min() + 1e-9
            assert found.smallest.attained >= margins.min() - 1e-9
        else:
            assert found.smallest is None
            assert found.wrong is not None
            assert (found.wrong.wrong, found.wrong.tried) == ((margins <= 0).any(1).sum(), task.inputs)
            line = next(line for line in str(found).splitlines() if line.startswith("  wrong "))
            assert f"{found.wrong.wrong} of all {task.inputs} inputs" in line


def test_inputs_are_right_before_they_are_proved() -> None:
    said: list[str] = []

    class Notes(Listener):
        def note(self, text: str) -> None:
            said.append(text)

    for sharp, right in ((6.0, True), (0.0, False)):
        said.clear()
        task, decoder = bit_copier(sharp)
        certify(task, decoder, progress=Notes(None))
        assert ([f"correct on all {task.inputs:,} inputs" in text for text in said] == [True]) == right


def test_open_boxes_are_summed_by_position() -> None:
    task, decoder = bit_copier(8.0, length=20)
    proof = BoxProof(decoder, task, task.columns.statement, "real", True, 0, 0.0, 0.0)
    counts, none = [len(of) for of in proof.groups[:2]], np.zeros((0, *task.positions.shape), np.int64)
    assert counts[1] > 1
    first, second = (StepResult("time", 9, 0.0, (50,) * n, SplitTrees(), none) for n in counts)
    open_ = _claim_of(proof, [first, second]).open
    assert open_[:2] == tuple(f"z[{20 - at}]: {50 * n} boxes open" for at, n in enumerate(counts))
    assert len(open_) == len(task.layout.answer)


COPIER: Decoder = bit_copier(6.0)[1]


@pytest.mark.parametrize(
    ("what", "network", "options", "hint"),
    [
        (read_task(TEXT), None, {}, "got None"),
        (read_task(TEXT), "copy.safetensors", {}, "got 'copy.safetensors'; load_decoder(path)"),
        (read_task(TEXT), len, {}, "module="),
        ("copy.task", COPIER, {}, "got 'copy.task'; load_task(path)"),
        ("addition", COPIER, {}, "got 'addition'; load_task(path)"),
        (bit_copier(1.0)[0].columns, COPIER, {}, "PromptLayout"),
        (3, COPIER, {}, "got 3"),
        (TEXT, COPIER, {"sizes": "1..3"}, "sizes does not go with a task"),
        (TEXT, COPIER, {"seconds": -1}, "seconds must be a finite number of at least 0, got -1"),
        (TEXT, COPIER, {"seconds": "60"}, "seconds must be"),
        (TEXT, COPIER, {"module": 3}, "a module must be a function from tokens to logits, got int"),
        (addition(2), None, {"seconds": 3}, "seconds goes with a task"),
        (addition(2), None, {"measure": True}, "measure goes with a task"),
        (TEXT.replace("ensure", "ensur"), COPIER, {}, "task:3:1"),
    ],
)
def test_what_does_not_fit_is_refused_in_one_line(what: Any, network: Any, options: Any, hint: str) -> None:
    with pytest.raises(InputError) as error:
        certify(what, network, **options)
    assert hint in str(error.value)
    assert "\n" not in str(error.value)


class Interrupter:
    """A listener that collects notes, and presses Ctrl-C after some calls of the progress."""

    def __init__(self, calls: int) -> None:
        self.calls, self.notes = calls, list[str]()

    def note(self, text: str) -> None:
        self.notes.append(text)

    @contextmanager
    def working(self, _: str, *, at_most: bool = False) -> Iterator[Any]:  # noqa: ARG002
        yield self.count

    def count(self, *_: int) -> None:
        self.calls -= 1
        if not self.calls:
            raise KeyboardInterrupt


def test_ctrl_c_leaves_a_line_that_says_how_to_continue(tmp_path: Path) -> None:
    for resume, fact in ((None, "resume FILE"), (tmp_path / "kept", str(tmp_path / "kept"))):
        listener = Interrupter(4)
        with pytest.raises(KeyboardInterrupt):
            certify(TEXT, COPIER, resume=resume, progress=listener)
        assert fact in listener.notes[-1]
    again = Interrupter(0)
    assert certify(TEXT, COPIER, resume=tmp_path / "kept", progress=again)
    assert any("of decoding are finished" in note for note in again.notes)
    (tmp_path / "copy.task").write_text(TEXT)
    listener = Interrupter(2)
    with pytest.raises(KeyboardInterrupt):
        train_file(tmp_path / "copy.task", tmp_path / "net", seeds=range(2), tell=listener)
    assert str(tmp_path / "net") in listener.notes[-1]
    assert not (tmp_path / "net").exists()
