"""Checks the certificate for an integer network, in plain Python integers.

    python check_network.py NETWORK.safetensors RULES.bw [RULES.bw ...] CERTIFICATE.json

RULES.bw is the output of `bitwright show NAME --text`. A state is the set of bits that are on. A template belongs to a
block of bits and matches one configuration of them. The next state has all bits that some matched template writes. The
network's only input is the set S of templates that a state matches, n = |S|. With integers A, B and T (`first`, `last`
and `thresholds` in its file) it outputs

    bit i is on  if  n >= 1  and  G_i > T[n][c_i],     G_i = sum over u of B[i][u] * max(0, sum over j in S of A[u][j])

where c_i is the number of templates that write bit i. A certificate claims that network and rules agree on every bit of
every state of a domain: `states` means all states, `runs` the states in the runs of all inputs, and `cells` the states
of one cell (a group of blocks) of each kind, on its own ports. Kinds and pattern (a cell of each kind, side by side)
are derived from the cells of all RULES.bw given, as README.md defines. Exit 0: certified, and it holds; 1: it does
not, or the network is wrong; 2: a file cannot be read.
"""

import json
import struct
import sys
from collections import Counter
from functools import lru_cache, partial
from hashlib import sha256
from itertools import chain, compress, count, groupby, product
from operator import mul
from pathlib import Path

LINES = {"bits", "block", "when", "cell", "input", "output", "start", "steps", "halt", "matches", "examples"}
LINES |= {"port", "whole", "chain", "graph"}  # for node programs, which have cells, but no runs without a graph
LINES |= {"where", "ensure", "invariant"}  # claims about the rules, not part of them
TENSORS = {"first": ("I8", "b", 1), "last": ("I8", "b", 1), "thresholds": ("I64", "q", 8)}  # type, and how to unpack it
NOT_HASHED = {"format", "version", "numpy", "bits", "examples", "sha256"}  # metadata outside the hash
canonical = partial(json.dumps, sort_keys=True)  # for comparisons that distinguish 1, 1.0 and true


def need(condition, message, code=2):
    if not condition:
        print("DOES NOT HOLD:" if code == 1 else "CANNOT BE READ:", message.encode("unicode_escape").decode())
        sys.exit(code)


def read_json(text):
    def once(pairs):
        need(len(dict(pairs)) == len(pairs), "the JSON repeats a name")
        return dict(pairs)

    return json.loads(text, object_pairs_hook=once, parse_constant=int)  # int refuses NaN and Infinity


class Network:
    """A .safetensors file: the length of a header in 8 bytes, the header in JSON, the bytes of the tensors."""

    def __init__(self, data):
        begin = body = 8 + struct.unpack_from("<Q", data)[0]
        header, self.sha256, self.shapes = read_json(data[8:body].decode()), {}, {}
        metadata = header.pop("__metadata__")
        self.about = read_json(metadata["bitwright"])
        whole = self.about["format"] == "bitwright integer network 1" and header.keys() == TENSORS.keys()
        need(whole, "not an integer network, as written by `bitwright export --to integer`")
        for name, tensor in sorted(header.items(), key=lambda item: item[1]["data_offsets"]):
            (kind, letter, size), (rows, columns) = TENSORS[name], map(int, tensor["shape"])
            end = begin + rows * columns * size
            wanted = {"dtype": kind, "shape": [rows, columns], "data_offsets": [begin - body, end - body]}
            need(canonical(tensor) == canonical(wanted), f"tensor {name} has a wrong type, size or position")
            setattr(self, name, list(struct.iter_unpack(f"<{columns}{letter}", data[begin:end])))  # row by row
            self.sha256[name], self.shapes[name], begin = sha256(data[begin:end]).hexdigest(), (rows, columns), end
        need(data[8:9] == b"{" and end == len(data), "the network's file is truncated or has extra bytes")
        usual = all(type(text := self.about[name]) is str and len(text) <= 100 for name in ("version", "numpy"))
        need(usual and len(metadata) == 1, "the network's file has metadata that bitwright does not write")
        (outputs, width), (_, inputs) = self.shapes["last"], self.shapes["first"]
        hashed = {name: value for name, value in self.about.items() if name not in NOT_HASHED}
        hashed |= {"shape": {"inputs": inputs, "width": width, "outputs": outputs}, "tensors": self.sha256}
        need(sha256(canonical(hashed).encode()).hexdigest() == self.about["sha256"], "the network's file was altered")


