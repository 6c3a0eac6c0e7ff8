"""Readers take time in proportion to what they read: here in moments what took hours when it grew with the square."""

from collections.abc import Iterator

import networkx
import numpy as np
import pytest
from fuzz.campaign import Counter

from bitwright import Executions, executions, parse, permutation
from bitwright.common.errors import InputError, ProgramError, suggestion
from bitwright.common.scanner import Token
from bitwright.rules import parse_node_program
from bitwright.rules.tables import layout_of_names
from bitwright.rules.text.expand import Expansion
from bitwright.rules.text.parser import parse_statements
from bitwright.rules.text.syntax import BitRef, PortLine
from bitwright.verbs.executions import Sample, executions_for
from bitwright.verbs.graphs import on_graph

HEAD = "bits x y\nblock x\nblock y\nwhen x=1 write x\n"
WEIGHTED = parse_node_program("bits x\nport bits p\nblock x\nblock p\nwhen p=1 write far.x\ninput weight = p")


def test_many_marks_that_are_bits() -> None:
    expansion = Expansion(parse_statements("bits one x"), 1_000, {})
    expansion.declare_bits()
    one, x = (Token("name", name, 1, 1) for name in ("one", "x"))
    unique = Token("name", "unique", 1, 1)
    line = PortLine(one, None, (BitRef(x, ()),), marks=(unique, *[one] * 200_000))
    found = expansion.with_bits(line)
    assert (found.marks, len(found.members), found.members[-1].token) == ((unique,), 200_001, x)


def test_work_grows_with_the_number_of_inputs() -> None:
    calls = []
    for count in (100, 200):
        counter = Counter()
        line = "bits z{0}\nblock z{0}\nwhen z{0}=1 write z{0}\ninput z{0}\noutput o{0} = z{0}\n"
        text = "".join(map(line.format, range(count)))
        counter.count(lambda: parse(text))  # noqa: B023
        calls.append(counter.calls)
    assert calls[1] < 2.2 * calls[0]


@pytest.mark.parametrize(
    ("clause", "said"),
    [
        (" for " + ", ".join(f"i{n} in 1..1" for n in range(51)), "50 indices"),
        (" for i in 1..9 if " + " and ".join(["i>0"] * 51), "'if' .* 50 conditions"),
    ],
    ids=["indices", "conditions"],
)
def test_clauses_are_worked_out_for_every_row_and_so_limited(clause: str, said: str) -> None:
    with pytest.raises(ProgramError, match=said):
        parse(f"{HEAD}when y=1 write x{clause}")
    fewer = clause.replace(", i50 in 1..1", "").replace(" and i>0", "", 1)
    assert parse(f"{HEAD}when y=1 write x{fewer}").program.templates == 2


@pytest.mark.parametrize(
    "text",
    [
        "$\n" * 3_000,
        HEAD + "".join(f"when z{i}=1 write x\n" for i in range(3_000)),
    ],
    ids=["characters", "bits"],
)
def test_a_text_of_nothing_but_problems_is_not_read_to_its_end(text: str) -> None:
    with pytest.raises(ProgramError) as refused:
        parse(text)
    assert 1_000 <= len(refused.value.problems) <= 1_100
    assert any("was not read" in problem.message for problem in refused.value.problems)


def test_suggestions_compare_few_and_short_names() -> None:
    asked = []

    def names() -> Iterator[str]:
        for number in range(5_000):
            asked.append(number)
            yield f"name{number}"

    assert suggestion("nam7", names()) == "; did you mean 'name7'?"
    assert len(asked) <= 1_001
    assert suggestion("a" * 101, ["a" * 101]) == suggestion("ab", ["ab" * 5_000]) == ""


def test_an_edge_that_is_all_dashes() -> None:
    with pytest.raises(InputError, match="100"):
        on_graph(WEIGHTED, "path:3", {"weight": "-" * 200_000 + ":1"})
    many = ["-".join("a" * 40), "-".join("b" * 40)]
    found = on_graph(WEIGHTED, networkx.Graph([tuple(many)]), {"weight": "-".join(many)})
    assert found.read_places(found.state({}), "port") == {"p": [1, 1]}


class _Names(tuple[str, ...]):
    """Names that are not to be searched one by one."""

    def index(self, *_: object) -> int:
        raise AssertionError("a search for each name")


def test_columns_of_executions_are_looked_up() -> None:
    algorithm = permutation([2, 3, 1])
    made = executions(algorithm, "states", states=20)
    turned = Executions(made.before[:, ::-1], made.after[:, ::-1], _Names(made.names[::-1]))
    assert np.array_equal(executions_for(algorithm, Sample(turned)).before, made.before)


def test_a_name_that_claims_more_bits_than_there_are() -> None:
    with pytest.raises(InputError, match=r"'p'.*consecutive"):
        layout_of_names(["p[1]", "p[999999999,999999999]"])
    names = [f"z{number}" for number in range(100_000)]
    assert len(layout_of_names(names).fields) == 100_000
