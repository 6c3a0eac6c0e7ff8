"""Checks the certificate of a network of whole numbers, with Python's own integers and nothing else.

    python check_network.py NETWORK.safetensors RULES.bw CERTIFICATE.json

RULES.bw is what `bitwright show NAME --text` prints: every bit, block and template written out. A state is a row of
bits, cut into blocks. A template belongs to a block and matches one configuration of its bits. The rules' next state
has those bits on that some matched template writes. The network sees only the set S of templates that a state matches,
n = |S|. From whole numbers A, B and T (`first`, `last` and `thresholds` in its file) it says

    bit i is on  if  n >= 1  and  G_i > T[n][c_i],     G_i = sum over u of B[i][u] * max(0, sum over j in S of A[u][j])

where c_i is the number of templates that write bit i. A certificate claims that network and rules agree on every bit of
every state of a domain: `states` are all there are, `runs` those that the runs of all inputs meet, `cells` (where the
rules are a pattern of cells) those of each kind alone, on its own ports. What is tried follows from RULES.bw, not from
the certificate. Exit 0: it holds, and the network is certified; 1: it does not, or the network is wrong; 2: unreadable.
"""

import json
import struct
import sys
from functools import lru_cache, reduce
from hashlib import sha256
from itertools import chain, compress, count, groupby, product
from operator import mul, or_
from pathlib import Path

LINES = {"bits", "block", "when", "input", "output", "start", "steps", "halt", "matches", "examples"}
TENSORS = {"first": ("I8", "b", 1), "last": ("I8", "b", 1), "thresholds": ("I64", "q", 8)}  # type, and how to unpack it


def need(condition, message, code=2):
    if not condition:
        print(f"DOES NOT HOLD: {message}" if code == 1 else f"CANNOT BE READ: {message}")
        sys.exit(code)


def read_json(text):
    def once(pairs):
        need(len(dict(pairs)) == len(pairs), "JSON with a name that comes twice")
        return dict(pairs)

    return json.loads(text, object_pairs_hook=once)


class Network:
    """A .safetensors file: the length of a header in 8 bytes, the header in JSON, the bytes of the tensors."""

    def __init__(self, data):
        (length,) = struct.unpack_from("<Q", data)
        header, body = read_json(data[8 : 8 + length]), data[8 + length :]
        self.about = read_json(header.pop("__metadata__")["bitwright"])
        whole = self.about["format"] == "bitwright integer network 1" and header.keys() == TENSORS.keys()
        need(whole, "not a network of whole numbers, which `bitwright quantize` makes of trained weights")
        self.sha256, self.shapes = {}, {}
        for name, (kind, letter, size) in TENSORS.items():
            (begin, end), (rows, columns) = header[name]["data_offsets"], header[name]["shape"]
            fits = 0 <= begin <= end <= len(body) and end - begin == rows * columns * size
            need(fits and header[name]["dtype"] == kind, f"tensor {name} has a wrong type or size")
            self.sha256[name], self.shapes[name] = sha256(body[begin:end]).hexdigest(), (rows, columns)
            setattr(self, name, list(struct.iter_unpack(f"<{columns}{letter}", body[begin:end])))  # row by row


