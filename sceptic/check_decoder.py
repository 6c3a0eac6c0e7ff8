"""Checks, without bitwright, that a transformer is correct on every input of a task.

    python check_decoder.py DECODER.safetensors CERTIFICATE.json

The certificate contains the task: an automaton that, in every column, reads a symbol of each word and writes a symbol
of the answer, and the positions of the symbols among the tokens. Greedy decoding is correct on an input if at every
step, after the right answers so far, the right token has the largest logit. The inputs are divided into groups (step,
last symbol written, right symbol), and each group into boxes, which are ranges of symbols and of automaton states. In
a box,

1. attention outputs the sum over heads of N/D, where N and D are sums over columns. For all constants c and d, dynamic
   programming along the edges of the automaton computes the exact minimum and maximum of the sum of (N - c D)/d;
2. enclosures.py encloses the rest of the network, on these ranges or on parts of them.

The certificate lists the splits. You trust Python, this file and enclosures.py, and check yourself that the automaton
is the intended one. Exit codes: 0 if every proof in the certificate is confirmed, 1 if a proof is not confirmed or
there is none, 2 if a file cannot be read.
"""

import base64
import json
import struct
import sys
import zlib
from functools import lru_cache, partial, reduce
from hashlib import sha256
from itertools import product
from math import prod
from operator import add, itemgetter
from pathlib import Path
from types import SimpleNamespace

from check_network import need, read_json
from enclosures import (
    LOSS,
    ONE,
    Form,
    Linear,
    S,
    UnboundedError,
    activated,
    chained,
    constant,
    dot,
    exponential,
    in_float32,
    normed,
    turned,
)

EMPTY, LEAF = 65534, 65535
HALVINGS, SPLITS = 8, 12  # most halvings of ranges, and most splits of boxes
KINDS = {"rms", "layer", "relu", "gelu", "gelu_tanh", "silu"}
NAMES = [
    {*names.split()}
    for names in (
        "tables layers final_norm head",
        "heads attention_norm output mlp_norm mlp",
        "query key value output scale query_norm key_norm rope",
        "kind eps weight bias",
        "base interleaved",
        "activation up down gate",
        "weight bias",
    )
]
FIELDS = {
    "certificate": "format version network weights task claims comparison",
    "comparison": "inputs largest_difference bound agrees",
    "claim": "about verdict arithmetic method inputs margin boxes counterexample open trees runtime",
    "counterexample": "symbols inputs step right written replayed_by",
    "trees": "groups nodes",
    "tensor": "dtype shape data_offsets",
    "metadata": "bitwright",
    "decoder": "format version sha256 decoder",
    "task": "columns layout",
    "columns": "statement words symbols answer answers length edges starts ends flags",
    "layout": "prompt answer tokens stop",
    "place": "word column",
}
TYPES = {"F32": ("float32", "f", 4), "F64": ("float64", "d", 8)}


def fixed(x):
    """A weight in units of 2^-60, with an error of at most one unit."""
    over, under = x.as_integer_ratio()
    return (2 * over * ONE + under) // (2 * under)


def known(what, value):
    """Checks that an object has exactly the fields of its kind."""
    wanted = {*FIELDS[what].split()}
    need(type(value) is dict and value.keys() == wanted, f"a {what} must have exactly the fields {FIELDS[what]}")
    return value


