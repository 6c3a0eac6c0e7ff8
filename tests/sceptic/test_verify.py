"""The sceptic's front door takes a certificate with its files, and stops at the first that is another one."""

import json
from functools import cache
from pathlib import Path
from typing import Any

import checking
import pytest
from altered import altered
from cases import for_each

import bitwright as bw

ROOT = Path(__file__).parents[2]
FIXED = """bits x[6] y[6]
block x[i] for i in 1..6
block y[i] for i in 1..6
when x[i]=1 write y[7-i] for i in 1..6
input x
output y
steps 1
ensure y[i] == x[7-i] for i in 1..6
"""
BELOW = """let l = 3
bits x[l] y[l]
block x[i] y[i] for i in 1..l
when x[i]=1 y[i]=0 write x[i] for i in 1..l
when x[i]=1 y[i]=1 write x[i] for i in 1..l
input x y
output x
steps 1
where in.x<y
ensure x < in.y and x == in.x
"""


def certified(folder: Path, name: str, text: str | Path, certify: dict[str, Any], **options: Any) -> None:
    """Writes a network and its certificate."""
    program = bw.open(text, **options.pop("lets", {}))
    network = bw.train(program, **options)
    network.save(folder / f"{name}.safetensors")
    bw.certify(program, network, **certify).save(folder / f"{name}.json")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Certificates with their networks: of addition at every size, at a few, and of its whole state at one size."""
    folder = tmp_path_factory.mktemp("verified")
    text = ROOT / "examples" / "addition.bw"
    certified(folder, "every", text, {})
    certified(folder, "few", text, {"sizes": "2..3"})
    certified(folder, "one", text, {}, lets={"l": 2}, tile="all")
    certified(folder, "loop", ROOT / "examples" / "modular-multiplication.bw", {})
    (folder / "rules.bw").write_bytes(text.read_bytes())
    (folder / "fixed.bw").write_text(FIXED)
    certified(folder, "fixed", folder / "fixed.bw", {})
    (folder / "below.bw").write_text(BELOW)
    certified(folder, "below", folder / "below.bw", {})
    return folder


def verified(folder: Path, *names: str) -> tuple[int, list[str]]:
    done = checking.checked("verify.py", *(name if "=" in name else folder / name for name in names))
    assert not done.err
    return done.code, done.out.splitlines()


@for_each(
    ("names", "words"),
    [
        (("every.json", "every.safetensors", "rules.bw"), ["l>=1"]),
        (("few.json", "few.safetensors", "rules.bw"), ["l>=1", "2..3"]),
        (("one.json", "one.safetensors", "rules.bw", "l=2"), ["l=2"]),
        (("fixed.json", "fixed.safetensors", "fixed.bw"), ["this program"]),
        (("below.json", "below.safetensors", "below.bw"), ["l>=1"]),
    ],
)
def test_what_is_certified_holds(folder: Path, names: tuple[str, ...], words: list[str]) -> None:
    code, lines = verified(folder, *names)
    assert code == 0
    assert [line[:2] for line in lines if line[0].isdigit()] == ["1.", "2.", "3.", "4."]
    assert lines[-1].startswith("HOLDS: ")
    assert all(word in lines[-1] for word in words)
    assert any(
        line.strip() in ("sum == p + q", "y[i] == x[7-i] for i in 1..6", "x < in.y and x == in.x") for line in lines
    )


def test_conditions_are_part_of_the_statement(folder: Path) -> None:
    """Of a chain, and of a loop."""
    assert "     where in.x<y" in verified(folder, "below.json", "below.safetensors", "below.bw")[1]
    text = ROOT / "examples" / "modular-multiplication.bw"
    done = checking.checked("verify.py", folder / "loop.json", folder / "loop.safetensors", text)
    assert (done.code, done.out.splitlines()[-1][:6]) == (0, "HOLDS:")
    assert "where b < m" in done.out


def test_hashes_come_first(folder: Path) -> None:
    """Another network, or another text, ends it before any claim is looked at."""
    code, lines = verified(folder, "every.json", "one.safetensors", "rules.bw")
    assert (code, len(lines), lines[0].partition(":")[0]) == (1, 1, "DOES NOT HOLD")
    (folder / "other.bw").write_text((folder / "rules.bw").read_text() + "# more\n")
    code, lines = verified(folder, "every.json", "every.safetensors", "other.bw")
    assert (code, lines[0][:2], lines[1].partition(":")[0]) == (1, "1.", "DOES NOT HOLD")
    data = bytearray((folder / "every.safetensors").read_bytes())
    data[-1] ^= 1
    (folder / "flipped.safetensors").write_bytes(bytes(data))
    assert verified(folder, "every.json", "flipped.safetensors", "rules.bw")[0] == 2


def test_single_sizes_are_run_on_all_inputs(folder: Path) -> None:
    """That certificate has no proof of the function to check, and no hash of the text."""
    (folder / "wrong.bw").write_text(FIXED.replace("== x[7-i]", "== x[i]"))
    code, lines = verified(folder, "fixed.json", "fixed.safetensors", "wrong.bw")
    assert (code, lines[-1].partition(":")[0]) == (1, "DOES NOT HOLD")


CLAIM, PROOF = ("links", "function", "claim"), ("links", "function", "proof")
FORGED: dict[str, tuple[tuple[Any, ...], Any]] = {
    "another line": ((*PROOF, "program", "ensures", 0), "sum == sum"),
    "more sizes of the function": ((*CLAIM, "sizes"), "l>=0"),
    "a window less": ((*PROOF, "windows", 0, 1, 0, 1), lambda windows: windows[:-1]),
    "another method": ((*PROOF, "format"), "bitwright function 2"),
    "refuted": ((*CLAIM, "verdict"), "refuted"),
    "a kind less": (("links", "sizes", "proof", "kinds"), lambda kinds: kinds[:-1]),
    "more sizes of the kinds": (("links", "sizes", "claim", "sizes"), "l>=0"),
    "more states": (("states",), 17),
    "no state wrong": (("distance",), 7000),
}


@for_each("what", FORGED)
def test_a_forged_certificate_is_refused(folder: Path, what: str) -> None:
    data = json.loads((folder / "every.json").read_text())
    forged = altered(data, *FORGED[what])
    assert forged != data
    (folder / "forged.json").write_text(json.dumps(forged))
    code, lines = verified(folder, "forged.json", "every.safetensors", "rules.bw")
    assert code in (1, 2)
    assert not any(line.startswith("HOLDS") for line in lines)


def test_a_function_is_not_claimed_below_its_sizes(folder: Path) -> None:
    """A certificate that claims less, for sizes from 2 on, holds; but not for a network of size 1."""
    text = ROOT / "examples" / "addition.bw"
    for size, code in ((1, 1), (2, 0)):
        certified(folder, "small", text, {}, lets={"l": size}, tile="all")
        data = json.loads((folder / "small.json").read_text())
        for place, value in (((*CLAIM, "sizes"), "l>=2"), ((*PROOF, "program", "sizes"), "l>=2"),
                             ((*PROOF, "short"), [2, 3, 4])):  # fmt: skip
            data = altered(data, place, value)
        (folder / "small.json").write_text(json.dumps(data))
        assert verified(folder, "small.json", "small.safetensors", "rules.bw", f"l={size}")[0] == code


@cache
def canonical() -> Any:
    """The sceptic's own printer of a text at a size."""
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(ROOT / "sceptic")
        from kinds.canonical import canonical
        from kinds.rule_text import Text
    return lambda text, sizes: canonical(Text(text), sizes)


TEXTS = ["addition", "comparison", "gray", "multiplication", "rule110", "subtraction", "addition-counter"]


@for_each("name", TEXTS)
def test_texts_are_expanded_as_the_product_does(name: str) -> None:
    """Two programs that share no code print the same bits, blocks, templates, cells, inputs, outputs and ends."""
    text = (ROOT / "examples" / f"{name}.bw").read_text()
    size = "w" if name == "rule110" else "l"
    for value in (1, 2, 3, 5, 8):
        lines = bw.parse(text, **{size: value}).text().splitlines()
        kept = [line for line in lines if line.split(" ")[0] not in ("matches", "examples", "ensure", "where")]
        assert canonical()(text, {size: value}).splitlines() == kept, value