class Rules:
    """Canonical rule text. `blocks` maps each block to its templates, by the bits that are on at a match."""

    def __init__(self, text):
        lines = [line.split(" ") for line in text.splitlines()]
        need({line[0] for line in lines} <= LINES, "these are not rules in the form of `bitwright show --text`")
        self.lines = of = {kind: [line[1:] for line in lines if line[0] == kind] for kind in LINES}
        program = [" ".join(line) for line in lines if line[0] in ("bits", "block", "when")]
        self.id, self.templates = sha256("\n".join([*program, ""]).encode()).hexdigest(), program[-len(of["when"]) :]
        self.names = []
        for array in chain(*of["bits"], *(line[1:] for line in of["port"] + of["whole"])):  # `p[2]`, `m[2,8]`, `flag`
            name, *shape = array.removesuffix("]").replace("[", ",").split(",")
            places = [",".join(map(str, place)) for place in product(*(range(1, int(size) + 1) for size in shape))]
            self.names += [f"{name}[{place}]" if place else name for place in places]
        self.writes, self.blocks = [], {tuple(block): {} for block in of["block"]}
        once = sorted({*self.names}) == sorted(self.names) == sorted(chain(*of["block"]))
        need(once and of["when"], "every bit must be declared once and be in one block, and there must be a template")
        for line in of["when"]:
            names, values = zip(*(test.split("=") for test in line[: line.index("write")]), strict=True)
            on, templates = frozenset(compress(names, map(int, values))), self.blocks[names]
            need({*values} <= {"0", "1"} and on not in templates, "two templates match the same configuration")
            templates[on] = len(self.writes)
            self.writes.append({name for name in line[line.index("write") + 1 :] if name != "nothing"})
        written = {name.split(".")[-1] for name in chain(*self.writes)}  # node programs write to far.x, too
        need(written <= {*self.names}, "a template writes an unknown bit")

    def kinds(self):
        """Yields the kind of each cell with templates: the size and configurations of each block, and the ports."""
        block_of, cells = {name: block for block in self.blocks for name in block}, self.lines["cell"] or self.blocks
        need(
            sorted(chain(*cells)) == sorted(self.names), "if there are cells, every bit must be in exactly one of them"
        )
        for cell in cells:
            blocks, writes = [], []
            for block, own in groupby(cell, block_of.get):
                value = {name: 1 << i for i, name in enumerate(own)}  # in the order of the cell
                need(len(value) == len(block), "a cell contains only a part of a block")
                table = sorted((sum(value[name] for name in on), t) for on, t in self.blocks[block].items())
                blocks += [(len(block), tuple(configuration for configuration, _ in table))] if table else []
                writes += [self.writes[template] for _, template in table]
            ports = {tuple(t for t, names in enumerate(writes) if name in names) for name in set().union(*writes)}
            if blocks:
                yield tuple(blocks), tuple(sorted(ports))

    def all_states(self, cells):
        """Yields (number, 0, state, matched, bits to check) for all choices of a template or no match in each block."""
        number, kind = count(), lambda block: block[0].split("_")[0] * cells  # kind3_block1[2] is of kind3
        for _, blocks in groupby(self.blocks, kind):
            choices, ports = [], []
            for block in blocks:
                every = (frozenset(compress(block, values[::-1])) for values in product((0, 1), repeat=len(block)))
                table = [(on, (template,)) for on, template in self.blocks[block].items()]
                idle = [(on, ()) for on in every if on not in self.blocks[block]][:1]
                choices.append(idle + table if table else [((), ())])
                ports += [] if cells and table else block
            for chosen in product(*reversed(choices)):  # the first block varies fastest
                on, matched = map(chain.from_iterable, zip(*chosen, strict=True))
                yield next(number), 0, {*on}, tuple(matched), tuple(ports)

    def all_runs(self):
        """Yields the start and end of runs and then, as in all_states, every state before a step of any run."""
        inputs = [name for line in self.lines["input"] for name in line[: line.index("=") : -1]]  # the lowest bit first
        start, bounds = [*chain(*self.lines["start"])], self.lines["steps"]
        need(len({*inputs, *start} & {*self.names}) == len(inputs + start), "a start bit is set twice or unknown")
        ((steps,),) = [map(int, line) for line in bounds] or [[1_000_000]]
        (halt,) = [" ".join(line[1:]) for line in self.lines["halt"]] or [None if bounds else "fixed point"]
        need(halt in (None, "fixed point", *self.names), "the rules do not have a valid end of runs")
        yield {"inputs": inputs, "start": start, "halt": halt, "steps": steps}
        for number in range(1 << len(inputs)):
            before, state = None, {*start, *compress(inputs, map(int, f"{number:b}"[::-1]))}
            for step in count():
                if halt in state or (halt == "fixed point" and state == before) or (halt is None and step == steps):
                    break
                need(step < steps + (halt == "fixed point"), f"the run of input {number} does not end", 1)
                found = (table.get(frozenset(state.intersection(block))) for block, table in self.blocks.items())
                matched = tuple(template for template in found if template is not None)
                yield number, step, state, matched, tuple(self.names)
                before, state = state, set().union(*(self.writes[template] for template in matched))


