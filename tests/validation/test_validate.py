"""Validation: the same result whoever does the work and however often it is interrupted; wrong programs are caught."""

from dataclasses import replace
from itertools import product
from pathlib import Path

import pytest
from cases import for_each
from facts import missing
from programs import CASES, EXAMPLES, Case
from tasks import Arithmetic, task_of

from bitwright import Algorithm, InputError, addition, multiplication, parse, permutation, run
from bitwright.common.files import journal
from bitwright.common.workers import Workers
from bitwright.rules import load
from bitwright.theory.proof import smallest_examples
from bitwright.validation import Function, Oracle, Tally, validate
from bitwright.validation.judge import run_batch_of
from bitwright.validation.task import Inputs

EVERY = [Workers(), Workers("processes", 2)]  # and Ray in tests/cluster
ORDER = (3, 1, 2, 5, 4)


def spoiled(bits: int) -> Algorithm:
    """Multiplication with one rule wrong: the second place of the adder forgets its carry."""
    text = multiplication(bits).text()
    rule = "when sum_p[2]=1 sum_q[2]=1 write sum_c[2]"
    assert rule in text
    return parse(text.replace(rule, "when sum_p[2]=1 sum_q[2]=1 write sum_p[2]"))


@for_each("engine", ["templates", "limit"])
@for_each(
    ("algorithm", "oracle"),
    [
        (permutation(ORDER), Arithmetic("permutation", ORDER)),
        (addition(6), Arithmetic("addition")),
        (multiplication(5), Arithmetic("multiplication")),
    ],
)
def test_every_input_of_what_we_ship(algorithm: Algorithm, oracle: Oracle, engine: str) -> None:
    bits, steps = sum(len(word.bits) for word in algorithm.inputs), algorithm.steps or 0
    for rounding in ("calibrated",) if engine == "templates" else ("calibrated", "sign"):
        done = validate(task_of(algorithm, engine, oracle, rounding=rounding))
        assert (done.tally.inputs, done.tally.wrong, done.tally.wrong_steps) == (2**bits, 0, 0)
        assert (done.tally.steps, done.tally.evaluations) == (steps, 2**bits * steps)
        assert (done.margin is None) == (engine == "templates")


@pytest.mark.parametrize("plain", [False, True])
def test_a_wrong_rule_is_caught_with_the_smallest_inputs_first(plain: bool) -> None:
    algorithm = spoiled(4)
    done = validate(task_of(algorithm, "limit", oracle=Arithmetic("multiplication"), plain=plain))
    names = ("multiplicand", "multiplier")
    failures = done.tally.failures
    assert 10 == len(failures) < done.tally.wrong < 256
    assert [f.index for f in failures] == sorted(f.index for f in failures)
    seen = {(f.inputs[names[0]], f.inputs[names[1]]) for f in failures}
    worst = max(f.index for f in failures)
    assert validate(task_of(replace(algorithm, ensures=()), "templates")).tally.wrong == 0  # it does what its rules say
    for b, a in product(range(16), range(16)):
        found = run(algorithm, multiplicand=a, multiplier=b).value
        if a + 16 * b <= worst:
            assert ((a, b) in seen) == (found != a * b)
    for f in failures:
        assert f.expected == {"product": f.inputs[names[0]] * f.inputs[names[1]]}
        assert f.outputs == {"product": run(algorithm, f.inputs).value}


@for_each("case", [case for case in CASES if case.name != "examples/rule110"])
@for_each("engine", ["templates", "limit"])
def test_the_plain_walk_finds_the_same(case: Case, engine: str) -> None:
    steps = case.algorithm.steps or 100
    task = task_of(case.algorithm, engine, random=70 if steps > 100 else 300, sample_seed=3)
    found, wanted = validate(task), validate(replace(task, plain=True))
    assert found.tally == replace(wanted.tally, margin=None)
    assert found.margin == wanted.margin
    assert found.tally.wrong == 0


