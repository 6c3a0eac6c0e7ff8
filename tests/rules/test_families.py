"""Families: what one line of rules, or one call of a Builder, stands for survives in the program."""

from bitwright.rules import Builder, Program, parse, span

TEXT = """bits p[4] q[4] f
block f
block p[i] q[i] for i in 1..4
when p[i]=1 q[i]=0 write q[5-i] for i in 1..4 if i != 2
when p[i]=q[i] write f for i in 1..2
when f=1 write f
block p[4] for i in 1..0
"""


def by_name(program: Program) -> dict[str, tuple[int, int]]:
    of, index = program.block_families.of.tolist(), program.block_families.index.tolist()
    return {" ".join(program.block_names(block)): (of[block], index[block]) for block in range(program.blocks)}


def test_families_of_rule_text() -> None:
    program = parse(TEXT).program
    blocks, rules = program.block_families, program.rule_families
    assert by_name(program) == {"f": (0, 0), **{f"p[{i}] q[{i}]": (1, i - 1) for i in range(1, 5)}}
    assert blocks.labels == ("block f", "block p[i] q[i] for i in 1..4", "block p[4] for i in 1..0")
    assert blocks.places == ("line 2", "line 3", "line 7")
    assert blocks.sizes.tolist() == [1, 4, 0]
    found = {
        program.template_text(t): (rules.labels[rules.of[t]], rules.places[rules.of[t]], int(rules.index[t]))
        for t in range(program.templates)
    }
    first = "when p[i]=1 q[i]=0 write q[5-i] for i in 1..4 if i != 2"
    compared = "when p[i]=q[i] write f for i in 1..2"
    assert found == {
        "when p[1]=1 q[1]=0 write q[4]": (first, "line 4", 0),
        "when p[3]=1 q[3]=0 write q[2]": (first, "line 4", 1),
        "when p[4]=1 q[4]=0 write q[1]": (first, "line 4", 2),
        "when p[1]=0 q[1]=0 write f": (compared, "line 5", 0),
        "when p[1]=1 q[1]=1 write f": (compared, "line 5", 0),
        "when p[2]=0 q[2]=0 write f": (compared, "line 5", 1),
        "when p[2]=1 q[2]=1 write f": (compared, "line 5", 1),
        "when f=1 write f": ("when f=1 write f", "line 6", 0),
    }
    for family in range(len(rules)):
        members = rules.members(family)
        assert (rules.of[members] == family).all()
        assert rules.index[members].tolist() == list(range(len(members)))


def test_families_of_a_builder_are_its_calls() -> None:
    b = Builder()
    p, f = b.bits("p", 3), b.bit("f")
    b.block(f)
    b.block(p[4 - span(1, 3)])
    b.when(p[span(1, 3)] == 1).write(f)
    b.when(f == 1).write(p[:])
    program = b.build()
    assert by_name(program) == {"p[3]": (1, 0), "p[2]": (1, 1), "p[1]": (1, 2), "f": (0, 0)}
    assert program.block_families.labels == ("block f", "block p")
    assert program.rule_families.of.tolist() == [0, 0, 0, 1]
    assert program.rule_families.index.tolist() == [0, 1, 2, 0]
    assert all(place.startswith("test_families.py:") for place in program.rule_families.places)
    assert len(set(program.block_families.places)) == 2


def test_rows_that_add_up_are_one_member_of_their_family() -> None:
    text = "bits p[3] q[3]\nblock p[*]\nblock q[i] for i in 1..3\nwhen p[i]=1 write q[j] for i in 1..3, j in 1..i"
    program = parse(text).program
    rules = program.rule_families
    assert [program.template_text(t).partition(" write ")[2] for t in rules.members(0).tolist()] == [
        "q[1]",
        "q[1] q[2]",
        "q[1] q[2] q[3]",
    ]
    assert rules.index[rules.members(0)].tolist() == [0, 1, 2]  # without gaps, as whoever draws them expects