def pattern(kinds):
    """Returns the canonical text of one cell of each kind, side by side; a port is a bit that no template tests."""
    bits, blocks, rules = [], [], []
    for k, (tables, ports) in enumerate(sorted(kinds), 1):
        arrays = [(f"kind{k}_block{at}", size) for at, (size, _) in enumerate(tables, 1)]
        bits += [f"bits {name}[{size}]" for name, size in [*arrays, (f"kind{k}_port", len(ports))] if size]
        blocks += [" ".join(["block", *(f"{name}[{i + 1}]" for i in range(size))]) for name, size in arrays]
        blocks += [f"block kind{k}_port[{i + 1}]" for i in range(len(ports))]
        listed = [(*array, value) for array, (_, values) in zip(arrays, tables, strict=True) for value in values]
        for template, (name, size, value) in enumerate(listed):
            tests = [f"{name}[{i + 1}]={value >> i & 1}" for i in range(size)]
            writes = [f"kind{k}_port[{i}]" for i, port in enumerate(ports, 1) if template in port] or ["nothing"]
            rules.append(" ".join(["when", *tests, "write", *writes]))
    return "\n".join(bits + blocks + rules)


def findings(network, rules, states):
    """Yields the required contents of a certificate for these states, by name."""
    writers, by_template, about = Counter(chain(*rules.writes)), [*zip(*network.first, strict=True)], network.about
    columns, width = sorted({writers[name] for name in rules.names}), len(network.first)
    row = {name: (i, columns.index(writers[name])) for i, name in enumerate(rules.names)}  # of B; and the column of T
    shapes = [(width, len(rules.writes)), (len(row), width), (sum(map(bool, rules.blocks.values())), len(columns))]
    parts = [about[name] for name in ("program_id", "bits", "examples", "writers")]
    fits = parts == [rules.id, rules.names, rules.templates, columns] and writers.keys() <= row.keys()
    need(fits and [network.shapes[name] for name in TENSORS] == shapes, "the network does not fit the rules", 1)

    @lru_cache(maxsize=1 << 16)
    def nearest(matched, own):
        """Returns the checked bit closest to an error as (distance, i, right value, G, T); below 1 it is wrong."""
        hidden = [max(0, total) for total in map(sum, zip(*(by_template[j] for j in matched), strict=True))]
        T, after = network.thresholds[len(matched) - 1], set().union(*(rules.writes[j] for j in matched))
        sums = [(*row[name], int(name in after)) for name in own]
        sums = [(i, must, sum(map(mul, network.last[i], hidden)), T[column]) for i, column, must in sums]
        return min((G - t if must else t + 1 - G, i, must, G, t) for i, must, G, t in sums)

    def place(_, number, step, n, i, must, G, T, state):
        at = {"on": [name for name in rules.names if name in state], "number": number, "step": step, "n": n}
        return at | {"bit": rules.names[i], "expected": must, "sum": G, "threshold": T}

    by_n, least, first, wrong = Counter(), {}, {}, 0
    for number, step, state, matched, own in states:
        n = len(matched)
        by_n[n] += 1
        if n and own:  # otherwise the next state is zero for rules and network; or a cell has no ports
            distance, *bit = nearest(matched, own)
            here = (distance, number, step, n, *bit, state)
            least[n] = min(here, least.get(n, here))
            if distance < 1:
                wrong += 1
                first.setdefault(n, here)
    closest = min(least.values(), default=None)
    yield from {"states": sum(by_n.values()), "wrong": wrong, "undecided": 0, "certified": not wrong}.items()
    yield "verdict", "refuted" if wrong else "certified"
    yield "by_n", [[n, by_n[n], least[n][0] if n in least else None] for n in sorted(by_n)]
    yield from {"distance": closest and closest[0], "closest": closest and place(*closest)}.items()
    yield "counterexample", place(*first[min(first)]) if first else None


