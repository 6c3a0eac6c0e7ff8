"""Inference of templates from executions."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from os import PathLike, fspath
from pathlib import Path
from typing import Any, overload

from bitwright.common.bits import shorten
from bitwright.common.errors import InputError, listing, option, problems_of, suggestion
from bitwright.common.files.executions import Executions, joined
from bitwright.common.files.storage import check_output as check_output
from bitwright.inference import Elimination, Evidence
from bitwright.inference.contradiction import find_contradiction
from bitwright.inference.find_blocks import find_blocks
from bitwright.inference.local_rule import LocalRule, infer_local_rule
from bitwright.inference.recovered import Recovered
from bitwright.rules import Algorithm, Layout, NodeProgram, Program
from bitwright.rules.given import as_algorithm
from bitwright.rules.tables import layout_of_names
from bitwright.rules.text import parse, parse_blocks
from bitwright.runs.progress import Progress
from bitwright.verbs.families import FamilyInference, infer_families
from bitwright.verbs.inference import Inference as Inference
from bitwright.verbs.inference import PathName
from bitwright.verbs.open import SIZED, open_program, subject
from bitwright.verbs.telling import Teller, teller

FIND = "find"
_OPEN = ("off", "on", "refuse")
One = Executions | PathName | Sequence[PathName]
Given = One | Mapping[int, One]
Blocks = PathName | Algorithm | Program | Sequence[Sequence[str]]


@overload
def infer(executions: Mapping[int, One], blocks: Blocks | None = None, **more: Any) -> FamilyInference: ...


@overload
def infer(executions: One, blocks: Blocks | None = None, *, grid: None = None, **more: Any) -> Inference: ...


@overload
def infer(executions: One, *, grid: tuple[int, int], **more: Any) -> LocalRule: ...


def infer(  # type: ignore[misc]
    executions: Given,
    blocks: Blocks | None = None,
    *,
    grid: tuple[int, int] | None = None,
    neighbourhood: str | None = None,
    undetermined: str = "off",
    against: Algorithm | Program | PathName | None = None,
    lets: Mapping[str, int] | None = None,
    let: str | None = None,
    lines: str | Sequence[str] = (),
    coefficients: int | None = None,
    offsets: int | None = None,
    seconds: float | None = None,
    progress: Teller | Progress | bool | None = None,
) -> Inference | LocalRule | FamilyInference:
    """Recovers templates from executions, or from their .npz files: which writes they confirm, exclude, or leave open.

    `blocks` says which bits are read together: those of an algorithm, of a rule file (.bw, with `lets` for its `let`
    lines), a text such as "p[1] q[1]; c[1]", or lists of names; `find`, the default, looks for the smallest that
    explain the executions. Writes that stay `undetermined` are `off` or `on`, or a reason to `refuse`. The result is
    compared with the program `against`.

    With a `grid` of rows and columns, such as (16, 16), states are boards of a cellular automaton on a torus, row by
    row, and the result is the rule of one cell. Its `neighbourhood` is moore (the default), von-neumann or line.

    Executions by size, such as {5: a, 6: b, 7: c}, or files that carry different sizes, give a program for every size.
    `let` is the name of the size, by default that of the files, or l. `lines` are added to the rules. Indices are
    `a*i+b*l+c`, where `|a|` is at most `coefficients` and `|c|` at most `offsets`: by default the smallest class in
    which one fits. Blocks, and then the shortest text, are looked for at most `seconds` each; by default there is no
    limit for blocks, and 60 for the text.

    >>> from bitwright import addition, executions
    >>> states = executions(addition(2), "states", states=300)
    >>> infer(states, "p[i] q[i] for i in 1..2; c[1]; c[2]").program().templates
    8
    """
    tell = teller(progress)
    sized = _sized(executions, let, tell)
    families: dict[str, Any] = {"coefficients": coefficients, "offsets": offsets, "seconds": seconds}
    if sized is not None:
        if grid is not None or neighbourhood is not None or against is not None or undetermined != "off" or lets:
            unfit = [option(name) for name in ("grid", "neighbourhood", "against", "undetermined", "let")]
            raise InputError(f"{', '.join(unfit)} do not go with executions of several sizes")
        name, by_size = sized
        with tell.working("looking for families, choices of blocks", at_most=True) as told:
            chosen_by_size = _blocks_by_size(blocks, by_size, name)
            return infer_families(by_size, chosen_by_size, name, lines, progress=told, **families)
    assert not isinstance(executions, Mapping)
    families |= {"let": let, "lines": lines or None}
    if (unfit_one := next((name for name, given in families.items() if given is not None), None)) is not None:
        raise InputError(f"{option(unfit_one)} goes with executions of several sizes, such as l=5:a.npz l=6:b.npz")
    if undetermined not in _OPEN:
        raise InputError(f"{option('undetermined')} is off, on or refuse, got '{shorten(str(undetermined))}'")
    if grid is None and neighbourhood is not None:
        raise InputError(f"{option('neighbourhood')} goes with {option('grid')}")
    if grid is not None:
        if blocks is not None or against is not None or undetermined != "off":
            raise InputError(
                f"{option('blocks')}, {option('against')} and {option('undetermined')} do not go with {option('grid')}"
            )
        size = _grid(grid)
        held = _loaded(executions, tell)
        with tell.working("counting configurations"):
            return infer_local_rule(held, *size, neighbourhood or "moore")
    held = _loaded(executions, tell)
    layout = layout_of_names(held.names)
    other = None if against is None else _other(against, layout)
    given, chosen = _blocks(FIND if blocks is None else blocks, layout, lets or {})
    what = "looking for blocks, looks" if chosen is None else "comparing executions"
    with tell.working(what, at_most=chosen is None) as told:
        search = find_blocks(held, progress=told) if chosen is None else None
        found = Inference(held, given, search, None, None, undetermined)  # type: ignore[arg-type]
        if search is not None:
            chosen = search.blocks
        if chosen is None:
            return found
        if (contradiction := find_contradiction(Elimination(Evidence(held), chosen))) is not None:
            return replace(found, contradiction=contradiction)
        found = replace(found, recovered=Recovered(held, layout, chosen))
        return found if other is None else replace(found, comparison=found.compare(other))


def _blocks_by_size(
    asked: Blocks | None, by_size: Mapping[int, Executions], let: str
) -> dict[int, list[list[int]]] | None:
    """The blocks asked for at each size; None to search for them."""
    found = {
        size: _blocks(FIND if asked is None else asked, layout_of_names(one.names), {let: size})[1]
        for size, one in by_size.items()
    }
    known = {size: blocks for size, blocks in found.items() if blocks is not None}
    return known if len(known) == len(found) else None


def _sized(given: Given, let: str | None, tell: Teller) -> tuple[str, dict[int, Executions]] | None:
    """The name of the size, and the executions of each; None where they are of one size."""
    if not isinstance(let, str | None):
        raise InputError(f"{option('let')} is the name of the size, a str such as 'l', got {shorten(repr(let))}")
    if isinstance(given, Mapping):
        by_size = {size: _loaded(one, tell, f" at size {size}") for size, one in given.items()}
        carried = {name for one in by_size.values() for name in one.lets}
        return let or (carried.pop() if len(carried) == 1 else "l"), by_size
    if not isinstance(given, list | tuple):
        return None
    named = _path_sizes(given)
    if named is not None:
        return named[0], {size: _loaded(files, tell) for size, files in named[1].items()}
    if len(given) < 2 or any(not isinstance(path, str | PathLike) for path in given):
        return None
    files = [(fspath(path), Executions.load(path)) for path in given]
    grown = _carried_size([one.lets for _, one in files])
    if grown is None:
        return None
    parts: dict[int, list[tuple[str, Executions]]] = {}
    for path, one in files:
        parts.setdefault(one.lets[grown], []).append((path, one))
    return grown, {size: joined(those) for size, those in parts.items()}


def _carried_size(lets: Sequence[Mapping[str, int]]) -> str | None:
    """The name of the size in which these files differ; None if they have one size, or carry none."""
    differ = sorted(name for name in lets[0] if len({one.get(name) for one in lets}) > 1)
    if not differ or any(one.keys() != lets[0].keys() for one in lets):
        return None
    if len(differ) > 1:
        raise InputError(
            f"the files differ in {listing(differ)}; one number may grow, so give files of the same others"
        )
    return differ[0]


def _path_sizes(given: Sequence[object]) -> tuple[str, dict[int, list[Path]]] | None:
    """The name of the size, and the files at each size, of arguments such as l=5:a.npz; None without sizes."""
    found = [re.fullmatch(r"([A-Za-z_][A-Za-z0-9_]*)=([0-9]{1,9}):(.+)", str(one)) for one in given]
    if not any(found):
        return None
    files: dict[int, list[Path]] = {}
    names = set()
    for one, match in zip(given, found, strict=True):
        if match is None:
            raise InputError(f"give the size of every file, such as l=5:{one}, or of none")
        path = Path(match[3])
        if any(path.resolve() == other.resolve() for others in files.values() for other in others):
            raise InputError(f"{path} is given twice; every file has executions of one size")
        names.add(match[1])
        files.setdefault(int(match[2]), []).append(path)
    if len(names) > 1:
        raise InputError(f"all sizes have one name, got {listing(sorted(names))}")
    return names.pop(), files


def _loaded(given: One, tell: Teller, of: str = "") -> Executions:
    if isinstance(given, Executions):
        if not len(given):
            raise InputError(f"the executions{of} hold no states; give at least one")
        return given
    paths: list[Any] = list(given) if isinstance(given, list | tuple) else [given]
    if not paths:
        raise InputError("give at least one .npz file of executions")
    for path in paths:
        if isinstance(path, Executions):
            raise InputError("executions of several sizes are given by size, such as {5: small, 6: large}, got a list")
        if not isinstance(path, str | PathLike):
            raise InputError(f"give executions, or the .npz file that holds some, got a {type(path).__name__}")
    with tell.working("reading"):
        return joined([(fspath(path), Executions.load(path)) for path in paths])


def _grid(given: object) -> tuple[int, int]:
    """Rows and columns, as two numbers or as text."""
    text = "x".join(map(str, given)) if isinstance(given, list | tuple) else str(given)
    found = re.fullmatch(r"([0-9]{1,5})x([0-9]{1,5})", text, re.ASCII)
    if found is None:
        raise InputError(f"{option('grid')} takes rows and columns such as 16x16, got '{shorten(text)}'")
    return int(found[1]), int(found[2])


def _other(against: Algorithm | Program | PathName, layout: Layout) -> Algorithm:
    found = open_program(against) if isinstance(against, str | PathLike) else subject(against)
    name = fspath(against) if isinstance(against, str | PathLike) else found.name
    if isinstance(found, NodeProgram):
        raise InputError(f"{name} is a node program; give one of bits, such as what.on(graph)")
    _check_same_bits(found.program.layout, layout, name)
    return found


def _check_same_bits(wanted: Layout, layout: Layout, name: str) -> None:
    """Raises InputError for a program of other bits than executions have."""
    if wanted != layout:
        shown, has = (" ".join(map(str, one.fields[:8])) for one in (wanted, layout))
        raise InputError(
            f"{name} has other bits than the executions: {shown}, and they have {has}; give the size that they are of"
        )


def _blocks(asked: Blocks, layout: Layout, lets: Mapping[str, int]) -> tuple[Algorithm | None, list[list[int]] | None]:
    """The blocks asked for, with the algorithm that has them; None to search for them."""
    text = fspath(asked) if isinstance(asked, str | PathLike) else ""
    if text == FIND:
        return None, None
    if isinstance(asked, str | PathLike):
        if text in SIZED:
            asked = open_program(text)  # type: ignore[assignment]
        elif text.lower().endswith(".bw"):
            from bitwright.rules.text.files import read_text

            with problems_of(text):
                asked = parse(read_text(Path(text)), Path(text).stem, lets, needs_rules=False)
        elif re.search(r"[\s;\[]", text) or text in layout:
            return None, parse_blocks(layout, text)
        else:
            hint = suggestion(text, [FIND, *SIZED])
            raise InputError(
                f"{option('blocks')} takes a .bw file, a name, blocks as text, or find, got '{shorten(text)}'{hint}"
            )
    if isinstance(asked, Algorithm | Program):
        algorithm = as_algorithm(asked)
        program = algorithm.program
        _check_same_bits(program.layout, layout, text or algorithm.name)
        return algorithm, [program.block_members(block).tolist() for block in range(program.blocks)]
    if not isinstance(asked, list | tuple) or not all(isinstance(block, list | tuple) for block in asked):
        raise InputError(
            f"blocks are an algorithm, a .bw file, a text, lists of names, or 'find', got a {type(asked).__name__}"
        )
    return None, parse_blocks(layout, "; ".join(" ".join(map(str, block)) for block in asked))
