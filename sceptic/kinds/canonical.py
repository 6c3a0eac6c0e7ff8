"""Writes a rule text at one size in the form of `bitwright show --text`, using only the standard library.

The other checkers read this form. In a proof for every length, the sha256 of bits, blocks and templates at one size
must equal the one in the certificate.
"""

import re

from kinds.expand import Expanded, every_row, name_of, number_of, pick
from kinds.rule_text import REFERENCE, clauses, expression, reference


def canonical(text, sizes):
    """Returns the text at these sizes, without its `ensure` lines."""
    program = Expanded(text, sizes)
    return "".join(f"{line}\n" for part in (rules, cells, ports, ends) for line in part(text, program))


def rules(_, program):
    """Yields bits, blocks by first bit, and templates by block and configuration, which determine the program's id."""
    for name, extents in program.shape.items():
        yield f"bits {name}" + (f"[{','.join(map(str, extents))}]" if extents else "")
    ordered = [sorted(block, key=program.place.get) for block in program.blocks]
    order = sorted(range(len(ordered)), key=lambda at: program.place[ordered[at][0]])
    for at in order:
        yield "block " + " ".join(map(name_of, ordered[at]))
    for at in order:
        value = {bit: 1 << i for i, bit in enumerate(ordered[at])}
        for on, (_, writes) in sorted(program.templates[at].items(), key=lambda item: sum(map(value.get, item[0]))):
            tests = " ".join(f"{name_of(bit)}={int(bit in on)}" for bit in ordered[at])
            yield f"when {tests} write {' '.join(map(name_of, sorted(writes, key=program.place.get))) or 'nothing'}"


def cells(_, program):
    for cell in program.cells if program.named else ():
        yield "cell " + " ".join(name_of(bit) for _, turn in program.blocks_of(cell) for bit in turn)


def bits_of(members, program, env):
    """Returns the bits of a number, most significant first."""
    found = []
    for member in re.findall(REFERENCE, members):
        name, parts = reference(member)
        whole = not parts and program.shape[name]
        bits = pick((name, (None,) if whole else parts), program.shape, env)
        if max(map(len, bits), default=0) > 2:
            raise ValueError(f"{name} has several indices and cannot be part of a number")
        found += bits[::-1]
    return found


def ports(text, program):
    """Yields inputs and outputs, each with its bits."""
    for word in ("input", "output"):
        for line in text.others[word]:
            signed = "signed " * line.startswith("signed ")
            named, equals, members = line.removeprefix(signed).partition("=")
            for name, its in [(named.strip(), members)] if equals else [(one, one) for one in named.split()]:
                bits = " ".join(map(name_of, bits_of(its, program, program.lets)))
                yield f"{word} {signed}{name} = {bits}"


def ends(text, program):
    """Yields the start and end of runs, and the invariants with the text's numbers replaced by their values."""
    started = []
    for line in text.others["start"]:
        body = re.split(r"\s(?=for\s|if\s)", line, maxsplit=1)[0]
        for env in every_row(clauses(line[len(body) :]), program.lets):
            members = [reference(one) for one in re.findall(REFERENCE, body)]
            started += [bit for member in members for bit in pick(member, program.shape, env)]
    if started:
        yield "start " + " ".join(map(name_of, sorted(started, key=program.place.get)))
    for line in text.others["steps"]:
        yield f"steps {number_of(expression(line), program.lets)}"
    for line in text.others["halt"]:
        what, _, bit = line.partition(" ")
        chosen = bit if what == "at" else name_of(*pick(reference(bit), program.shape, program.lets))
        yield f"halt {what} {chosen}"
    for line in text.others["invariant"]:
        yield "invariant " + with_values(line, program.lets)


def with_values(line, lets):
    """Replaces the text's numbers in a line by their values, and `mod` by `%`."""
    values = {name: f"({n})" if n < 0 else str(n) for name, n in lets.items()}
    line = re.sub(r"(?<!\w)mod(?!\w)", "%", line)
    return re.sub(r"(?<!\w)(?<!in\.)[A-Za-z_]\w*(?!\w|\[)", lambda found: values.get(found[0], found[0]), line)
