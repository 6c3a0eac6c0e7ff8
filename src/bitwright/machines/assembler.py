"""SBN assembly text to a Code; docs/sbn.md has the grammar.

Text is read (assembler_syntax), macros are expanded (assembler_expand), names get their meaning (assembler_names,
assembler_words), and here every operation becomes instructions. Nothing stops at the first problem: all of them are
raised together.
"""

from __future__ import annotations

import re
from itertools import accumulate
from pathlib import Path

from bitwright.bits import printable
from bitwright.errors import Problem, ProgramError
from bitwright.machines.assembler_expand import expand
from bitwright.machines.assembler_names import Names, size_of
from bitwright.machines.assembler_syntax import OPERATIONS, Operand, Role, Statement, read
from bitwright.machines.assembler_text import END_OF_PROGRAM, Kind, Problems, TooManyProblemsError
from bitwright.machines.assembler_words import Words
from bitwright.machines.sbn import Code, Instruction
from bitwright.program.text.files import read_text

MAX_INSTRUCTIONS = 65_536


def load_sbn(path: str | Path) -> Code:
    """The code in a .sbn file; raises InputError for the file, ProgramError for what it says."""
    path = Path(path)
    try:
        return assemble(read_text(path, ".sbn"), path.stem)
    except ProgramError as error:
        raise ProgramError(error.problems, printable(str(path))) from None


def assemble(text: str, name: str = "program") -> Code:
    """The code that an assembly text describes; raises ProgramError with every problem, by line and column.

    >>> assemble("loop: dec n" + chr(10) + "jneg n halt" + chr(10) + "jmp loop").sizes
    Sizes(instructions=3, words=4, width=8)
    """
    problems = Problems()
    try:
        code = _assembled(text, name, problems)
    except TooManyProblemsError:
        code = None
    if code is None:
        raise problems.error(name)
    return code


def _assembled(text: str, name: str, problems: Problems) -> Code | None:
    source = read(text, problems)
    items = expand(source, problems)
    statements = [item for item in items if isinstance(item, Statement)]
    names = Names(source, items, problems)
    if not _right_size(statements, names.instructions, problems):
        return None
    words = Words(names, problems)
    instructions: list[Instruction] = []
    for statement in statements:
        instructions += _instructions(statement, len(instructions), words)
    ends = accumulate((size_of(statement) for statement in statements), initial=0)
    for statement, at in zip(statements, ends, strict=False):  # once it is known which names are words
        target = _target(statement, words)
        if target is not None:
            instructions[at] = Instruction(instructions[at].a, instructions[at].b, target)
    inputs, outputs = (words.ports(source.declarations, directive) for directive in (".in", ".out"))
    exported = words.exported()
    if problems:
        return None
    return Code(
        instructions=tuple(instructions),
        words=tuple(words.values),
        width=names.width,
        names=exported,
        inputs=inputs,
        outputs=outputs,
        labels={label: at for label, at in names.labels.items() if label != END_OF_PROGRAM and label[0] != "@"},
        name=name,
        description=_opening_comment(text),
    )


def _right_size(statements: list[Statement], instructions: int, problems: Problems) -> bool:
    if not statements and not problems:
        problems.add(Problem(1, 1, "there is no instruction; add a line such as: sbn a b"))
    if instructions > MAX_INSTRUCTIONS:
        ends = accumulate(size_of(statement) for statement in statements)
        first = next(statement for statement, end in zip(statements, ends, strict=True) if end > MAX_INSTRUCTIONS)
        problems.at(first.operation, f"a program has at most {MAX_INSTRUCTIONS:,} instructions, got {instructions:,}")
    return instructions <= MAX_INSTRUCTIONS


def _instructions(statement: Statement, address: int, words: Words) -> list[Instruction]:
    """What an operation becomes, each instruction going to the next one."""
    operation = statement.operation
    roles = OPERATIONS[operation.text]
    operands = [(operand, role) for operand, role in zip(statement.operands, roles, strict=False)]
    if operation.text in ("mov", "add"):
        pairs = _moved(statement, words)
    elif operation.text in ("jmp", "halt"):  # -1 - 0 is negative, and stays -1
        pairs = [(words.constant(0, operation), words.constant(-1, operation))]
    else:
        given = [words.of(operand, role) for operand, role in operands if role is not Role.TARGET]
        match operation.text:
            case "clr":
                given *= 2
            case "jneg":
                given.insert(0, words.constant(0, operation))
            case "inc":
                given.insert(0, words.constant(-1, operation))
            case "dec":
                given.insert(0, words.constant(1, operation))
        pairs = [(given[0], given[1])]
    return [Instruction(a, b, address + at) for at, (a, b) in enumerate(pairs, start=1)]


def _moved(statement: Statement, words: Words) -> list[tuple[int, int]]:
    """mov and add subtract the negative: another constant, or made in the scratch word."""
    source, destination = statement.operands
    constant = source.kind is Kind.CONSTANT
    a = words.negative(source) if constant else words.of(source, Role.READ)
    b = words.of(destination, Role.WRITE)
    emptied = [(b, b)] if statement.operation.text == "mov" else []
    if constant:
        return [*emptied, (a, b)]
    scratch = words.scratch(statement.operation)
    return [(a, scratch), *emptied, (scratch, b), (scratch, scratch)]


def _target(statement: Statement, words: Words) -> int | None:
    """Where an operation goes to if its result is negative; None for the next instruction."""
    roles = OPERATIONS[statement.operation.text]
    if statement.operation.text == END_OF_PROGRAM:
        return words.names.instructions
    if Role.TARGET not in roles or len(statement.operands) < len(roles):
        return None
    return _address(statement.operands[-1], words)


def _address(operand: Operand, words: Words) -> int | None:
    """The address that a label or a number means; None, with a problem, where it means none."""
    names, problems = words.names, words.problems
    if operand.kind is Kind.NAME:
        if operand.key in names.labels:
            return names.labels[operand.key]
        shown = operand.body
        hint = problems.hint(shown, (label for label in names.labels if "." not in label))
        what, place = names.declared.get(operand.key, ("a word" if operand.key in words.addresses else "", None))
        if what:
            line = f" (line {place.line})" if place else ""
            problems.at(operand.token, f"a label is needed here, but '{shown}' is {what}{line}{hint}")
        elif shown not in names.excused:
            advice = hint or f"; put '{shown}:' before an instruction"
            problems.at(operand.token, f"unknown label '{shown}'{advice}")
        return None
    if operand.kind is Kind.CONSTANT:
        problems.at(operand.token, f"a label is needed here, found {operand.token}; labels have no '#'")
        return None
    value, most = names.number(operand), 2 ** max(1, names.instructions.bit_length()) - 1
    if value is not None and not 0 <= value <= most:
        problems.at(operand.token, f"an address of this program lies between 0 and {most:,}, got {operand.token}")
    return value


def _opening_comment(text: str) -> str:
    """The comment lines at the top of a text, as one paragraph."""
    block = re.match(r"(?:[ \t]*;[^\n]*\n?)*", text)
    lines = block.group().splitlines() if block else []
    return " ".join(line.strip().lstrip(";").strip() for line in lines).strip()
