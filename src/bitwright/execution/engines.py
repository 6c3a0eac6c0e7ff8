"""Engines by name, and the settings they share."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from bitwright.bits import shorten
from bitwright.errors import InputError, suggestion
from bitwright.execution.engine import Engine
from bitwright.execution.limit import LimitEngine
from bitwright.execution.templates import TemplatesEngine
from bitwright.program import Program
from bitwright.theory.rounding import Rounding, check_rounding

if TYPE_CHECKING:
    from bitwright.learning import Network

ENGINES = ("templates", "limit", "kernel", "sampled", "network")


@dataclass(frozen=True)
class Settings:
    """How an engine other than `templates` works: its rounding, the size of the training set, and the ensemble."""

    rounding: Rounding = "calibrated"
    examples: int | None = None  # K with padding; by default one for each template
    networks: int = 1
    seed: int = 0
    files: tuple[Path, ...] = ()  # for `network`: trained networks to average
    width: int | None = None  # for `network` without files: the width to train on the spot
    device: str = "cpu"  # for `network`: where it runs; another than the CPU needs PyTorch
    precision: str = "float32"  # for `network`: of its products; another than float32 needs PyTorch

    def __post_init__(self) -> None:
        check_rounding(self.rounding)
        if not 1 <= self.networks <= 10**9:
            raise InputError(f"an ensemble has between 1 and 10^9 networks, got {shorten(self.networks)}")
        if not 0 <= self.seed <= 2**63:
            raise InputError(f"the seed must lie between 0 and 2^63, got {shorten(self.seed)}")
        if self.examples is not None and self.examples > 10**10:
            raise InputError(f"a training set has at most 10^10 examples, got {shorten(self.examples)}")


def make_engine(
    name: str, program: Program, settings: Settings | None = None, networks: Sequence[Network] | None = None
) -> Engine:
    """The engine of this name, ready to step this program; `network` takes these networks, or finds them."""
    chosen = settings or Settings()
    examples = _examples(program, chosen)
    if name == "templates":
        return TemplatesEngine(program)
    if name == "limit":
        return LimitEngine(program, examples, chosen.rounding)
    if name == "kernel":
        from bitwright.execution.kernel import KernelEngine  # brings SciPy along, which the others do not need

        return KernelEngine(program, examples, chosen.rounding)
    if name == "sampled":
        from bitwright.execution.sampled import SampledEngine

        return SampledEngine(program, examples, chosen.rounding, chosen.networks, chosen.seed)
    if name == "network":
        return _network_engine(program, chosen, find_networks(program, chosen) if networks is None else networks)
    raise InputError(f"there is no engine '{shorten(name)}'; choose {', '.join(ENGINES)}{suggestion(name, ENGINES)}")


def _examples(program: Program, settings: Settings) -> int:
    """K, which no program has fewer of than templates."""
    examples = program.templates if settings.examples is None else settings.examples
    if examples < program.templates:
        raise InputError(
            f"the training set has at least the program's {program.templates:,} templates, got {examples:,} examples"
        )
    return examples


def find_networks(program: Program, settings: Settings) -> list[Network]:
    """Trained networks from files, or such as are trained now (and kept for the next time)."""
    from bitwright.learning import Plan, Recipe, load_network
    from bitwright.learning.cache import cached_network, suggested_width
    from bitwright.learning.members import network_files

    if settings.files:
        return [load_network(file, program) for path in settings.files for file in network_files(path)]
    examples = _examples(program, settings)
    width = settings.width if settings.width is not None else suggested_width(examples)
    common = Recipe(width, settings.seed, plan=Plan(momentum=True), padding=examples - program.templates)
    if settings.device != "cpu":
        common = replace(common, trainer="torch", device=settings.device)
    recipes = [replace(common, member=member) for member in range(settings.networks)]
    return [cached_network(program, recipe)[0] for recipe in recipes]


def _network_engine(program: Program, settings: Settings, networks: Sequence[Network]) -> Engine:
    from bitwright.execution.network import NetworkEngine

    if (settings.device, settings.precision) == ("cpu", "float32"):
        return NetworkEngine(program, networks, settings.rounding)
    from bitwright.execution.torch_network import TorchNetworkEngine

    return TorchNetworkEngine(program, networks, settings.rounding, settings.device, settings.precision)