class Rules:
    """Canonical rule text. A set of bits, such as a state, is an integer here: its bit i stands for the i-th name."""

    def __init__(self, text):
        lines = [line.split(" ") for line in text.decode().splitlines()]
        need({line[0] for line in lines} <= LINES, "these are not rules as `bitwright show --text` prints them")
        of = {kind: [line[1:] for line in lines if line[0] == kind] for kind in LINES}
        program = [" ".join(line) + "\n" for line in lines if line[0] in ("bits", "block", "when")]
        self.id = sha256("".join(program).encode()).hexdigest()
        self.names = [name for (declared,) in of["bits"] for name in self.declared(declared)]
        self.bit = {name: 1 << i for i, name in enumerate(self.names)}
        members = sorted(name for block in of["block"] for name in block)
        need(members == sorted(self.bit) == sorted(self.names), "a bit is not declared once, and in one block")
        self.writes, self.blocks = [], {tuple(block): {} for block in of["block"]}  # in a block: bits on -> template
        for line in of["when"]:
            names, values = zip(*(test.split("=") for test in line[: line.index("write")]), strict=True)
            on, templates = self.set_of(compress(names, map(int, values))), self.blocks[names]
            need({*values} <= {"0", "1"} and on not in templates, "two templates match the same")
            templates[on] = len(self.writes)
            self.writes.append(self.set_of(name for name in line[line.index("write") + 1 :] if name != "nothing"))
        self.tables = [(self.set_of(block), templates) for block, templates in self.blocks.items() if templates]
        self.writers = [sum(bits >> i & 1 for bits in self.writes) for i in range(len(self.names))]
        self.inputs = [name for line in of["input"] for name in line[: line.index("=") : -1]]  # the lowest bit first
        self.start = [name for line in of["start"] for name in line]
        known = {*self.inputs, *self.start} & self.bit.keys()
        need(len(known) == len(self.inputs + self.start), "a bit that is set before a run is set twice, or is none")
        ((self.steps,),) = [map(int, line) for line in of["steps"]] or [[1_000_000]]
        (self.halt,) = [" ".join(line[1:]) for line in of["halt"]] or [None if of["steps"] else "fixed point"]
        need(self.halt in (None, "fixed point", *self.bit), "the rules do not say how runs end")

    @staticmethod
    def declared(text):  # the names that `p[2]`, `m[2,8]` or `flag` stands for
        name, _, shape = text.removesuffix("]").partition("[")
        places = product(*(range(1, int(size) + 1) for size in (shape.split(",") if shape else ())))
        return [f"{name}[{','.join(map(str, place))}]" if place else name for place in places]

    def set_of(self, names):
        return sum(self.bit[name] for name in set(names))

    def step(self, state, within=-1):
        """S, which has one template of a block (of those within some bits) or none, and the next state."""
        matched = tuple(table[state & b] for b, table in self.tables if b & within and state & b in table)
        return matched, reduce(or_, (self.writes[template] for template in matched), 0)

    def all_states(self, cells=False):
        """(number, 0, state, bits of its blocks, bits to look at): a template in each block, or what matches none."""
        number, kind = count(), lambda block: block[0].split("_")[0] * cells  # kind3_block1[2] is of kind3
        for _, blocks in groupby(self.blocks, kind):
            choices, within, ports = [], 0, 0
            for block in blocks:
                templates, bits = self.blocks[block], self.set_of(block)
                every = (self.set_of(compress(block, values[::-1])) for values in product((0, 1), repeat=len(block)))
                choices.append([*[on for on in every if on not in templates][:1], *templates] if templates else [0])
                within, ports = within | bits, ports | bits * (not templates)
            for chosen in product(*reversed(choices)):  # the first block changes fastest
                yield next(number), 0, sum(chosen), within, ports if cells else -1

    def all_runs(self):
        """The same for every state that a run of an input steps from, by number and step; the rules make the steps."""
        halt, fixed = self.bit.get(self.halt, 0), self.halt == "fixed point"
        for number in range(1 << len(self.inputs)):
            before, state = None, self.set_of([*self.start, *compress(self.inputs, map(int, f"{number:b}"[::-1]))])
            for step in count():
                if state & halt or (fixed and state == before) or (self.halt is None and step == self.steps):
                    break
                need(step < self.steps + fixed, f"the run of input {number} does not end", 1)
                yield number, step, state, -1, -1
                before, (_, state) = state, self.step(state)


