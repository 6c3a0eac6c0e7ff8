"""Recovers rules from executions, for one size or for every size."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, overload

from bitwright.common.bits import shorten
from bitwright.common.errors import InputError, listing, option, problems_of, suggestion
from bitwright.common.files.executions import Executions, joined
from bitwright.common.files.storage import check_output as check_output
from bitwright.inference import Elimination, Evidence
from bitwright.inference.contradiction import find_contradiction
from bitwright.inference.find_blocks import find_blocks
from bitwright.inference.recovered import Recovered
from bitwright.rules import Algorithm, Layout, Program
from bitwright.rules.tables import layout_of_names
from bitwright.rules.text import RuleText, parse_blocks
from bitwright.rules.text.files import read_text
from bitwright.runs.progress import Progress
from bitwright.verbs.families import FamilyInference, infer_families
from bitwright.verbs.inference import Inference as Inference
from bitwright.verbs.open import as_algorithm
from bitwright.verbs.progress import Teller, teller

FIND = "find"
Blocks = Algorithm | Program | RuleText | str | Sequence[Sequence[str]]


def open_blocks(target: str | None, lets: Mapping[str, int]) -> Algorithm | RuleText | str:
    """The blocks of the rule file that a target names, with these values of its `let` lines; or the target, as text."""
    if target is None or not target.lower().endswith(".bw"):
        return target or FIND
    rules = RuleText.of(read_text(Path(target)))
    with problems_of(target):
        return rules.at(lets, Path(target).stem, needs_rules=False) if lets else rules


@overload
def infer(executions: Executions, blocks: Blocks = "find") -> Inference: ...


@overload
def infer(
    executions: Mapping[int, Executions],
    blocks: Blocks = "find",
    *,
    let: str | None = None,
    lines: Sequence[str] = (),
    seconds: float | None = None,
    progress: Teller | Progress | bool | None = None,
) -> FamilyInference: ...


@overload
def infer(
    executions: Executions | Sequence[Executions] | Mapping[int, Executions],
    blocks: Blocks = "find",
    *,
    let: str | None = None,
    lines: Sequence[str] = (),
    seconds: float | None = None,
    progress: Teller | Progress | bool | None = None,
) -> Inference | FamilyInference: ...


def infer(
    executions: Executions | Sequence[Executions] | Mapping[int, Executions],
    blocks: Blocks = "find",
    *,
    let: str | None = None,
    lines: Sequence[str] = (),
    seconds: float | None = None,
    progress: Teller | Progress | bool | None = None,
) -> Inference | FamilyInference:
    """Recovers rules from executions: which writes they confirm, exclude, or leave open.

    Executions of several sizes give a program for every size. Its indices are `a*i+b*l+c`, in the smallest class of
    such indices in which a program fits.

    Args:
        executions: states with their successors (`Executions.load` reads a file), several of these, or a dictionary
            with those of each size, such as `{5: five, 6: six}`. Executions made by bitwright carry their size.
        blocks: the bits that are read together: the blocks of a program or of a rule text, a text such as
            `"p[1] q[1]; c[1]"`, or lists of names. `find` searches for the smallest that explain the executions.
        let: the name of the size, by default the one that the executions carry, or `l`.
        lines: rule text added to the program for every size, such as `output sum = c[l] p`.
        seconds: the time allowed for the search for blocks, and then for the shortest text. The default is no limit for
            the blocks and 60 seconds for the text.
        progress: True, or a function that is called with what is done and how much there is.

    >>> from bitwright import addition, executions
    >>> states = executions(addition(2), "states", states=300)
    >>> infer(states, "p[i] q[i] for i in 1..2; c[1]; c[2]").program().templates
    8
    """
    tell = teller(progress)
    name, by_size = _by_size(executions, let)
    if name is not None:
        with tell.working("looking for families, choices of blocks", at_most=True) as report:
            layouts = {size: layout_of_names(one.names) for size, one in by_size.items()}
            chosen = {size: _blocks(blocks, layout, {name: size})[1] for size, layout in layouts.items()}
            known = {size: those for size, those in chosen.items() if those is not None}
            return infer_families(by_size, known or None, name, lines, seconds=seconds, progress=report)
    for setting, value in {"let": let, "line": lines or None, "seconds": seconds}.items():
        if value is not None:
            raise InputError(f"{option(setting)} goes with executions of several sizes, such as l=5:a.npz l=6:b.npz")
    return _infer_one_size(by_size[0], blocks, tell)


def _infer_one_size(executions: Executions, blocks: Blocks, tell: Teller) -> Inference:
    layout = layout_of_names(executions.names)
    given, chosen = _blocks(blocks, layout, {})
    with tell.working(
        "looking for blocks, looks" if chosen is None else "comparing executions", at_most=chosen is None
    ) as report:
        search = find_blocks(executions, progress=report) if chosen is None else None
        chosen = search.blocks if search else chosen
        if chosen is None:
            return Inference(executions, given, search)
        if (contradiction := find_contradiction(Elimination(Evidence(executions), chosen))) is not None:
            return Inference(executions, given, search, contradiction)
        return Inference(executions, given, search, None, Recovered(executions, layout, chosen))


def _by_size(
    executions: Executions | Sequence[Executions] | Mapping[int, Executions], let: str | None
) -> tuple[str | None, dict[int, Executions]]:
    """The name of the size, and the executions at each; no name, and all of them at 0, where they have one size."""
    if not isinstance(let, str | None):
        raise InputError(f"{option('let')} is the name of the size, a str such as 'l', got {shorten(repr(let))}")
    given: Any = executions.values() if isinstance(executions, Mapping) else executions
    several: list[Executions] = list(given) if isinstance(executions, Mapping | list | tuple) else [given]
    for number, one in enumerate(several, 1):
        if not isinstance(one, Executions):
            raise InputError(f"give executions; Executions.load(path) reads a .npz file of some, got {_got(one)}")
        if not len(one):
            raise InputError(f"executions number {number} hold no states; give at least one")
    if isinstance(executions, Mapping):
        carried = {name for one in several for name in one.lets}
        return let or (carried.pop() if len(carried) == 1 else "l"), dict(executions)
    if not several:
        raise InputError("give executions, at least one .npz file of them")
    differ = sorted(name for name in several[0].lets if len({one.lets.get(name) for one in several}) > 1)
    if len(differ) > 1:
        raise InputError(f"the executions differ in {listing(differ)}; only one number may grow, the others must agree")
    parts: dict[int, list[tuple[str, Executions]]] = {}
    for number, one in enumerate(several, 1):
        if differ and one.lets.keys() != several[0].lets.keys():
            raise InputError("give the size of every file, such as l=5:a.npz, or of none")
        parts.setdefault(one.lets[differ[0]] if differ else 0, []).append((f"number {number}", one))
    return (let or differ[0]) if differ else None, {size: joined(those) for size, those in parts.items()}


def _blocks(blocks: Blocks, layout: Layout, lets: Mapping[str, int]) -> tuple[Algorithm | None, list[list[int]] | None]:
    """The blocks, with the algorithm that has them; None to search for them."""
    if isinstance(blocks, Algorithm) and lets and blocks.sizing is not None and blocks.sizing.text is not None:
        blocks = RuleText.of(blocks.sizing.text)
    if isinstance(blocks, RuleText):
        blocks = blocks.at(lets, "the file of blocks", needs_rules=False)
    if isinstance(blocks, Algorithm | Program):
        program = (algorithm := as_algorithm(blocks)).program
        if program.layout != layout:
            shown, has = (" ".join(map(str, one.fields[:8])) for one in (program.layout, layout))
            raise InputError(
                f"{algorithm.name} has other bits than the executions: {shown}, and they have {has}; give the size "
                "that they are of"
            )
        return algorithm, [program.block_members(block).tolist() for block in range(program.blocks)]
    if isinstance(blocks, str):
        if blocks == FIND:
            return None, None
        if not (set(blocks) & set(" ;[\n")) and blocks not in layout:
            raise InputError(
                f"{option('blocks')} takes a .bw file, a name, blocks as text, or find, got '{shorten(blocks)}'"
                f"{suggestion(blocks, [FIND])}"
            )
        return None, parse_blocks(layout, blocks)
    if not isinstance(blocks, list | tuple) or not all(isinstance(block, list | tuple) for block in blocks):
        raise InputError(f"blocks are an algorithm, a rule text, a text, lists of names, or 'find', got {_got(blocks)}")
    return None, parse_blocks(layout, "; ".join(" ".join(map(str, block)) for block in blocks))


def _got(value: object) -> str:
    return f"a {type(value).__name__}"