class Decoder:
    """A .safetensors file: 8 bytes with the length of the header, the header in JSON, and the bytes of the tensors."""

    def __init__(self, data, unit, length):
        body, self.tensors, hashed = 8 + struct.unpack_from("<Q", data)[0], {}, {}
        header, self.read = read_json(data[8:body].decode()), lru_cache(None)(self.read)
        document, end = known("decoder", read_json(known("metadata", header.pop("__metadata__"))["bitwright"])), body
        for name, tensor in sorted(header.items(), key=lambda item: known("tensor", item[1])["data_offsets"]):
            (kind, letter, size), shape = TYPES[tensor["dtype"]], tuple(tensor["shape"])
            begin, end = end, body + tensor["data_offsets"][1]
            stored = data[begin:end]
            sound = body + tensor["data_offsets"][0] == begin and len(stored) == size * prod(shape) == end - begin > 0
            need(sound, f"tensor {name} has a wrong size or position")
            values = [fixed(x) for (x,) in struct.iter_unpack("<" + letter, stored)]
            for columns in shape[:0:-1]:
                values = [values[i : i + columns] for i in range(0, len(values), columns)]
            self.tensors[name], hashed[name] = values, f"\n{name} {kind} {shape}\n".encode() + stored
        parts = json.dumps(document["decoder"], sort_keys=True).encode(), *(hashed[name] for name in sorted(hashed))
        self.sha256, self.used = sha256(b"".join(parts)).hexdigest(), set()
        need(document["format"] == "bitwright decoder 1", "the network's file is not a decoder")
        need(document["sha256"] == self.sha256, "the network's file does not match its digest", 1)
        need(not KINDS & self.tensors.keys(), "a tensor has a reserved name")
        self.__dict__ |= vars(self.build(document["decoder"]))
        need(end == len(data) and self.used == self.tensors.keys(), "the file has unused bytes or tensors")
        (layer,) = self.layers
        self.__dict__ |= vars(layer) | {"unit": unit, "length": length}

    def build(self, value):
        """Returns the structure, with tensors in place of their names."""
        if type(value) is dict:
            need(value.keys() in NAMES, f"unknown object with the fields {', '.join(value)}")
            parts = {name: self.build(part) for name, part in value.items()}
            return Linear(**parts) if parts.keys() == {"weight", "bias"} else SimpleNamespace(**parts)
        if type(value) is list:
            return [self.build(part) for part in value]
        if type(value) is str:
            self.used |= {value} - KINDS
            return value if value in KINDS else self.tensors[value]
        return fixed(value) if type(value) in (int, float) else value

    def embed(self, p, x):
        rows = (table[p if len(table) > 1 else 0] for table in self.tables)
        parts = [constant(row[x if len(row) > 1 else 0], self.unit) for row in rows]
        total = reduce(add, parts)
        if len(parts) > 2:  # summed in any order
            sizes = [sum(sizes) for sizes in zip(*(part.size() for part in parts), strict=True)]
            off = [r + (len(parts) * self.unit * size >> 24) + 1 for r, size in zip(total.radius, sizes, strict=True)]
            in_float32(sizes if self.unit else [])
            total = Form(total.center, total.slopes, off, self.unit)
        return total

    def read(self, number, p, x):
        """Returns the query, key and value of a head for a token at a position."""
        head, h = self.heads[number], normed(self.attention_norm, self.embed(p, x))
        query = turned(head.rope, p, normed(head.query_norm, chained(head.query, h)))
        key, value = turned(head.rope, p, normed(head.key_norm, chained(head.key, h))), chained(head.value, h)
        sums = 2 * self.length + 8 + len(self.heads) * len(value.center)  # roundings of softmax, its sum, and the heads
        return query, key, chained(head.output, value.wider(sums))

    def margins(self, ranges, last, right):
        """Returns the smallest margin of the best right token, and its slopes by the attention output."""
        rows = [
            [(high - low) // 2 + 1 if i == k else 0 for i in range(len(ranges))] for k, (low, high) in enumerate(ranges)
        ]
        try:
            output = Form([(low + high) // 2 for low, high in ranges], rows, [0] * len(rows), self.unit)
            x = self.embed(*last) + chained(self.output, output)
            if (mlp := self.mlp) is not None:
                h = normed(self.mlp_norm, x)
                gated = activated(mlp.activation, chained(mlp.up if mlp.gate is None else mlp.gate, h))
                x = x + chained(mlp.down, gated if mlp.gate is None else gated * chained(mlp.up, h))
            logits = chained(self.head, normed(self.final_norm, x).variables())
        except UnboundedError:
            return -ONE * ONE, [ONE] * len(rows)
        best = []
        for y in right:
            apart = []
            for k in {*range(len(logits.center))} - {*right}:
                slopes = [slope[y] - slope[k] for slope in logits.slopes]
                off = logits.radius[y] + logits.radius[k] + sum(map(abs, slopes))
                apart.append((logits.center[y] - logits.center[k] - off, slopes[: len(rows)]))
            best.append(min(apart))
        return max(best)


class Task:
    """An automaton over columns, and the positions of its symbols among the tokens."""

    def __init__(self, document):
        layout = known("layout", known("task", document)["layout"])
        self.__dict__ |= known("columns", document["columns"]) | {"tokens": layout["tokens"], "stop": layout["stop"]}
        words, states, columns = len(self.words), len(self.starts), range(self.length)
        self.prompt, self.places = (
            [slot if type(slot) is int else (known("place", slot)["word"], slot["column"]) for slot in layout[part]]
            for part in ("prompt", "answer")
        )
        self.slots = [*self.prompt, *self.places]
        self.at = {slot: position for position, slot in enumerate(self.slots) if type(slot) is tuple}
        read, written = self.slots[: len(self.prompt)], self.slots[len(self.prompt) :]
        inputs, outputs = product(self.words, columns), [*product([self.answer], columns), *product(self.flags, [-1])]
        sound = {*self.at} <= {*inputs, *outputs} and {*written} <= {*outputs} and not {*read} & {*outputs}
        names = [*self.words, self.answer, *self.flags]
        sound &= len({*names}) == len(names) and {*map(type, names)} == {str} and self.statement != "stop"
        sound &= len(self.at) == sum(type(slot) is tuple for slot in self.slots)
        need(sound and read and written, "the layout has a duplicate or invalid place")
        lows, highs = (0, *[0] * words, -(not self.answers), 0), (states, *self.symbols, self.answers, states)
        sound = all(a <= x < b for edge in self.edges for a, x, b in zip(lows, edge, highs, strict=True))
        need(sound, "an edge of the automaton is invalid")
        need(all(len(of) == states and min(of) >= 0 for of in (self.ends, *self.flags.values())), "a state is missing")
        self.sizes = dict(
            zip(names, (*self.symbols, self.answers, *(max(of) + 1 for of in self.flags.values())), strict=True)
        )
        self.token = {name: self.tokens.get(name, range(size))[:size] for name, size in self.sizes.items()}
        given = [x for tokens in self.token.values() for x in tokens] + [x for x in self.slots if type(x) is int]
        sound = all(len({*self.token[name]}) == size for name, size in self.sizes.items())
        need(sound and min(given + self.stop) >= 0, "symbols need different tokens, which are integers from 0")
        self.inputs = prod(self.sizes[slot[0]] for slot in read if type(slot) is tuple)
        self.low = [0] * ((words + 1) * self.length + 1)
        self.high = [(self.sizes[place[0]] - 1) * (place in self.at) for place in product(self.words, columns)]
        self.high += [states - 1] * (self.length + 1)
        self.edges_of = lru_cache(None)(self.edges_of)
        self.check_runs()

    def check_runs(self):
        """Checks that every input has exactly one run: counts the runs (0, 1, more) of all prefixes by state."""
        steps, prefixes = {read: [] for read in product(*map(range, self.symbols))}, {tuple(map(int, self.starts))}
        for before, *read, _, after in self.edges:
            steps[*read].append((before, after))
        for _ in range(self.length):
            longer = set()
            for runs, edges in product(prefixes, steps.values()):
                reached = [0] * len(runs)
                for before, after in edges:
                    reached[after] = min(2, reached[after] + runs[before])
                longer.add(tuple(reached))
            prefixes = longer
            need(len(prefixes) < 10_000, "the automaton is too nondeterministic to check")
        once = all(dot(runs, map(bool, self.ends)) == 1 for runs in prefixes)
        need(once, "the automaton has no run or several runs for some input", 1)

    def tokens_of(self, seen):
        """Returns the possible (position, token) pairs at the visible positions."""
        slots = [[slot] if type(slot) is int else self.token[slot[0]] for slot in self.slots[:seen]]
        return [(p, x) for p, tokens in enumerate(slots) for x in tokens]

    def groups(self, about):
        """Yields (step, last symbol written, right symbol), with -1 for a fixed token or the stop token."""
        for step in [len(self.places)] if about == "stop" else range(len(self.places)):
            last = self.slots[len(self.prompt) - 1 + step]
            rights = [-1] if about == "stop" else range(self.sizes[self.places[step][0]])
            yield from product([step], [-1] if type(last) is int else range(self.sizes[last[0]]), rights)

    def edges_of(self, key):
        """Returns the edges of a column in a box, by their states, with selectors of the symbols of each row."""
        (*ranges, answer), found = key, {}
        for before, *read, written, after in self.edges:
            inside = all(low <= x <= high for x, (low, high) in zip((before, *read, after), ranges, strict=True))
            if inside and answer in (None, written):
                found.setdefault((before, after), []).append((*read, written))
        return [(*pair, [itemgetter(*of, of[0]) for of in zip(*rows, strict=True)]) for pair, rows in found.items()]


both = partial(map, add)


class Sum:
    """A sum over tokens, with lower and upper ends of the contribution of each symbol in each column.

    Column -1 contains the contributions of the fixed tokens, and of the flags in each last state.
    """

    def __init__(self, task, part):
        self.task, self.part, self.cache = task, lru_cache(None)(part), {}

    def column(self, at, key):
        """Returns (state before, state after, minimum, maximum) for a column in a box."""
        found, sides = self.cache.setdefault((at, key), []), self.part(at)
        for before, after, selectors in self.task.edges_of(key):
            low, high = ([f(row) for f, row in zip(selectors, rows, strict=True)] for rows in sides)
            found.append((before, after, min(reduce(both, low)), max(reduce(both, high))))
        return found

    def extremes(self, keys, ends):
        """Returns the minimum and the maximum over all inputs of a box, or None if the box has no inputs."""
        (((low,), lows), ((high,), highs)), runs = self.part(-1), {}
        runs = {s: (low, high) for s, start in enumerate(self.task.starts) if start}
        for at, key in enumerate(keys):
            longer = {}
            for s, z, low, high in self.cache.get((at, key)) or self.column(at, key):
                if s in runs:
                    low, high = low + runs[s][0], high + runs[s][1]
                    longer[z] = (min(low, longer[z][0]), max(high, longer[z][1])) if z in longer else (low, high)
            runs = longer
        last = [(low + lows[s], high + highs[s]) for s, (low, high) in runs.items() if s in ends]
        return (min(low for low, _ in last), max(high for _, high in last)) if last else None


def over_tokens(task, seen, ends):
    """Returns the sum of ends[position, token] = low, high over the visible positions."""

    def part(column):
        place = {name: p for name in task.sizes if (p := task.at.get((name, column), seen)) < seen}
        if column < 0:
            flags = [[ends[p, task.token[name][x]] for x in task.flags[name]] for name, p in place.items()]
            fixed = [[ends[p, x]] for p, x in enumerate(task.prompt) if type(x) is int]
            rows = [[(0, 0)], *fixed], [[(0, 0)] * len(task.starts), *flags]
            return [
                [[sum(pair[side] for pair in pairs) for pairs in zip(*row, strict=True)] for row in rows]
                for side in (0, 1)
            ]
        none = [(0, 0)] * (max(task.sizes.values()) + 1)
        rows = [
            [ends[place[name], x] for x in task.token[name]] if name in place else none
            for name in (*task.words, task.answer)
        ]
        return [[[pair[side] for pair in row] for row in rows] for side in (0, 1)]

    return Sum(task, part)


def combined(terms):
    """Returns the sum of factor * sum for (factor, sum) in terms."""
    factors = [factor for factor, _ in terms]

    def part(column):
        for side in (0, 1):
            parts = zip(*(of.part(column)[side ^ (factor < 0)] for factor, of in terms), strict=True)
            yield [[(dot(factors, ends) >> S) + side for ends in zip(*rows, strict=True)] for rows in parts]

    return Sum(terms[0][1].task, lambda column: [*part(column)])


class Step:
    """A decoding step after a symbol, with the sums of weights and of weights times values of each head."""

    def __init__(self, decoder, task, step, symbol):
        self.decoder, self.task, self.at, self.seen = decoder, task, (step, symbol), len(task.prompt) + step
        slot = task.slots[self.seen - 1]
        self.last = self.seen - 1, slot if type(slot) is int else task.token[slot[0]][symbol]
        self.sums = [self.look(number, head.scale) for number, head in enumerate(decoder.heads)]

    def look(self, number, scale):
        """Returns the sum of weights, the sums of weights times values minus a center, and the center."""
        (q, _, _), unit, scores, entries = self.decoder.read(number, *self.last), self.decoder.unit, {}, {}
        tokens = {at: self.decoder.read(number, *at)[1:] for at in self.task.tokens_of(self.seen)}
        best = max((key.center for key, _ in tokens.values()), key=partial(dot, q.center))
        for at, (k, value) in tokens.items():
            apart = [a - b for a, b in zip(k.center, best, strict=True)]  # common shifts of the scores have no effect
            off = sum(abs(dot(q.center, slope)) for slope in k.slopes) + dot(map(abs, q.center), k.radius)
            off += sum(abs(dot(slope, apart)) for slope in q.slopes) + dot(q.radius, map(abs, apart))
            off += dot(q.deviation(), k.deviation()) + ((len(q.center) + 8) * unit * dot(q.size(), k.size()) >> 24)
            in_float32([dot(q.size(), k.size()) * max(ONE, abs(scale)) >> 2 * S] if unit else [])
            score = dot(q.center, k.center)
            scores[at] = score * scale >> 2 * S, (off * abs(scale) + abs(score) >> 2 * S) + LOSS, value
        most = max(score for score, _, _ in scores.values())
        middle = [
            sum(row) // len(scores) for row in zip(*(value.center for _, _, value in scores.values()), strict=True)
        ]
        for at, (score, off, value) in scores.items():
            weight, off = exponential(most - score), off + (unit * (8 * ONE + 2 * (most - score + off)) >> 24)
            need(off < ONE, "the error of a score is too large to confirm a proof", 1)
            wrong = (weight * (off + (off * off >> S)) >> S) + LOSS
            entries[at] = [(weight - wrong, weight + wrong)]
            for v, d, m in zip(value.center, value.deviation(), middle, strict=True):
                off = (wrong * abs(v - m) + (weight + wrong) * d >> S) + 2
                entries[at].append(((weight * (v - m) >> S) - off, (weight * (v - m) >> S) + off))
        parts = [{at: row[i] for at, row in entries.items()} for i in range(len(middle) + 1)]
        return *(over_tokens(self.task, self.seen, part) for part in parts), middle


class Near:
    """Constants c and d for the parts of a box, such that the sum over heads of N/D is close to c plus (N - c D)/d."""

    def __init__(self, step, keys, ends):
        self.heads, self.center, parts = [], [0] * len(step.sums[0][-1]), []
        for weights, *values, middle in step.sums:
            total = sum(weights.extremes(keys, ends))
            near = [(sum(value.extremes(keys, ends)) << S) // total for value in values]
            apart = [combined([(ONE, value), (-c, weights)]) for value, c in zip(values, near, strict=True)]
            most = [max(map(abs, each.extremes(keys, ends))) for each in apart] if len(step.sums) > 1 else near
            self.center = [sum(parts) for parts in zip(self.center, near, middle, strict=True)]
            self.heads.append((weights, 2 * ONE * ONE // total, most))
            parts.append([(self.heads[-1][1], each) for each in apart])
        self.sums = [combined(terms) for terms in zip(*parts, strict=True)]

    def ranges(self, keys, ends):
        """Returns the range of each coordinate of the attention output over a box."""
        found = []
        weights = [weights.extremes(keys, ends) for weights, _, _ in self.heads]
        need(min(low for low, _ in weights) > 0, "attention weights may be 0", 1)
        inverse = [(ONE * ONE // high, ONE * ONE // low + 1) for low, high in weights]
        off = [max(abs(i - share) for i in pair) for pair, (_, share, _) in zip(inverse, self.heads, strict=True)]
        for k, (center, each) in enumerate(zip(self.center, self.sums, strict=True)):
            low, high = each.extremes(keys, ends)
            if len(off) == 1:  # (N - c D)/D is (N - c D)/d, times d/D
                share = self.heads[0][1]
                low, high = min(low * i // share for i in inverse[0]), max(high * i // share for i in inverse[0])
            else:
                more = sum(o * most[k] >> S for o, (_, _, most) in zip(off, self.heads, strict=True)) + len(off)
                low, high = low - more, high + more
            found.append((center + low - 1, center + high + 1))
        return found


class Group:
    """The inputs with the same last symbol and the same right symbol at a step; `goal` is the margin to prove."""

    def __init__(self, step, number, symbol, right, goal):
        task = self.task = step.task
        self.step, self.goal, self.required, self.ends = step, goal, {}, {s for s, end in enumerate(task.ends) if end}
        self.low, self.high, self.nodes = task.low[:], task.high[:], 0
        for value, at in ((symbol, step.seen - 1), (right, step.seen)):
            name, column = task.slots[at] if value >= 0 else (None, 0)
            if name in task.flags:
                self.ends = {s for s in self.ends if task.flags[name][s] == value}
            elif name in task.words:
                variable = task.words.index(name) * task.length + column
                self.low[variable] = self.high[variable] = value
            elif name:
                self.required[column] = value
        self.right = task.stop if right < 0 else [task.token[task.places[number][0]][right]]

    def keys(self, low, high):
        """Returns for each column the ranges of the state before, the words and the state after, and the answer."""
        n, span = self.task.length, [*zip(low, high, strict=True)]
        states = span[len(self.task.words) * n :]
        return [(states[c], *span[c : -n - 1 : n], states[c + 1], self.required.get(c)) for c in range(n)]

    def possible(self, low, high):
        return self.step.sums[0][0].extremes(self.keys(low, high), self.ends) is not None

    def near(self, low, high):
        return Near(self.step, self.keys(low, high), self.ends)

    def holds(self, ranges, halvings):
        """Returns whether the right token wins for all attention outputs in these ranges, or in all their halves."""
        least, slopes = self.step.decoder.margins(ranges, self.step.last, self.right)
        if least > self.goal or not halvings:
            return least > self.goal
        k = max(range(len(ranges)), key=lambda k: abs(slopes[k]))
        low, high = ranges[k]
        parts = (low, (low + high) // 2), ((low + high) // 2, high)
        return all(self.holds([*ranges[:k], part, *ranges[k + 1 :]], halvings - 1) for part in parts)

    def settle(self, low, high, near, splits):
        """Proves a box; if that fails, first with constants for this box, and then in halves."""
        ranges, n = near.ranges(self.keys(low, high), self.ends), self.task.length
        if self.holds(ranges, HALVINGS):
            return
        near = self.near(low, high)
        ranges = near.ranges(self.keys(low, high), self.ends)
        if self.holds(ranges, HALVINGS):
            return
        need(splits, f"not proved at step {self.step.seen - len(self.task.prompt) + 1}: {low} to {high}", 1)
        slopes, moves = self.step.decoder.margins(ranges, self.step.last, self.right)[1], {}
        for at in range(n * len(self.task.words)):  # the influence of the variable on the margin
            ends = [each.part(at % n)[1][at // n][low[at] : high[at] + 1] for each in near.sums]
            parts = zip(slopes, ranges, ends, strict=True)
            moves[at] = sum(abs(slope) * (max(row) - min(row)) // (b - a + 1) for slope, (a, b), row in parts)
        for half in self.halves(low, high, max(moves, key=moves.get)):
            if self.possible(*half):
                self.settle(*half, near, splits - 1)

    def halves(self, low, high, at):
        need(low[at] < high[at], f"a single value cannot be split: {low} to {high}", 1)
        middle = (low[at] + high[at]) // 2
        return (low, [*high[:at], middle, *high[at + 1 :]]), ([*low[:at], middle + 1, *low[at + 1 :]], high)

    def walk(self, tree, low, high, depth=0, near=None):
        """Proves the leaves of a split tree whose codes are in preorder."""
        code = next(tree)
        self.nodes += 1
        near = near if depth % 3 and near else lru_cache(None)(lambda: self.near(low, high))
        if code < len(low):
            for half in self.halves(low, high, code):
                self.walk(tree, *half, depth + 1, near)
        else:
            need(code in (EMPTY, LEAF) and self.possible(low, high) == (code == LEAF), "a box has a wrong code", 1)
            if code == LEAF:
                self.settle(low, high, near(), SPLITS)


def trees_of(trees):
    """Returns the codes of each group's split tree."""
    packed, found, at = zlib.decompressobj(), {}, 0
    nodes = base64.b64decode(known("trees", trees)["nodes"], validate=True)
    codes = [code for (code,) in struct.iter_unpack("<H", packed.decompress(nodes, 1 << 28))]
    need(packed.eof and not packed.unused_data, "trees are truncated or too large")
    for *group, count in trees["groups"]:
        need(tuple(group) not in found and count > 0, "a group is repeated or has no tree", 1)
        found[tuple(group)], at = codes[at : at + count], at + count
    need(at == len(codes), "the number of tree nodes does not match the groups", 1)
    return found


def check(claim, data, task):
    """Ends the program unless a claim is confirmed; returns the numbers of groups and boxes as text."""
    about, arithmetic, method, margin, trees = itemgetter("about", "arithmetic", "method", "margin", "trees")(claim)
    need(about in (task.statement, "stop") and (about != "stop" or task.stop), f"the task has no claim {about}", 1)
    need(arithmetic in ("real", "float32") and method == "boxes", f"unsupported proof by {method} for {arithmetic}", 1)
    rest = {"verdict": "proved", "inputs": task.inputs, "counterexample": None, "open": [], "runtime": ""}
    for name, value in rest.items():
        need(json.dumps(claim[name]) == json.dumps(value), f"{name} must be {value}, got {claim[name]}", 1)
    need(type(margin) is float and margin >= 0, "a proved claim must have a margin", 1)
    decoder, step, boxes = Decoder(data, int(arithmetic == "float32"), len(task.slots)), None, 0
    groups, trees = [*task.groups(about)], trees_of(trees)
    for group in groups:
        if step is None or step.at != group[:2]:
            step = Step(decoder, task, *group[:2])
        inputs = Group(step, *group, fixed(margin))
        need(group in trees, f"the group {group} is missing", 1)
        codes = iter(trees.pop(group))
        inputs.walk(codes, inputs.low, inputs.high)
        need(next(codes, None) is None, "a tree has superfluous nodes", 1)
        boxes += inputs.nodes
    need(not trees, "there are trees for groups outside the task", 1)
    need(claim["boxes"] == boxes, f"the trees have {boxes} boxes, but the claim has {claim['boxes']}", 1)
    return f"{len(groups):,} groups, {boxes:,} boxes"


def main(network, certificate):
    data, certificate = Path(network).read_bytes(), read_json(Path(certificate).read_bytes().decode())
    need(certificate.get("format") == "bitwright decoder certificate 1", "not a decoder certificate")
    known("certificate", certificate)
    need(certificate["comparison"] is None or known("comparison", certificate["comparison"]), "an invalid comparison")
    for claim in certificate["claims"]:
        example = known("claim", claim)["counterexample"]
        need(example is None or known("counterexample", example), "an invalid counterexample")
    need(certificate["network"] == sha256(data).hexdigest(), "the certificate is for a different file", 1)
    task = Task(certificate["task"])
    need(certificate["weights"] == Decoder(data, 0, 0).sha256, "the certificate is for different weights", 1)
    print(f"1. the file and its weights match the certificate: {certificate['network']}")
    print(f"2. {task.statement}: an automaton of {len(task.starts)} states, one run for each of {task.inputs:,} inputs")
    verdicts = {claim["verdict"] for claim in certificate["claims"]}
    need(verdicts <= {"proved", "refuted", "tested", "not decided"}, "an invalid verdict")
    proved = [claim for claim in certificate["claims"] if claim["verdict"] == "proved"]
    for number, claim in enumerate(proved, 3):
        print(f"{number}. {claim['about']}: {check(claim, data, task)}, every margin above {claim['margin']}")
    others = [f"{claim['about']} is {claim['verdict']}" for claim in certificate["claims"] if claim not in proved]
    print("not checked:", "; ".join(others) or "nothing")
    if not proved:
        print("NOTHING TO CHECK: the certificate claims no proof")
        sys.exit(1)
    print("HOLDS:", ", ".join(f"{claim['about']} ({claim['arithmetic']})" for claim in proved))


if __name__ == "__main__":
    if len(sys.argv) != 3:
        print("usage: python check_decoder.py DECODER.safetensors CERTIFICATE.json")
        sys.exit(2)
    try:
        main(*sys.argv[1:])
    except Exception as error:
        need(False, f"{type(error).__name__}: {error}")
