"""The chain of claims: what the rules compute, at which sizes, and that the network takes every step."""

import json
from dataclasses import replace
from pathlib import Path

import pytest
from altered import altered, leaves
from long import LONG

import bitwright as bw
from bitwright.common.errors import InputError, OtherKindError, ProofError

ADDITION = (Path(__file__).parents[2] / "examples" / "addition.bw").read_text()
WRONG = ADDITION.replace("ensure sum == p + q", "ensure sum == p + q + 1")
UNSTATED = ADDITION.replace("ensure sum == p + q\n", "")


@pytest.fixture(scope="module")
def adder() -> bw.Network:
    return bw.train(bw.addition(4))


def links(found: bw.Certificate) -> dict[str, tuple[str, str]]:
    return {claim.about: (claim.verdict, claim.sizes) for claim in found.claims}


def test_a_network_computes_a_function_at_every_size(adder: bw.Network) -> None:
    found = bw.certify(bw.addition(7), adder)
    assert found.certified
    assert links(found)["function"] == links(found)["sizes"] == ("proved", "l>=1")
    assert str(found).startswith("CERTIFIED: this network computes sum == p + q, at every size\n")
    document = found.to_dict()
    assert [claim["about"] for claim in document["claims"]] == ["function", "sizes", "network"]


ELSEWHERE = """
let l = 8
bits x[l] y[l]
block x[i] y[i] for i in 1..l
when x[i]=1 write y[i] for i in 1..l
input x
output y
steps 1
ensure y == x
ensure x != 1025 or y == 0
"""


@pytest.mark.parametrize("cells", [True, False])
def test_sizes_that_are_not_asked_for_decide_nothing(cells: bool) -> None:
    """x = 1025 is wrong, and needs 11 bits."""
    program = bw.parse(ELSEWHERE)
    how = [(bw.train(program, sizes="1..12"),)] if cells else [()]
    for network in how:
        for sizes, at in (("l=8", "size 8"), ("l=3..9", "the sizes l=3..9")):
            found = bw.certify(program, *network, sizes=sizes)
            assert found.certified
            assert f"; not at every size: refuted: {WHY} is false for x=1025 at l=11" in found.claims[0].sentence
            assert at in str(found).splitlines()[0]
            assert "refuted" not in str(found).splitlines()[0]  # other sizes were not asked for
        for sizes in ("l=8..11", "l=11", "all"):
            found = bw.certify(program, *network, sizes=sizes)
            assert (found.verdict, found.claims[0].counterexample["inputs"]) == ("refuted", {"x": 1025}), sizes
    own = bw.certify(program)  # without sizes the limit is about the program at its own
    assert own.certified
    assert str(own).splitlines()[0].endswith("; what the rules compute is proved at size 8 (refuted at l=11)")
    small = bw.parse(ELSEWHERE, l=2)
    whole = bw.certify(small, bw.train(small, tile="all"))
    assert "y == x and (x != 1025 or y == 0), at size 2 (refuted at l=11); it is right" in str(whole).splitlines()[0]


WHY = "x != 1025 or y == 0"
REVERSE = """
let l = 5
bits p[l]
block p[i] for i in 1..l
when p[i]=1 write p[l+1-i] for i in 1..l
input p
output p
steps 1
ensure p[l+1-i] == in.p[i] for i in 1..l
"""


def test_a_program_without_sizes_is_not_said_to_have_one() -> None:
    """It has one size, so nothing is left out; and it has a rule text."""
    program = bw.parse("bits x y\nblock x y\nwhen x=1 write y\ninput x\noutput y\nsteps 1\nensure y == x\n")
    for found in (bw.certify(program, bw.train(program)), bw.certify(program)):
        assert found.claims[0].sentence == "proved (structure)"
        assert links(found)["function"] == ("proved", "this program")
        assert not any(words in str(found) for words in ("this size", "as it is", "no rule text", "not at every"))
    assert str(bw.certify(program, bw.train(program))).startswith(
        "CERTIFIED: this network computes y == x, in this pro"
    )
    own = replace(bw.parse(REVERSE), ensures=["p == p"])
    assert "the program differs from its rule text" in bw.certify(own).claims[0].sentence


def test_a_function_that_is_proved_at_one_size_is_claimed_there_alone() -> None:
    network = bw.train(bw.parse(REVERSE))
    found = bw.certify(bw.parse(REVERSE), network)
    assert found.certified
    assert links(found)["function"] == ("proved", "5")
    assert links(found)["sizes"] == ("proved", "l>=1")
    assert "computes p[l + 1 - i] == in.p[i] for i in 1..l, at size 5; it is right in all 2 local states" in str(found)
    assert "not at every size: no chain: " in str(found)
    several = bw.certify(bw.parse(REVERSE), network, sizes="2..4")
    assert links(several)["function"] == links(several)["sizes"] == ("proved", "l=2..4")


