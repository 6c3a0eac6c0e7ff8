"""Rule text as a value: parsed once, and expanded once at each size, whoever asks for it."""

import pickle
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

import bitwright
from bitwright.common.errors import InputError
from bitwright.rules.text import RuleText, rule_text
from bitwright.rules.text.expand import Expansion

EXAMPLES = Path(__file__).parents[2] / "examples"


@pytest.mark.parametrize("name", ["subtraction", "multiplication", "rule110"])
def test_certify_parses_once_and_expands_each_size_once(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    counts: Counter[object] = Counter()
    parse, begin = rule_text.parse_statements, Expansion.__init__

    def parsed(text: str) -> Any:
        counts[text] += 1
        return parse(text)

    def expanded(self: Expansion, tree: Any, work: int, given: Any, *more: Any) -> None:
        counts[id(tree), tuple(sorted({**plain, **given}.items()))] += 1
        begin(self, tree, work, given, *more)

    file = tmp_path / "fresh.bw"
    file.write_text((EXAMPLES / f"{name}.bw").read_text() + f"# {tmp_path}\n")  # remembered by no other test
    plain = RuleText(file.read_text()).numbers
    monkeypatch.setattr(rule_text, "parse_statements", parsed)
    monkeypatch.setattr(Expansion, "__init__", expanded)
    bitwright.certify(bitwright.open(file))
    assert counts[file.read_text()] == 1
    assert set(counts.values()) == {1}


def test_a_remembered_size_is_checked_like_a_new_one() -> None:
    rules = RuleText.of("let l = 1\nbits p[l]\nblock p[*]\nwhen p[1]=1 write p[1]")
    assert rules.at({"l": 1}).program is rules.at().program
    with pytest.raises(InputError, match="an integer below"):
        rules.at({"l": True})
    with pytest.raises(InputError, match="no line 'let k'"):
        rules.at({"k": 1})


def test_it_travels_as_its_text() -> None:
    rules = RuleText.of("let l = 3\nbits p[l]\nblock p[*]\nwhen p[1]=1 write p[l]")
    rules.at({"l": 9})
    assert len(pickle.dumps(rules)) < 300
    assert pickle.loads(pickle.dumps(rules)) is rules
