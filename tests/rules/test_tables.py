"""A program from plain tables is the program that the same rules give in any other form."""

from collections.abc import Callable

import pytest
from cases import for_each

from bitwright import InputError, Program, ProgramError, addition, multiplication
from bitwright.machines import Sizes, machine_b

BITS = ["p[1]", "p[2]", "flag"]
BLOCKS = [["p[1]", "p[2]"], ["flag"]]
TEMPLATES = [(0, 1, ["p[2]"]), (1, 1, ["flag"])]


@pytest.mark.parametrize(
    "program", [addition(3).program, multiplication(3).program, machine_b(Sizes(2, 2, 2)).program], ids=str
)
def test_the_tables_of_a_program_give_it_back(program: Program) -> None:
    names = program.layout.names
    by_name = [[names[bit] for bit in program.block_members(block)] for block in range(program.blocks)]
    by_number = [program.block_members(block)[::-1] for block in range(program.blocks)]
    templates, reversed_templates = [], []
    for t in range(program.templates):
        block, config = int(program.template_block[t]), int(program.template_config[t])
        values = [config >> place & 1 for place in range(len(by_name[block]))]
        templates.append((block, config, [names[bit] for bit in program.writes(t)]))
        backwards = sum(value << place for place, value in enumerate(values[::-1]))
        reversed_templates.append((block, backwards, program.writes(t)))
    assert Program.from_tables(names, by_name, templates) == program
    again = Program.from_tables(program.layout, by_number, reversed_templates[::-1])  # type: ignore[arg-type]
    assert again == program
    assert again.id == program.id
    assert again.rule_families.of.tolist() == list(range(program.templates))[::-1]
    assert again.rule_families.places[:2] == ("template 0", "template 1")


REFUSED: dict[str, Callable[[], object]] = {
    "template 0 has block 2, but blocks are numbered 0 to 1": lambda: make(templates=[(2, 0, [0])]),
    "configuration of template 0 must be between 0 and 3 for its block of 2 bits, got 4": lambda: make(
        templates=[(0, 4, [0])]
    ),
    "configuration of template 0 must be an integer, got [1]": lambda: make(templates=[(0, [1], [0])]),
    "template 0 must be (block, configuration, writes), got (0, 1)": lambda: make(templates=[(0, 1)]),
    "template 1 contains 'q', which is not a bit": lambda: make(templates=[(0, 1, [0]), (0, 2, ["q"])]),
    "block 1 contains 3, which is not a bit; use a name or a number below 3": lambda: make(blocks=[["flag"], [3]]),
    "'1p' cannot name a bit": lambda: make(bits=["1p"]),
    "the bits of 'p' must be consecutive": lambda: make(bits=["p[1]", "p[3]"]),
}


def make(**changes: object) -> Program:
    given: dict[str, object] = {"bits": BITS, "blocks": BLOCKS, "templates": TEMPLATES, **changes}
    return Program.from_tables(**given)  # type: ignore[arg-type]


@for_each(("message", "mistake"), REFUSED.items())
def test_mistakes_are_refused_in_one_line(message: str, mistake: Callable[[], object]) -> None:
    with pytest.raises(InputError) as refusal:
        mistake()
    assert message in str(refusal.value)
    assert "\n" not in str(refusal.value)


def test_all_problems_are_found_at_once() -> None:
    with pytest.raises(ProgramError) as refusal:
        make(blocks=[["p[1]", "p[1]"], ["flag"], ["flag"]], templates=[(1, 1, [2]), (1, 1, []), (1, 1, [0])])
    assert [str(problem) for problem in refusal.value.problems] == [
        "block 2: flag is in two blocks; block 1 also contains it",
        "block 0: p[1] is listed twice in one block",
        "template 1: this rule writes no bits",
        "p[2] is not in any block; add a 'block' for it",
    ]


def test_entries_of_a_table_do_not_add_up() -> None:
    with pytest.raises(ProgramError, match=r"flag=1.*'write'"):
        make(templates=[(1, 1, [0]), (1, 1, [1])])