def main(network, *programs, certificate):
    network, certificate = Network(Path(network).read_bytes()), read_json(Path(certificate).read_bytes().decode())
    programs, domain = [Rules(Path(name).read_bytes().decode()) for name in programs], certificate.pop("domain")
    need(domain in ("states", "runs", "cells"), f"unknown domain of states: {domain}")
    need(domain == "cells" or len(programs) == 1, "give one RULES.bw; only networks of cells take several")
    kinds = {kind for program in programs for kind in program.kinds()} if domain == "cells" else None
    rules = programs[0] if kinds is None else Rules(pattern(kinds))
    states, runs = rules.all_states(kinds is not None), {"inputs": [], "start": [], "halt": None, "steps": None}
    tried = "every choice in every block" if kinds is None else f"every local state of {len(kinds)} kinds of cells"
    if domain == "runs":
        runs = next(states := rules.all_runs())
        tried = f"the runs of all 2^{len(runs['inputs'])} inputs, {runs['steps']:,} steps at most, halt: {runs['halt']}"
    print("trying", tried)
    known = runs | {"kinds": kinds and len(kinds), "program_id": rules.id, "tensors": network.sha256}
    word = "whole numbers" if certificate.get("arithmetic") == "whole numbers" else "integers"  # the older word
    known |= {"format": "bitwright network certificate 1", "of": "network", "arithmetic": word}
    known |= {"padding": network.about["padding"], "network_sha256": network.about["sha256"]}
    known |= {"width": len(network.first), "examples": len(rules.writes) + network.about["padding"]}
    known["weight_bits"] = max(2, *(1 + max(w, ~w).bit_length() for w in chain(*network.first, *network.last)))
    found = {}
    for name, value in chain(known.items(), findings(network, rules, states)):
        claimed, found[name] = certificate.pop(name, {}), value
        message = f"the certificate has {name} = {str(claimed)[:300]}, but it must be {str(value)[:300]}"
        need(canonical(claimed) == canonical(value), message, 1)
    more = certificate.keys() - {"links", "margin", "members", "seconds", "sizes", "version"}  # informational fields
    need(not more, f"the certificate has fields that cannot be checked: {', '.join(sorted(more))[:300]}", 1)
    print(f"HOLDS: {found['verdict']}, {found['states']:,} states tried, {found['wrong']:,} wrong")
    rest = (f"{name} = {[*value] if isinstance(value, dict) else value}" for name, value in sorted(certificate.items()))
    print("not checked:", ", ".join(rest), file=sys.stderr)  # links: check_function.py, check_kinds.py
    sys.exit(0 if found["certified"] else 1)


if __name__ == "__main__":
    try:
        main(*sys.argv[1:-1], certificate=sys.argv[-1])
    except Exception as error:
        need(False, f"{type(error).__name__}: {error} (give NETWORK.safetensors RULES.bw CERTIFICATE.json)")