LEFT_OUT = """
let l = 4
let k = 0
bits x[l] y[l]
block x[i] for i in 1..l
block y[i] for i in 1..l
when x[i]=1 write nothing for i in 1..l if i = k
when x[i]=1 write y[i]    for i in 1..l if i != k
when y[i]=1 write y[i]    for i in 1..l
input x
output y
steps 1
ensure y == x
"""


def test_the_headline_covers_only_sizes_that_both_links_cover(tmp_path: Path) -> None:
    """The cells are of these kinds for every k; the function is y == x where no position is k."""
    network = bw.train([bw.parse(LEFT_OUT), bw.parse(LEFT_OUT, k=2)])
    found = bw.certify(bw.parse(LEFT_OUT), network, sizes="all")
    assert found.certified
    assert links(found) == {
        "function": ("proved", "l>=1, k=0"),
        "sizes": ("proved", "l>=1, k>=0"),
        "network": ("proved", "l>=1, k>=0"),
    }
    assert str(found).startswith("CERTIFIED: this network computes y == x, at every size l >= 1 with k = 0\n")
    found.save(tmp_path / "kept.json")
    assert bw.Certificate.load(tmp_path / "kept.json").check(bw.parse(LEFT_OUT), network).sentence == found.sentence
    at = bw.certify(bw.parse(LEFT_OUT), network, sizes="l=1..3,k=0")
    assert "computes y == x, at the sizes l=1..3,k=0; " in str(at)
    for wrong in (
        bw.certify(bw.parse(LEFT_OUT), network, sizes="l=1..3,k=2"),  # not those of the text
        bw.certify(bw.parse(LEFT_OUT), network, sizes="l=3,k=3"),
        bw.certify(bw.parse(LEFT_OUT, k=2), network),
    ):
        assert (wrong.verdict, wrong.own.verdict) == ("refuted", "certified")


def test_a_program_below_the_sizes_of_its_kinds_is_proved_at_its_own() -> None:
    """Kinds are proved from k = 0 on, and the function with k = -3: at every size nothing is known of both."""
    text = LEFT_OUT.replace("i = k", "i = k+3").replace("i != k", "i != k+3")
    network = bw.train([bw.parse(text, k=-3), bw.parse(text)])
    found = bw.certify(bw.parse(text, k=-3), network)
    assert links(found)["function"] == ("proved", "l>=1, k=-3")
    assert links(found)["sizes"] == ("proved", "l=4,k=-3")
    assert str(found).startswith("CERTIFIED: this network computes y == x, at size l=4,k=-3; it is right in all 4 ")
    with pytest.raises(InputError, match=r"kinds of cells are proved for l>=1, k>=0, and this program has l=4,k=-3"):
        bw.certify(bw.parse(text, k=-3), network, sizes="all")


@pytest.mark.parametrize(("extent", "first"), [("l", 1), ("l+1", 0), ("l+3", -2), ("l-1", 2)])
def test_every_size_begins_where_the_text_does(extent: str, first: int) -> None:
    """A rule that writes nothing at size 0, or -1, is found there, too."""
    text = LEFT_OUT.replace("let k = 0\n", "").replace("[l]", f"[{extent}]").replace("1..l", f"1..{extent}")
    kept = text.replace("i = k", "i < 1").replace("i != k", "i > 0")
    found = bw.certify(bw.parse(kept), bw.train(bw.parse(kept)))
    assert links(found)["function"] == links(found)["sizes"] == ("proved", f"l>={first}")
    where = "" if first == 1 else f" l >= {first}"
    assert str(found).startswith(f"CERTIFIED: this network computes y == x, at every size{where}\n")
    left_out = text.replace("i = k", f"l = {first}").replace("i != k", f"l != {first}")
    for own in (first, 4):
        broken = bw.certify(bw.parse(left_out, l=own), tile=1, sizes="all")
        case = broken.claims[0].counterexample
        assert (broken.verdict, case["lets"] if case else None) == ("refuted", {"l": first})


