"""Part of fused_check, in Triton's interpreter: the fused kernel of exact sums beside NumPy."""

from dataclasses import replace

import numpy as np
import torch
from whole import choices, indicator, odd_program, trained, whole, with_weights

from bitwright import Algorithm, addition, multiplication, parse
from bitwright.engines.cells.network import network_of_kind
from bitwright.engines.integer.fused import FusedSums
from bitwright.networks import IntegerNetwork
from bitwright.networks.integer import Bounds, ExactSums, columns_of
from bitwright.proofs.exhaustion.domains import ALL
from bitwright.proofs.exhaustion.judges import IntegerJudge, written_bits
from bitwright.rules.pattern import pattern_of


def large() -> tuple[Algorithm, IntegerNetwork]:
    """20 blocks of which all may match, with weights of 127: hidden values up to 2,540."""
    rules = ["bits x[20]"]
    for i in range(1, 21):
        rules += [f"block x[{i}]", f"when x[{i}]=1 write x[{i}]"]
    algorithm = parse("\n".join([*rules, "input x", "output x", "steps 1", ""]), "twenty")
    network = whole(algorithm.program, 96, tolerance=0.4)
    first = network.first.copy()
    first[:40] = 127
    return algorithm, with_weights(network, first=first)


def one_kind() -> tuple[Algorithm, IntegerNetwork, slice]:
    """The kind with most ports of the cells of multiplication, and its ports."""
    pattern = pattern_of([multiplication(6).program])
    kind = max(range(len(pattern.kinds)), key=lambda kind: len(pattern.kinds[kind].ports))
    network, alone = network_of_kind(whole(pattern.program, 96, tolerance=0.4), pattern, kind)
    return Algorithm("cells", alone.program), network, alone.port_bits(0)


def check(algorithm: Algorithm, network: IntegerNetwork, own: slice = ALL, most: int = 300) -> dict[str, object]:
    program = algorithm.program
    if program.templates == 20:
        chosen = [tuple(range(20)), tuple(range(16)), tuple(range(17)), (), (3,)] * 10
    else:
        chosen = list(choices(program))[:most]
    matched = indicator(program, chosen)
    bounds, bits = Bounds.of(network, program), len(range(program.bits)[own])
    fused = FusedSums(replace(network, last=network.last[own]), bounds, torch.device("cpu"))
    given = torch.zeros((len(matched), fused.inputs), dtype=torch.uint8)
    given[:, : program.templates] = torch.from_numpy(matched)
    wanted = ExactSums(network, program).products(matched)[:, own]
    sums = fused(given).numpy()
    n = given.sum(dim=1)
    truth = torch.zeros((len(matched), fused.columns), dtype=torch.uint8)
    truth[:, :bits] = torch.from_numpy(written_bits(program, matched)[:, own])
    table = np.full((len(network.thresholds) + 1, fused.columns), bounds.sums + bounds.thresholds, dtype=np.int32)
    table[1:, :bits] = network.thresholds[:, columns_of(network, program)[own]]
    distances = fused.distances(given, n, truth, torch.from_numpy(table)).numpy()
    some, digits = n.numpy() > 0, fused.plan[1]
    fused.restart()
    fused(torch.zeros_like(given[:1]))
    return {
        "states": len(matched),
        "sums differ": int((sums != wanted).sum()),
        "distances differ": int((distances != IntegerJudge(program, network)(matched, own).distance)[some].sum()),
        "digits": digits,
        "digits after a restart": fused.plan[1],
        "largest": int(bounds.hidden.max()),
    }


def check_sums() -> dict[str, object]:
    return {
        "addition": check(addition(3), trained()),
        "odd": check(odd_program(), whole(odd_program().program, 96)),
        "large": check(*large()),
        "cells": check(*one_kind()),
    }