@pytest.mark.parametrize("workers", EVERY, ids=lambda w: w.kind)
def test_the_same_tally_from_every_kind_of_workers(workers: Workers) -> None:
    text = addition(10).text().replace("when p[9]=1 q[9]=1 write c[9]", "when p[9]=1 q[9]=1 write c[9] q[3]")
    task = task_of(parse(text), "limit", Arithmetic("addition"), rounding="sign")
    assert task.batches == 4
    found = validate(task, workers).tally
    assert found == sum((run_batch_of(task, number) for number in range(4)), Tally())
    assert 0 < found.wrong < 2**20


def test_the_sign_rule_where_it_is_wrong_is_reported() -> None:
    """Fifty writers of one bit: with one of them matching among many others, the sign rule loses it."""
    rules = ["bits x[14] y z[9]", "block x[i] for i in 1..14", "block y", "block z[i] for i in 1..9"]
    rules += ["when x[i]=1 write y for i in 1..14", "when z[i]=1 write z[i] for i in 1..9", "input x z", "output y"]
    algorithm = parse("\n".join([*rules, "steps 1"]))
    task = task_of(algorithm, "limit", random=5000, rounding="sign")
    done, plain = validate(task), validate(replace(task, plain=True))
    assert done.tally == replace(plain.tally, margin=None)
    assert done.tally.wrong == done.tally.wrong_steps > 0
    assert done.misjudged == plain.misjudged
    assert {c for _, c, _ in done.misjudged} == {14}
    assert all(1 <= m < c for _, c, m in done.misjudged)
    padding = smallest_examples(algorithm.program) - algorithm.program.templates
    assert validate(task_of(algorithm, "limit", random=5000, rounding="sign", padding=padding)).tally.wrong == 0


