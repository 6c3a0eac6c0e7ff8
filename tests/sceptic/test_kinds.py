"""The sceptic derives atoms, cut-offs and kinds of rule texts by itself, and refuses every altered certificate."""

import json
from contextlib import suppress
from pathlib import Path
from typing import Any

import checking
from cases import for_each
from long import seeds
from proofs.kinds.random_texts import RandomText

from bitwright.common.errors import ProgramError
from bitwright.proofs.kinds import prove_kinds

ROOT = Path(__file__).parents[2]
TEXTS = [*(ROOT / "examples").glob("*.bw"), *(ROOT / "examples" / "graphs" / f"{name}.bw" for name in ("life", "dfs"))]
ADDITION = (ROOT / "examples" / "addition.bw").read_text("utf-8")
TRAP = """let l = 10
bits p[l] q[l] r
block p[i] q[i] for i in 1..l
block r
when p[i]=1 write p[i] for i in 1..l
when q[i]=1 write r for i in 1..l if i%3=2 and l%5=1
"""


def judged(folder: Path, text: str, certificate: dict[str, Any]) -> tuple[int, str]:
    (folder / "rules.bw").write_text(text, "utf-8")
    (folder / "kinds.json").write_text(json.dumps(certificate), "utf-8")
    done = checking.checked("check_kinds.py", folder / "rules.bw", folder / "kinds.json")
    return done.code, done.out + done.err


@for_each("path", TEXTS)
def test_it_agrees_on_shipped_texts(path: Path, tmp_path: Path) -> None:
    text = path.read_text("utf-8")
    code, said = judged(tmp_path, text, prove_kinds(text).certificate())
    assert (code, said.partition(":")[0]) == (0, "HOLDS"), said


def test_it_agrees_on_traps_and_random_texts(tmp_path: Path) -> None:
    agreed = 0
    for text in [TRAP, *(RandomText(seed, small=True).text for seed in seeds(8, of=500))]:
        with suppress(ProgramError):
            proof = prove_kinds(text)
            if proof.verdict == "proved" and max(proof.L0.values()) <= 40:
                code, said = judged(tmp_path, text, proof.certificate())
                assert code == 0, (text, said)
                agreed += 1
    assert agreed > 3


def altered(value: Any) -> list[Any]:
    """The value with one thing changed, in every place."""
    if isinstance(value, dict):
        found = [{**value, name: other} for name in value for other in altered(value[name])]
        return [*found, *({n: v for n, v in value.items() if n != name} for name in value), {**value, "more": 1}]
    if isinstance(value, list):
        found = [[*value[:at], other, *value[at + 1 :]] for at in range(len(value)) for other in altered(value[at])]
        return [*found, *([value[:-1]] if value else []), [*value, value[-1] if value else 1]]
    return [value + 1 if isinstance(value, int) else value + "x"]


def test_every_altered_certificate_is_refused(tmp_path: Path) -> None:
    true = json.loads(json.dumps(prove_kinds(ADDITION).certificate()))
    assert judged(tmp_path, ADDITION, true)[0] == 0
    several = altered(true)
    assert len(several) > 50
    for certificate in several[:: max(1, len(several) // 25)]:
        code, said = judged(tmp_path, ADDITION, certificate)
        assert code, (certificate, said)
    assert judged(tmp_path, ADDITION.replace("write c[i]", "write q[i]"), true)[0] == 1
