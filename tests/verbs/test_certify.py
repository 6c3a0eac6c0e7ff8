"""Proofs from Python and from the command line: the same function, so the same dictionaries, reports and refusals."""

import json
from dataclasses import replace
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest
from calling import Captured
from calling import call as said
from facts import missing

import bitwright as bw


def plain(document: dict[str, Any]) -> dict[str, Any]:
    """As JSON has it, without the time it took."""
    return {name: value for name, value in json.loads(json.dumps(document)).items() if name != "seconds"}


@pytest.fixture(scope="module")
def nets(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Networks of cells and of the whole state, right and wrong."""
    small, place = bw.addition(2), tmp_path_factory.mktemp("nets")
    cells, whole = bw.train(bw.addition(4)), bw.train(small, tile="all", width=512)
    files = {name: place / f"{name}.safetensors" for name in ("cells", "whole", "wrong", "wrong_cells")}
    cells.save(files["cells"])
    whole.save(files["whole"])
    for network, name in ((cells, "wrong_cells"), (whole, "wrong")):
        replace(network, weights=replace(network.weights, last=-network.weights.last)).save(files[name])
    return files


CASES: dict[str, tuple[list[object], dict[str, Any]]] = {
    "limit": (["--bits", 3], {}),
    "limit, sign": (["--bits", 3, "--rounding", "sign", "--padding", 2], {"rounding": "sign", "padding": 2}),
    "limit, reachable": (["--bits", 2, "--n", "reachable"], {"n": "reachable"}),
    "limit of cells": (["--bits", 3, "--tile", "1"], {"tile": 1}),
    "limit at sizes": (["--sizes", "1..6"], {"sizes": range(1, 7)}),
    "limit of tiles": (["--bits", 4, "--tile", 2], {"tile": 2}),
    "cells": (["--bits", 3, "--network", "cells"], {}),
    "cells at sizes": (["--network", "cells", "--sizes", "1..9"], {"sizes": "1..9"}),
    "wrong cells": (["--bits", 3, "--network", "wrong_cells"], {}),
    "whole state": (["--network", "whole"], {}),
    "runs": (["--network", "whole", "--domain", "runs"], {"domain": "runs"}),
    "refuted": (["--network", "wrong"], {}),
}


def asked(nets: dict[str, Path], options: list[object]) -> tuple[bw.Algorithm, bw.Network | None, list[object]]:
    """The program and the network of a case, and its options with the network's path."""
    words = [nets.get(str(word), word) for word in options]
    network = words[words.index("--network") + 1] if "--network" in words else None
    bits = words[words.index("--bits") + 1] if "--bits" in words else None
    size: Any = bits or (2 if network in (nets["whole"], nets["wrong"]) else 4)
    return bw.addition(size), None if network is None else bw.Network.load(str(network)), words


@pytest.mark.parametrize("name", CASES)
def test_python_and_the_command_line_say_the_same(nets: dict[str, Path], capsys: Captured, name: str) -> None:
    options, given = CASES[name]
    what, network, words = asked(nets, options)
    found = bw.certify(what, network, **given)
    code, out, _ = said(capsys, "certify", "addition", *words, "--json")
    assert plain(found.to_dict()) == plain(json.loads(out))
    assert code == (0 if found.certified else 1)
    _, report, _ = said(capsys, "certify", "addition", *words)
    assert str(found).replace("certify(what, network)", "--network FILE").splitlines() == report.splitlines()
    assert said(capsys, "certify", "addition", *words, "-q")[1] == f"{found.sentence}\n"


@pytest.mark.parametrize("name", CASES)
def test_a_check_says_the_same(nets: dict[str, Path], capsys: Captured, tmp_path: Path, name: str) -> None:
    options, given = CASES[name]
    what, network, words = asked(nets, options)
    file, known = tmp_path / "c.json", {key: given[key] for key in ("tile",) if key in given}
    found = bw.certify(what, network, **given)
    found.save(file)
    assert (bw.Certificate.load(file), str(bw.Certificate.load(file))) == (found, str(found))
    again = bw.Certificate.load(file).check(what, network, **known)
    assert again.holds
    own = [
        w for at, word in enumerate(words) if word in ("--bits", "--network", "--tile") for w in (word, words[at + 1])
    ]
    code, out, _ = said(capsys, "certify", "addition", *own, "--check", file, "--json")
    assert plain(json.loads(out)) == plain(again.to_dict())
    assert (code, json.loads(out)["holds"]) == (0 if found.certified else 1, True)


@pytest.mark.parametrize("name", ["limit", "cells", "whole state"])
def test_a_false_claim_is_refused_alike(nets: dict[str, Path], capsys: Captured, tmp_path: Path, name: str) -> None:
    what, network, words = asked(nets, CASES[name][0])
    file = tmp_path / "c.json"
    found, lie = bw.certify(what, network), {"bits": 99} if network is None else {"states": 7}
    replace(found, own=replace(found.own, **lie)).save(file)  # type: ignore[arg-type]
    with pytest.raises(bw.ProofError, match=r"the certificate (says|states)") as refused:
        bw.Certificate.load(file).check(what, network)
    code, out, _ = said(capsys, "certify", "addition", *words, "--check", file, "--json")
    assert (code, json.loads(out)) == (1, refused.value.to_dict())
    assert said(capsys, "certify", "addition", *words, "--check", file, "-q") == (1, "does not hold\n", "")


def test_what_cannot_be_asked_is_refused_alike(nets: dict[str, Path], capsys: Captured) -> None:
    wrong: list[tuple[dict[str, Any], Path | None]] = [
        ({"sizes": "1..x"}, nets["cells"]),
        ({"sizes": "1..4"}, nets["whole"]),
        ({"domain": "everything"}, nets["whole"]),
        ({"domain": "runs"}, nets["cells"]),
        ({"padding": 3}, nets["whole"]),
        ({"rounding": "sign"}, nets["whole"]),
        ({"domain": "runs"}, None),
        ({"rounding": "up"}, None),
        ({"n": "declared", "sizes": "1..4"}, None),
    ]
    for given, network in wrong:
        with pytest.raises(bw.InputError) as refused:
            bw.certify(bw.addition(2 if network == nets["whole"] else 4), network and bw.Network.load(network), **given)
        words = [word for name, value in given.items() for word in (f"--{name}", value)]
        code, out, err = said(capsys, "certify", "addition", *words, *(["--network", network] if network else []))
        assert (code, out) == (2, "")
        assert err.replace("--", "") == f"bitwright: {str(refused.value).replace('--', '')}\n", given


def test_a_network_of_the_whole_state_is_for_one_program(nets: dict[str, Path], capsys: Captured) -> None:
    """2 bits, which the file knows; a name on the command line has that size."""
    network = bw.Network.load(nets["whole"])
    assert bw.certify(bw.addition(2), network).states == 64
    assert bw.run(bw.addition(2), p=1, q=2, network=network).value == 3
    assert bw.validate(bw.addition(2), network=network).tally.inputs == 16
    with pytest.raises(bw.InputError, match="another program"):
        bw.certify(bw.multiplication(2), network)
    assert said(capsys, "validate", "addition", "--network", nets["whole"])[0] == 0
    assert missing(said(capsys, "certify", "multiplication", "--network", nets["whole"])[2], "addition 2 bits") == []


def test_several_programs_and_a_file(nets: dict[str, Path], tmp_path: Path) -> None:
    several = [bw.addition(2), bw.addition(7)]
    held = bw.Network.load(nets["cells"])
    assert bw.certify(several, held).sizes is None
    with pytest.raises(bw.InputError, match=r"program.*2"):
        bw.certify(several, held, sizes="1..3")
    with pytest.raises(bw.InputError, match="no cell like"):
        bw.certify([bw.addition(2), bw.permutation([2, 1])], held)
    rules = tmp_path / "own.bw"
    rules.write_text("let l = 3\nbits x[l]\nblock x[i] for i in 1..l\nwhen x[i]=1 write x[i] for i in 1..l\n")
    cells = bw.train(bw.open(rules))
    assert bw.certify(bw.open(rules), cells, sizes="l=1..20").sizes == "l=1..20"
    assert bw.certify(bw.open(rules), sizes="l=1..20").sizes == "l=1..20"


def test_a_check_looks_at_the_program_that_is_given_too() -> None:
    """Beyond 39 nodes of a chain there is another kind, which the certificate of 1..32 knows nothing of."""
    text = "bits x[n]\nblock x[i] for i in 1..n\nwhen x[i]=1 write x[i] for i in 1..n\n"
    text += "when x[i]=0 write x[1] for i in 40..n\nsteps 1\n"
    eight, twenty, fifty = (bw.parse(f"let n = {n}\n{text}") for n in (8, 20, 50))
    cells = bw.train(eight)
    found, limit = bw.certify(eight, cells, sizes="n=1..32"), bw.certify(eight, sizes="n=1..32")
    assert found.check(twenty, cells).sizes == limit.check(twenty).sizes == "n=1..32"
    for claim, network in ((found, cells), (limit, None)):
        with pytest.raises(bw.InputError, match="no cell like"):
            claim.check(fifty, network)


def test_what_takes_too_long_is_said_as_python_spells_it(monkeypatch: pytest.MonkeyPatch) -> None:
    certifying = import_module("bitwright.verbs.network_proof")
    small = bw.addition(2)
    network = bw.train(small, tile="all", width=64, tolerance=0.4)
    monkeypatch.setattr(certifying, "expected_seconds", lambda *_: 90_000.0)
    monkeypatch.setattr(certifying, "gpu_name", lambda: None)
    with pytest.raises(bw.InputError, match=r"64.*states.*25") as refused:
        bw.certify(small, network)
    assert missing(str(refused.value), "domain runs cells 16 local states") == []
    assert "--" not in str(refused.value)
    monkeypatch.setattr(certifying, "expected_seconds", lambda *_: 80_000.0)
    assert bw.certify(small, network).states == 64


def test_sizes_are_consecutive() -> None:
    for sizes in ("4..6", range(4, 7), [4, 5, 6], (4, 5, 6)):
        assert bw.certify(bw.addition(4), sizes=sizes).sizes == "4..6"
    assert bw.certify(bw.addition(4), sizes=[4]).sizes == "4"
    for wrong in (range(1, 9, 3), [4, 6], [6, 5], [], range(0), ["4"], True, 4.0, {4}):
        with pytest.raises(bw.InputError, match=r"'1\.\.64'"):
            bw.certify(bw.addition(4), sizes=wrong)  # type: ignore[call-overload]
