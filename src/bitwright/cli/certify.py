"""`bitwright certify`: a proof that the limit, or a network, runs a program exactly, or a state it gets wrong."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from bitwright.cli import options as opt
from bitwright.cli.progress import TerminalTeller, is_quiet
from bitwright.cli.reporting import print_json, print_result
from bitwright.cli.targets import Target, keep_sizes, option_words
from bitwright.cli.tasks import BESIDE, certify_task, is_task
from bitwright.common.errors import InputError, ProofError

if TYPE_CHECKING:
    from bitwright.verbs.certificates import Certificate, StateReport


@opt.verb("certify")
@opt.program()
@opt.rounding
@opt.matches
@opt.padding
@click.option(
    "--output", "-o", type=opt.FILE, help="Write the certificate to this file; for a .task, FILE.html is a page."
)
@click.option(
    "--check",
    type=opt.FILE,
    is_flag=False,
    flag_value=str(BESIDE),
    help="Check this certificate file against the program; without a name, the one next to the network.",
)
@click.option(
    "--network",
    type=opt.FILE,
    help="Prove this network, ours or an ONNX file, instead of the limit; with a .task, this decoder.",
)
@click.option("--reads", help="Of an ONNX file: what its columns are, states, templates or cells, if several fit.")
@click.option(
    "--threshold", type=float, help="Of an ONNX file: a bit is on where its output is above this.  [default: 0.5]"
)
@click.option("--oracle", type=opt.FILE, help="An ONNX file that says what is right, not the rules.")
@click.option(
    "--domain",
    help="With --network: states (the default), runs (of all inputs), or cells, which is the default and the only one "
    "for a network of cells.",
)
@click.option(
    "--state", metavar="BITS", help="With --network: look at the state with these bits on, none, or of cells kind2."
)
@opt.sizes
@opt.tile
@opt.device
@opt.workers
@opt.resume
@click.option("--function", is_flag=True, help="Prove what the code of a machine computes, too; rule texts always are.")
@opt.seconds
@click.option("--measure", is_flag=True, help="For a .task: also find the smallest margin, or count the wrong inputs.")
@click.option("--yes", is_flag=True, help="Go on even if the proof will take longer than 10 minutes.")
@opt.json
@opt.quiet
def command(
    target: Target,
    output: Path | None,
    check: Path | None,
    network: Path | None,
    reads: str | None,
    threshold: float | None,
    oracle: Path | None,
    as_json: bool,
    **how: Any,
) -> int:
    """Prove a trained network (--network FILE), or without one the limit of ever wider networks.

    With --network FILE the proof is of that very network: every state of a domain is tried, in exact arithmetic.
    Without it the proof is of the limit, the mean of infinitely wide networks, and says nothing of any one network.

    If the program has an ensure line, what its rules compute is proved too: at every size if possible, else at the
    sizes looked at. A network of cells is proved at every size if the rule text allows it (--sizes all).

    With a task (.task) the network is a transformer: it is proved on every input, or refuted by one.

    \b
    bitwright certify examples/transformers/adder.task --network examples/transformers/adder.safetensors

    The network may be one of your own, in ONNX: it is proved if its arithmetic is known, else tested in every state.

    The verdict is that of the weakest link: certified, refuted (an input or a state that comes out wrong is shown),
    tested or not proved. Exit 1 unless it is certified; with --check also if the file claims anything that does not
    hold.
    """
    from bitwright import Model
    from bitwright.transformers.files import is_decoder_file
    from bitwright.verbs.certificates import Certificate, StateReport, check_writable
    from bitwright.verbs.certify import certify
    from bitwright.verbs.network import load_networks

    if is_task(target.name):
        return certify_task(Path(target.name), network, output, check, as_json, how)
    if network is not None and is_decoder_file(network):
        raise InputError(
            f"{network} is a decoder, which is proved for a task: bitwright certify X.task --network {network}"
        )
    opt.refuse("goes with tasks of transformers (.task)", "seconds", "measure")
    del how["seconds"], how["measure"]
    if output is not None and output.suffix != ".json":
        raise InputError(f"-o takes a .json file, got {output}")
    if how["state"] is not None:
        opt.refuse("does not go with --state, which looks at one state", "output", "check", "domain", "resume")
    if check is not None:
        again = "does not go with --check, which does all of it again as the file says"
        opt.refuse(again, "rounding", "n", "padding", "domain", "output", "resume")
    if check == BESIDE:
        if network is None:
            raise InputError("--check without a name looks next to a network; give --network, or the certificate file")
        check = network
    claimed = None if check is None else Certificate.load(check)
    held: list[Any] = []
    if network is not None and network.suffix.lower() == ".onnx":
        held = [Model(network, reads, 0.5 if threshold is None else threshold)]  # type: ignore[arg-type]
    else:
        opt.refuse("goes with an ONNX file, --network MODEL.onnx", "reads", "threshold")
        held = [] if network is None else load_networks(network)
        if len(held) > 1:
            raise InputError(f"{network} holds several networks; quantize them into one, which can be proved")
    model, how["oracle"] = held[0] if held else None, None if oracle is None else Model(oracle)
    tiled = how["tile"] not in (None, "all")
    by_cells = tiled or how["sizes"] is not None if network is None else getattr(held[0], "cells", True)
    algorithm = target.algorithm(networks=held, cells=by_cells)
    if claimed is not None and tiled and not claimed.cells:
        raise InputError(f"{check} is a certificate of whole states; leave out --tile {how['tile']}")
    how["sizes"], tell = keep_sizes(how["sizes"], target.lets), TerminalTeller()
    kept = how["resume"]
    try:
        found: Certificate | StateReport
        if claimed is not None:
            same = {name: how[name] for name in ("tile", "device", "workers", "yes", "oracle")}
            found = claimed.check(algorithm, model, sizes=how["sizes"] or claimed.sizes, progress=tell, **same)
        else:
            if output is not None:
                check_writable(output)
                if network is not None:
                    kept = kept or output.with_name(output.name + ".part")
            found = certify(algorithm, model, **how | {"resume": kept, "progress": tell})
    except ProofError as error:
        if as_json:
            print_json(error.to_dict())
        else:
            click.echo("does not hold" if is_quiet() else f"DOES NOT HOLD: {error}")
        return 1
    except KeyboardInterrupt:
        if kept is not None:
            tell.note(f"what is done so far is in {kept}; the same command goes on from there")
        raise
    if output is not None and isinstance(found, Certificate):
        found.save(output)
        tell.note(f"wrote {output}")
        if kept is not None and how["resume"] is None:
            kept.unlink(missing_ok=True)
    if as_json or isinstance(found, StateReport):
        print_result(found, as_json)
    elif is_quiet():
        click.echo(found.sentence)
    else:
        see = ""
        if found.shown_by:
            sizes = target.let_words() if found.sizes is None else ["--sizes", found.sizes]
            given: dict[str, object] = {"machine": target.machine, "network": network}
            given |= {"reads": reads, "threshold": threshold, "oracle": oracle}
            words = [target.name, *sizes, *option_words(given), "--state", found.shown_by]
            see = f"bitwright certify {shlex.join(words)}"
        click.echo("\n".join(found.report(see)))
    return 0 if found else 1