def test_a_wrong_function_refutes_a_right_network(adder: bw.Network, tmp_path: Path) -> None:
    found = bw.certify(bw.parse(WRONG, "wrong"), adder)
    assert (found.certified, found.verdict, found.own.verdict) == (False, "refuted", "certified")
    case = found.claims[0].counterexample
    assert case is not None
    values = case["inputs"]
    assert bw.run(bw.parse(WRONG, "wrong", **case["lets"]), **values).value == values["p"] + values["q"]
    assert str(found).startswith("REFUTED: the rules do not compute sum == p + q + 1; ")
    found.save(tmp_path / "wrong.json")
    again = bw.Certificate.load(tmp_path / "wrong.json")
    assert (again.verdict, again.own.verdict) == ("refuted", "certified")
    assert again.check(bw.parse(WRONG, "wrong"), adder).verdict == "refuted"


def test_nothing_is_claimed_of_a_function_that_nobody_states(adder: bw.Network) -> None:
    found = bw.certify(bw.parse(UNSTATED, "unstated"), adder)
    assert found.certified
    assert links(found)["function"] == ("not stated", "none")
    assert "computes" not in str(found)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda d: d["links"]["function"]["claim"].update(sentence="proved by me"), "function: proved by me"),
        (lambda d: d["links"]["function"]["proof"].update(windows=[]), "proof about the function differs"),
        (lambda d: d["links"]["sizes"]["proof"].update(modulus=7), "proof about the sizes differs"),
        (lambda d: d["links"]["sizes"]["claim"].update(method="because"), "claims about the sizes"),
    ],
)
def test_an_altered_link_does_not_hold(change, message: str, adder: bw.Network, tmp_path: Path) -> None:  # type: ignore[no-untyped-def]
    file = tmp_path / "chain.json"
    bw.certify(bw.addition(4), adder).save(file)
    document = json.loads(file.read_text())
    change(document)
    file.write_text(json.dumps(document))
    with pytest.raises(ProofError, match=message):
        bw.Certificate.load(file).check(bw.addition(4), adder)


@pytest.mark.parametrize("links", [[], {"function": 1}, {"function": {"claim": {}, "proof": None}}, {"function": {}}])
def test_links_of_another_form_are_refused(links: object, adder: bw.Network, tmp_path: Path) -> None:
    file = tmp_path / "chain.json"
    bw.certify(bw.addition(4), adder).save(file)
    file.write_text(json.dumps(json.loads(file.read_text()) | {"links": links}))
    with pytest.raises(InputError, match="certificate"):
        bw.Certificate.load(file)


def test_every_size_is_refused_where_it_cannot_be_proved(adder: bw.Network) -> None:
    with pytest.raises(InputError, match=r"possible.*4"):
        bw.certify(
            bw.parse(ADDITION.replace("for i in 1..l\nblock c", "for i in 1..l*l//l\nblock c"), "odd"),
            adder,
            sizes="all",
        )
    with pytest.raises(InputError, match=r"sizes.*programs"):
        bw.certify(bw.parse("bits x\nblock x\nwhen x=1 write x\n", "fixed"), adder, sizes="all")


def test_a_program_that_left_its_text_is_proved_as_it_is() -> None:
    """Its rule text says what it computes and which kinds it has at every size; but these rules are others."""
    text = ADDITION.replace("when c[l]=1 write c[l]\n", "")
    changed = replace(bw.addition(4), program=bw.parse(text, "changed", l=4).program)
    network = bw.train(changed)
    found = bw.certify(changed, network)
    assert (found.verdict, found.sizes, links(found)["function"][0]) == ("refuted", "4", "refuted")


def test_a_network_that_lacks_a_kind_is_not_of_every_size() -> None:
    narrow = bw.train(bw.addition(1))
    assert bw.certify(bw.addition(1), narrow).sizes == "1"
    with pytest.raises(OtherKindError, match=r"addition.*2"):
        bw.certify(bw.addition(1), narrow, sizes="all")


def test_no_link_of_a_certificate_file_can_be_altered(adder: bw.Network, tmp_path: Path) -> None:
    """Every number, word and truth of the links, changed into another one of its kind; `make test` tries some."""
    bw.certify(bw.addition(7), adder).save(file := tmp_path / "sum.json")
    document = json.loads(file.read_text())
    ways = [("links", *way) for way in leaves(document["links"])]
    assert len(ways) > 500
    for way in ways[:: 7 if LONG else 97]:
        file.write_text(json.dumps(altered(document, way)))
        with pytest.raises((ProofError, InputError)):
            bw.Certificate.load(file).check(bw.addition(7), adder)
    for about in ("function", "sizes"):
        for sizes in ("every", "l>=0", "l>=2", "l>=1, k=3", "4"):
            file.write_text(json.dumps(altered(document, ("links", about, "claim", "sizes"), sizes)))
            with pytest.raises(ProofError):
                bw.Certificate.load(file).check(bw.addition(7), adder)
