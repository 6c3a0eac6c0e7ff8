"""`bitwright infer`: templates from executions."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from bitwright.cli import options as opt
from bitwright.cli.progress import TerminalTeller
from bitwright.cli.reporting import print_json
from bitwright.cli.targets import Target
from bitwright.verbs.numbers import parse_values
from bitwright.verbs.open import SIZED

if TYPE_CHECKING:
    from bitwright import Executions


@opt.verb("infer")
@click.argument("traces", nargs=-1, required=True, metavar="TRACES...", type=opt.FILE)
def command(
    traces: tuple[Path, ...],
    target: str | None,
    bits: int | None,
    let: tuple[str, ...],
    output: Path | None,
    as_json: bool,
    **how: Any,
) -> int:
    """Recover templates from executions, and report which writes they confirm, exclude or leave open.

    \b
    bitwright export addition --from states:200 -o states.npz
    bitwright infer states.npz --blocks examples/addition.bw -o found.bw
    bitwright infer states.npz
    bitwright infer a.npz b.npz c.npz --line "output sum = c[l] p" -o found.bw
    bitwright infer l=5:a.npz l=6:b.npz l=7:c.npz -o found.bw
    """
    from bitwright.verbs.infer import check_output, infer, open_blocks

    lets = parse_values(let, "--let")
    if output is not None:
        check_output(output, ".bw")
    tell = TerminalTeller()
    with tell.working("reading"):
        executions = [_executions(str(path)) for path in traces]
    found: Any = infer(
        executions,
        Target(target, bits).algorithm() if target in SIZED else open_blocks(target, lets),
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


def _executions(path: str) -> Executions:
    """The executions in a file; `l=5:FILE` also gives their size."""
    from bitwright import Executions

    sized = re.fullmatch(r"([A-Za-z_][A-Za-z0-9_]*)=([0-9]{1,9}):(.+)", path)
    if sized is None:
        return Executions.load(path)
    return replace(Executions.load(sized[3]), lets={sized[1]: int(sized[2])})
