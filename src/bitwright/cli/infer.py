"""`bitwright infer`: templates from executions."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from bitwright.cli import options as opt
from bitwright.cli.progress import TerminalTeller
from bitwright.cli.reporting import print_json
from bitwright.cli.targets import Target, lets_for
from bitwright.verbs.open import SIZED

_GRID = "grid:"  # before the size of boards


@opt.verb("infer")
@click.argument("traces", nargs=-1, required=True, metavar="TRACES...", type=opt.FILE)
def command(
    traces: tuple[Path, ...],
    target: str | None,
    bits: int | None,
    let: tuple[str, ...],
    output: Path | None,
    against: str | None,
    as_json: bool,
    **how: Any,
) -> int:
    """Recover templates from executions: which writes they confirm, exclude, or leave open.

    \b
    bitwright export addition --from states:200 -o states.npz
    bitwright infer states.npz --blocks examples/addition.bw -o found.bw
    bitwright infer states.npz
    bitwright infer boards.npz --blocks grid:16x16 -o life.bw
    bitwright infer a.npz b.npz c.npz --line "output sum = c[l] p" -o found.bw
    bitwright infer l=5:a.npz l=6:b.npz l=7:c.npz -o found.bw
    """
    from bitwright.verbs.infer import check_output, infer

    grid: Any = None  # text is read there
    if target is not None and target.startswith(_GRID):
        grid, target = target.removeprefix(_GRID), None
    lets = lets_for(target, let)
    if output is not None:
        check_output(output, ".bw")
    tell = TerminalTeller()
    found: Any = infer(
        traces,
        Target(target, bits).algorithm() if target in SIZED else target,
        grid=grid,
        against=None if against is None else Target(against, bits if against in SIZED else None, lets=lets).algorithm(),
        lets=lets,
        progress=tell,
        **how,
    )
    written = output if found.inferred else None
    if written is not None:
        found.save(written)
    if as_json:
        print_json(found.to_dict() | {"file": None if written is None else str(written)})
    else:
        click.echo(str(found))
        if written is not None:
            tell.note(f"wrote {written}")
    return 0 if found else 1