@pytest.mark.parametrize("plain", [False, True])
def test_interrupted_and_resumed_equals_uninterrupted(
    tmp_path: Path, plain: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(journal, "_EVERY", -1)
    text = addition(6).text().replace("when p[2]=1 q[2]=1 write c[2]", "when p[2]=1 q[2]=1 write p[2]")
    task = task_of(parse(text) if plain else addition(10), "limit", oracle=Arithmetic("addition"), plain=plain)
    assert task.batches == 4
    path, looks = tmp_path / "kept", [0]

    def stop(done: int, _: int) -> None:
        if done > looks[-1]:
            looks.append(done)
            raise KeyboardInterrupt

    for _ in range(task.batches):
        with pytest.raises(KeyboardInterrupt, match="finished work is in"):
            validate(task, progress=stop, file=path)
    resumed, whole = validate(task, progress=stop, file=path), validate(task)  # nothing is left to do
    assert resumed.tally == whole.tally
    assert (whole.tally.wrong > 0) == plain
    assert (resumed.margin, resumed.worst) == (whole.margin, whole.worst)
    assert looks == [batch * task.inputs.count // 4 for batch in range(5)]


def test_a_file_of_another_validation_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "kept"
    task = task_of(addition(2), "limit", oracle=Arithmetic("addition"))
    validate(task, file=path)
    assert validate(task_of(addition(2), "limit", oracle=Arithmetic("addition")), file=path).exact
    for other in (
        task_of(addition(3), "limit", oracle=Arithmetic("addition")),
        task_of(addition(2), "limit", Arithmetic("addition"), rounding="sign", padding=0),
        task_of(addition(2), "limit", Arithmetic("addition"), padding=1),
        task_of(addition(2), "limit", oracle=Arithmetic("addition"), random=16),
        replace(task, oracle=None),
        replace(task, limit=3),
        replace(task, plain=True),
    ):
        with pytest.raises(InputError, match="holds work on another"):
            validate(other, file=path)


def test_random_inputs_do_not_depend_on_batches() -> None:
    inputs = Inputs(multiplication(40).inputs, 3000, 7)
    whole = inputs.indices(inputs.rows(0, 3000), 3000)
    assert len(set(whole.tolist())) == 3000
    assert max(whole) > 2**70
    parts = [inputs.indices(inputs.rows(at, count), count).tolist() for at, count in ((0, 1024), (1024, 1976))]
    assert parts[0] + parts[1] == whole.tolist()
    other = Inputs(inputs.words, 3000, 8)
    assert other.indices(other.rows(0, 9), 9).tolist() != whole[:9].tolist()
    values = inputs.values(inputs.rows(0, 9), 9)
    assert [a + (b << 40) for a, b in zip(*(v.tolist() for v in values.values()), strict=True)] == whole[:9].tolist()


def test_runs_that_do_not_end() -> None:
    """x alone decides: with it the light goes on and off for ever."""
    rules = "block x\nblock a\nblock b\nwhen x=1 write a\nwhen a=1 write b\nwhen b=1 write a"
    blink = parse(f"bits x a b\n{rules}\ninput x\noutput a\nhalt at fixed point\nsteps 50")
    done = validate(task_of(blink, "limit"))
    assert (done.tally.wrong, done.tally.unfinished, done.tally.steps) == (0, 1, 50)  # the rules do not end either
    assert (done.tally.undecided, done.verdict) == (1, "not decided")
    done = validate(task_of(blink, "limit", oracle=Always({"a": 0})))
    assert (done.tally.wrong, done.tally.unfinished, done.verdict) == (0, 1, "not decided")
    done = validate(task_of(blink, "limit", oracle=Always(None)))
    assert (done.tally.wrong, done.tally.endless, done.tally.undecided, done.verdict) == (1, 1, 0, "not exact")
    assert (done.tally.failures[0].outputs, done.tally.failures[0].expected) == ({"a": 0}, None)


class Always:
    """An oracle with one answer."""

    name = "always"

    def __init__(self, answer: dict[str, int] | None) -> None:
        self.answer = answer

    def __call__(self, values: object) -> dict[str, int] | None:  # noqa: ARG002
        return self.answer


@for_each(
    ("text", "message"),
    [
        ("def check(a, b): return {'difference': a - b}", "no negative"),
        ("def check(a, b): return 5", "dictionary difference negative 5"),
        ("def check(a): return 5", "a=0 b=0"),
        ("def chek(a, b): return 5", "'check' 'chek'"),
        ("1/0", "cannot ZeroDivisionError"),
    ],
)
def test_odd_oracles(tmp_path: Path, text: str, message: str) -> None:
    name = f"oracle_{abs(hash(text))}"
    (tmp_path / f"{name}.py").write_text(text)
    algorithm, outputs = load(EXAMPLES / "subtraction.bw"), ("difference", "negative")
    with pytest.raises(InputError) as refused:
        validate(task_of(algorithm, oracle=Function.named(f"{name}:check", str(tmp_path), outputs)))
    assert missing(str(refused.value), message) == []


def test_a_program_without_inputs_has_one_run() -> None:
    light = parse("bits a b\nblock a\nblock b\nwhen a=1 write b\nwhen b=1 write b\nstart a\noutput b\nsteps 4")
    done = validate(task_of(light, "limit", oracle=Always({"b": 1})))
    assert (done.tally.inputs, done.tally.wrong, done.tally.evaluations) == (1, 0, 4)


def test_numbers_longer_than_a_machine_word() -> None:
    done = validate(task_of(addition(80), "limit", oracle=Arithmetic("addition"), random=200))
    assert (done.tally.inputs, done.tally.wrong) == (200, 0)


def test_what_cannot_be_validated() -> None:
    with pytest.raises(InputError, match="all inputs can be run for at most 48 input bits"):
        task_of(addition(25))
    for random in (0, -1, 10**12 + 1):
        with pytest.raises(InputError, match="number of random inputs must be between 1 and"):
            task_of(addition(2), random=random)
    with pytest.raises(InputError, match="step limit must be 0 or more"):
        task_of(addition(2), limit=-1)