def findings(network, rules, states):
    """What a certificate has to say of these states, name by name."""
    kinds, by_template = sorted(set(rules.writers)), list(zip(*network.first, strict=True))
    column = [kinds.index(writers) for writers in rules.writers]  # of T, for each bit
    shapes = [(w := len(network.first), len(rules.writes)), (len(rules.names), w), (len(rules.tables), len(kinds))]
    need([*network.shapes.values()] == shapes, "the network does not fit the rules", 1)

    @lru_cache(maxsize=1 << 16)
    def nearest(matched, after, own):
        """The own bit that is nearest to being wrong: (distance, i, what it must be, G, T); below 1 it is wrong."""
        hidden = [max(0, total) for total in map(sum, zip(*(by_template[j] for j in matched), strict=True))]
        T, bits = network.thresholds[len(matched) - 1], (i for i in range(len(column)) if own >> i & 1)
        sums = ((i, sum(map(mul, network.last[i], hidden)), T[column[i]]) for i in bits)
        return min((G - t if after >> i & 1 else t + 1 - G, i, after >> i & 1, G, t) for i, G, t in sums)

    def place(_, number, step, state, n, i, must, G, T):
        at = {"on": [name for name in rules.names if state & rules.bit[name]], "number": number, "step": step, "n": n}
        return at | {"bit": rules.names[i], "expected": must, "sum": G, "threshold": T}

    by_n, least, wrong, first = {}, {}, 0, {}
    for number, step, state, within, own in states:
        matched, after = rules.step(state, within)
        n = len(matched)
        by_n[n] = by_n.get(n, 0) + 1
        if n and own:  # else the next state is zero, by the rules and by the network; or no bit of it is looked at
            distance, *bit = nearest(matched, after, own)
            here = (distance, number, step, state, n, *bit)
            least[n] = min(here, least.get(n, here))
            if distance < 1:
                wrong += 1
                first.setdefault(n, here)
    yield from {"states": sum(by_n.values()), "wrong": wrong, "undecided": 0, "certified": not wrong}.items()
    yield "verdict", "refuted" if wrong else "certified"
    yield "by_n", [[n, by_n[n], least[n][0] if n in least else None] for n in sorted(by_n)]
    yield "distance", min(least.values())[0] if least else None
    yield "closest", place(*min(least.values())) if least else None
    yield "counterexample", place(*first[min(first)]) if first else None


def main(arguments):
    try:
        readers = zip((Network, Rules, read_json), arguments, strict=True)
        network, rules, certificate = (read(Path(name).read_bytes()) for read, name in readers)
        about, domain, kinds = network.about, certificate.pop("domain"), {name.split("_")[0] for name in rules.names}
        runs, cells = domain == "runs", all(kind[:4] == "kind" and kind[4:].isdigit() for kind in kinds)
        need(domain in (("cells",) if cells else ("states", "runs")), f"there are no such states: {domain}")
        known = {"format": "bitwright network certificate 1", "of": "network", "arithmetic": "whole numbers"}
        known |= {"program_id": rules.id, "tensors": network.sha256, "network_sha256": about["sha256"]}
        known |= {"width": len(network.first), "padding": (p := about["padding"]), "examples": len(rules.writes) + p}
        known["weight_bits"] = max(2, *(1 + (w ^ w >> 7).bit_length() for w in chain(*network.first, *network.last)))
        known |= {"inputs": [], "start": [], "halt": None, "steps": None, "kinds": len(kinds) if cells else None}
        known |= {name: getattr(rules, name) for name in ("inputs", "start", "halt", "steps") if runs}
    except Exception as error:
        need(False, f"{type(error).__name__}: {error} (give NETWORK.safetensors RULES.bw CERTIFICATE.json)")
    tried = f"the runs of all 2^{len(rules.inputs)} inputs, {rules.steps:,} steps at most, halt: {rules.halt}"
    print("trying", tried if runs else "every choice in every block" + " of each kind of cells alone" * cells)
    found, states = {}, rules.all_runs() if runs else rules.all_states(cells)
    for name, value in chain(known.items(), findings(network, rules, states)):
        claimed, found[name] = certificate.pop(name, {}), value
        same = json.dumps(claimed, sort_keys=True) == json.dumps(value, sort_keys=True)
        need(same, f"the certificate says {name} = {str(claimed)[:300]}, but it is {str(value)[:300]}", 1)
    more = sorted(certificate.keys() - {"margin", "members", "seconds", "sizes", "version"})  # which are for people
    need(not more, f"nobody can check what it says of {', '.join(more)[:300]}", 1)
    print(f"HOLDS: {found['verdict']}, {found['states']:,} states tried, {found['wrong']:,} wrong")
    sys.exit(0 if found["certified"] else 1)


main(sys.argv[1:])
