"""`bitwright certify`: a proof that the limit runs a program exactly, or the worst bit."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

import click

from bitwright.cli.options import bits_option, json_option, machine_option, order_option, padding_option, quiet_option
from bitwright.cli.reporting import StepProgress, note, print_json
from bitwright.cli.targets import find_algorithm, training_size
from bitwright.errors import InputError

if TYPE_CHECKING:
    from bitwright.program import Algorithm
    from bitwright.theory import Certificate, Range


@click.command("certify")
@click.argument("target", metavar="FILE|NAME")
@bits_option
@order_option
@machine_option
@click.option("--rounding", help="sign (the paper's) or calibrated (ours, the default).")
@click.option("--n", "source", help="How n is bounded: blocks (proved), declared (assumed) or reachable (by running).")
@padding_option
@click.option("--output", "-o", type=click.Path(path_type=Path), help="Write the certificate to this file.")
@click.option("--check", type=click.Path(path_type=Path), help="Check this certificate file against the program.")
@json_option
@quiet_option
def command(
    target: str,
    bits: int | None,
    order: str | None,
    machine: str | None,
    rounding: str | None,
    source: str | None,
    padding: int | None,
    output: Path | None,
    check: Path | None,
    as_json: bool,
    quiet: bool,
) -> int:
    """Prove that the mean of infinitely wide networks, trained on a program's templates, runs it exactly.

    Exit 1 if it cannot be proved.
    """
    from bitwright.theory import certify, check_certificate, check_rounding, load_certificate, save_certificate

    if output is not None and output.suffix != ".json":
        raise InputError(f"-o takes a .json file, got {output}")
    algorithm = find_algorithm(target, bits, order, machine=machine)
    with StepProgress(not quiet, "checking") as progress:
        if check is not None:
            if rounding is not None or source is not None or padding is not None:
                raise InputError("--check takes rounding, n and padding from the file; leave these options out")
            certificate = load_certificate(check)
            check_certificate(
                certificate, algorithm.program, _range(algorithm, progress, certificate.n_source), progress
            )
        else:
            chosen = check_rounding(rounding or "calibrated")
            within = _range(algorithm, progress, _usual_source(algorithm, chosen) if source is None else source)
            certificate = certify(
                algorithm.program, chosen, within, training_size(algorithm, chosen, padding), progress
            )
    if output is not None:
        save_certificate(certificate, output)
        note(f"wrote {output}", quiet)
    if as_json:
        print_json(asdict(certificate))
    else:
        verdict = "certified" if certificate.certified else "not certified"
        click.echo(verdict if quiet else _report(algorithm, certificate, checked=check is not None))
    return 0 if certificate.certified else 1


def _usual_source(algorithm: Algorithm, rounding: str) -> str:
    """Calibrated rounding needs no assumption; for the sign rule we take the algorithm's word, if it gives one."""
    return "declared" if rounding == "sign" and algorithm.matches is not None else "blocks"


def _range(algorithm: Algorithm, progress: StepProgress, source: str) -> Range:
    from bitwright.bits import shorten
    from bitwright.execution import reachable_range
    from bitwright.theory import blocks_range, declared_range

    if source == "blocks":
        return blocks_range(algorithm.program)
    if source == "declared":
        return declared_range(algorithm)
    if source == "reachable":
        return reachable_range(algorithm, progress)
    raise InputError(f"--n takes blocks, declared or reachable, got '{shorten(source)}'")


def _report(algorithm: Algorithm, c: Certificate, checked: bool) -> str:
    name = f"{algorithm.name} ({algorithm.description})" if algorithm.description else algorithm.name
    lines = [
        f"{'CERTIFIED' if c.certified else 'NOT CERTIFIED'}: {name}, {c.rounding} rounding",
        f"  examples  K = {c.examples:,}" + (f", {c.padding:,} of them padding" if c.padding else ", no padding"),
        f"  matches   n = 1 to {c.n_max:,}, from {c.n_source} ({c.n_scope})",
        f"  writers   at most {c.writers_max:,}, at {c.worst_bit}",
        f"  margin    {c.margin_enclosure} at n = {c.worst_n:,}, of a set bit, in units of the output",
    ]
    if c.masked_bits:
        lines.append(f"  masked    {c.masked_bits:,} bits that nothing writes are fixed to 0")
    if c.fails_from is not None:
        lines.append(f"  fails     at {c.worst_bit} from n = {c.fails_from:,} on")
        lines.append(f"  proposal  {c.proposal}")
    if checked:
        lines.append("  checked   every number of the file was proved again")
    lines.append(f"  program   {c.program_id}")
    return "\n".join(lines)
