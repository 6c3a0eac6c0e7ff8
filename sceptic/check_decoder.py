"""Checks without bitwright that a transformer is right on every input of a task.

    python check_decoder.py DECODER.safetensors CERTIFICATE.json

The certificate holds the task: an automaton that reads a symbol of each word in every column and writes one of the
answer, and where they stand in the tokens. Greedy decoding is right on an input if at every step, with the right
answers so far, the right token's logit is the largest. So the inputs are taken apart by group (step, symbol that was
written last, right symbol), and each group into boxes: ranges of symbols, and of states of the automaton. In a box

1. attention writes the sum over heads of N/D, where N and D are sums over columns: for constants c and d every
   sum of (N - c D)/d has an exact least and greatest value, by dynamic programming along the edges of the automaton;
2. the rest of the network is enclosed by enclosures.py, on these ranges or on halves of them.

For `boxes` the certificate lists how each group is split. `ranges` need no list: a group is split by the states and
symbols of its own column. Exit 0: what the certificate calls proved holds; 1: it does not; 2: a file cannot be read.

Trusted are Python and these two files. That the automaton is the one you mean is for you to read.
"""

import base64
import json
import struct
import sys
import zlib
from functools import lru_cache, reduce
from hashlib import sha256
from itertools import product
from math import prod
from operator import add, itemgetter, mul
from pathlib import Path
from types import SimpleNamespace

from enclosures import LOSS, ONE, Form, Linear, S, UnboundedError, activated, chained, constant, exponential, normed, turned

EMPTY, LEAF, HALVINGS = 65534, 65535, 14
TYPES = {"F32": ("float32", "f", 4), "F64": ("float64", "d", 8)}


class FalseError(Exception):
    """A claim does not hold."""


def need(condition, message, error=ValueError):
    if not condition:
        raise error(message)


def read_json(text):
    def once(pairs):
        need(len(dict(pairs)) == len(pairs), "JSON with a name that comes twice")
        return dict(pairs)

    return json.loads(text, object_pairs_hook=once, parse_constant=int)  # int refuses NaN and Infinity


def fields(value, names):
    need(type(value) is dict and value.keys() == {*names.split()}, f"an object must have just {names}")
    return itemgetter(*names.split())(value)


def fixed(x):
    """A weight in units of 2^-60, to a unit."""
    over, under = x.as_integer_ratio()
    return (2 * over * ONE + under) // (2 * under)


class Decoder:
    """A .safetensors file: the length of a header in 8 bytes, the header in JSON, the bytes of the tensors."""

    def __init__(self, data):
        begin = body = 8 + struct.unpack_from("<Q", data)[0]
        header, self.tensors, hashed = read_json(data[8:body].decode()), {}, {}
        document = read_json(header.pop("__metadata__")["bitwright"])
        for name, tensor in sorted(header.items(), key=lambda item: item[1]["data_offsets"]):
            (kind, letter, size), shape = TYPES[tensor["dtype"]], tuple(tensor["shape"])
            values, end = data[begin : (end := begin + prod(shape) * size)], end
            need(tensor["data_offsets"] == [begin - body, end - body], f"tensor {name} has a wrong size or place")
            hashed[name], begin = f"\n{name} {kind} {shape}\n".encode() + values, end
            self.tensors[name] = nested([fixed(x) for (x,) in struct.iter_unpack("<" + letter, values)], shape)
        need(begin == len(data), "the network's file is cut off, or has bytes of no tensor")
        parts = json.dumps(document["decoder"], sort_keys=True).encode(), *(hashed[name] for name in sorted(hashed))
        self.sha256 = sha256(b"".join(parts)).hexdigest()
        known = document["format"] == "bitwright decoder 1" and document["sha256"] == self.sha256
        need(known, "the network's file was altered, or is none of a decoder")
        self.__dict__ |= vars(self.read(document["decoder"]))
        need(len(self.layers) == 1, "a network of several layers has no proof")

    def read(self, value):
        """The structure, with tensors for their names."""
        if type(value) is dict:
            parts = {name: self.read(part) for name, part in value.items()}
            return Linear(**parts) if parts.keys() == {"weight", "bias"} else SimpleNamespace(**parts)
        if type(value) is list:
            return [self.read(part) for part in value]
        return self.tensors.get(value, value) if type(value) is str else fixed(value) if type(value) is float else value


def nested(values, shape):
    for size in shape[:0:-1]:
        values = [values[i : i + size] for i in range(0, len(values), size)]
    return values


class Task:
    """An automaton by columns, and where its symbols stand in the tokens."""

    def __init__(self, document):
        names = "statement words symbols answer answers length edges starts ends flags prompt places tokens stop"
        self.__dict__ |= zip(names.split(), fields(document, names), strict=True)
        self.sizes = {self.answer: self.answers} | dict(zip(self.words, self.symbols, strict=True))
        self.sizes |= {name: max(values) + 1 for name, values in self.flags.items()}
        self.slots = [slot if type(slot) is int else tuple(slot) for slot in (*self.prompt, *self.places)]
        self.at = {slot: position for position, slot in enumerate(self.slots) if type(slot) is tuple}
        need(len(self.at) + sum(type(slot) is int for slot in self.slots) == len(self.slots), "a place stands twice")
        inside = len(self.prompt)
        for (name, column), position in self.at.items():
            known = self.words if position < inside else (self.answer, *self.flags)
            sound = column == -1 if name in self.flags else 0 <= column < self.length
            need(name and name in known and sound, f"there is no {name}[{column}]")
        for name, size in self.sizes.items():
            need(len({*self.token(name)}) == len(self.token(name)) >= size, f"{name} needs {size} different tokens")
        states, words = len(self.starts), len(self.words)
        bounds = (states, *self.symbols, self.answers, states)
        for edge in self.edges:
            sound = len(edge) == len(bounds) and all(0 <= x < most for x, most in zip(edge, bounds, strict=True) if most)
            need(sound, "an edge of the automaton leads nowhere")
        need(len(self.ends) == states and all(len(of) == states for of in self.flags.values()), "a state is missing")
        self.inputs = prod(self.sizes[slot[0]] for slot in self.slots[:inside] if type(slot) is tuple)
        self.low = [0] * ((words + 1) * self.length + 1)
        self.high = [
            (size - 1) * ((word, column) in self.at)
            for word, size in zip(self.words, self.symbols, strict=True)
            for column in range(self.length)
        ] + [states - 1] * (self.length + 1)

    def token(self, name):
        return self.tokens.get(name, range(self.sizes[name]))

    def check_runs(self):
        """Every input must have exactly one run: counts (0, 1, more) of runs by the state they are in, of all prefixes."""
        steps = {read: [] for read in product(*map(range, self.symbols))}
        for before, *read, _, after in self.edges:
            steps[*read].append((before, after))
        prefixes = {tuple(map(int, self.starts))}
        for _ in range(self.length):
            longer = set()
            for runs, edges in product(prefixes, steps.values()):
                reached = [0] * len(runs)
                for before, after in edges:
                    reached[after] = min(2, reached[after] + runs[before])
                longer.add(tuple(reached))
            prefixes = longer
            need(len(prefixes) < 10_000, "the automaton guesses too much")
        once = all(sum(n for n, end in zip(runs, self.ends, strict=True) if end) == 1 for runs in prefixes)
        need(once, "an input has no run of the automaton, or several", FalseError)

    def groups(self, stop):
        """(step, symbol that was written last, right symbol); -1 for a fixed token, and for the stop token."""
        for step in [len(self.places)] if stop else range(len(self.places)):
            before = self.slots[len(self.prompt) - 1 + step]
            for symbol in [-1] if type(before) is int else range(self.sizes[before[0]]):
                for right in [-1] if stop else range(self.sizes[self.places[step][0]]):
                    yield step, symbol, right

    @lru_cache(None)
    def edges_of(self, key):
        """The edges of a column of a box by their states, as selectors of the symbols of each word and of the answer."""
        *ranges, answer = key
        found = {}
        for before, *read, written, after in self.edges:
            inside = all(low <= x <= high for x, (low, high) in zip((before, *read, after), ranges, strict=True))
            if inside and answer in (None, written):
                found.setdefault((before, after), []).append((*read, written))
        return {pair: [itemgetter(*of, of[0]) for of in zip(*rows, strict=True)] for pair, rows in found.items()}


class Table:
    """A sum of something over all tokens that a query sees, given as (low, high) of each position and token."""

    def __init__(self, task, seen, of):
        self.task, self.cache, zero, inside = task, {}, (0, 0), len(task.prompt)
        self.base = [sum(side) for side in zip(zero, *(of(p, x) for p, x in enumerate(task.prompt) if type(x) is int))]
        self.ends = [zero] * len(task.starts)
        for name, values in task.flags.items():
            if (p := task.at.get((name, -1), seen)) < seen:
                parts = [of(p, task.token(name)[x]) for x in values]
                self.ends = [tuple(map(add, *both)) for both in zip(self.ends, parts, strict=True)]
        self.columns = []
        for column in range(task.length):
            parts = []
            for name in (*task.words, task.answer):
                p = task.at.get((name, column), seen)
                tokens = task.token(name)[: task.sizes[name]]
                parts.append([of(p, x) for x in tokens] if p < seen else [zero] * (len(tokens) + 1))
            self.columns.append([[[side[s] for side in part] for part in parts] for s in (0, 1)])

    def column(self, at, key):
        lows, highs = self.columns[at]
        found = self.cache[at, key] = []
        for (before, after), selectors in self.task.edges_of(key).items():
            low = min(reduce(partial(map, add), (f(x) for f, x in zip(selectors, lows, strict=True))))
            high = max(reduce(partial(map, add), (f(x) for f, x in zip(selectors, highs, strict=True))))
            found.append((before, after, low, high))
        return found

    def extremes(self, keys, ends):
        """The least and the greatest sum over all inputs of a box; None if it has none."""
        state = {s: self.base for s, start in enumerate(self.task.starts) if start}
        for at, key in enumerate(keys):
            after = {}
            edges = self.cache.get((at, key))
            for s, z, low, high in self.column(at, key) if edges is None else edges:
                if s in state:
                    low, high = low + state[s][0], high + state[s][1]
                    if z in after:
                        low, high = min(low, after[z][0]), max(high, after[z][1])
                    after[z] = low, high
            state = after
        last = [tuple(map(add, state[s], self.ends[s])) for s in state if s in ends]
        return (min(low for low, _ in last), max(high for _, high in last)) if last else None


class Attention:
    """What each head reads at a position and token."""

    def __init__(self, decoder, task, unit):
        self.decoder, self.task, self.unit = decoder, task, unit
        self.terms = 2 * len(task.slots) + 8 + len(decoder.heads) * max(len(h.value[-1].columns) for h in decoder.heads)

    @lru_cache(None)
    def residual(self, position, token):
        need(token >= 0, "negative tokens")
        parts = []
        for table in self.decoder.tables:
            rows = table[position if len(table) > 1 else 0]
            parts.append(constant(rows[token if len(rows) > 1 else 0], self.unit))
        return reduce(add, parts)

    @lru_cache(None)
    def read(self, position, token, number):
        """Key, and value after the head's output, of a head."""
        head, x = self.decoder.heads[number], normed(self.decoder.attention_norm, self.residual(position, token))
        key = turned(head.rope, position, normed(head.key_norm, chained(head.key, x)))
        return key, chained(head.output, chained(head.value, x).wider(self.terms))

    @lru_cache(None)
    def query(self, position, token, number):
        head, x = self.decoder.heads[number], normed(self.decoder.attention_norm, self.residual(position, token))
        return turned(head.rope, position, normed(head.query_norm, chained(head.query, x)))

    @lru_cache(None)
    def score(self, position, token, number, seen, last):
        """Of the query at a position and token with a key, and by how much it may be wrong."""
        q, scale = self.query(seen - 1, last, number), self.decoder.heads[number].scale
        k = self.read(position, token, number)[0]
        dot = lambda a, b: sum(map(mul, a, b))
        wrong = sum(abs(dot(q.center, slope)) for slope in k.slopes) + sum(abs(dot(slope, k.center)) for slope in q.slopes)
        wrong += dot(map(abs, q.center), k.radius) + dot(q.radius, map(abs, k.center)) + dot(q.deviation(), k.deviation())
        wrong += (len(q.center) + 8) * self.unit * dot(q.size(), k.size()) >> 24
        return dot(q.center, k.center) * scale >> 2 * S, (wrong * abs(scale) >> 2 * S) + LOSS


class Step:
    """A step of decoding after a symbol: what every token weighs and adds, of each head."""

    def __init__(self, attention, step, symbol):
        task, decoder, self.unit = attention.task, attention.decoder, attention.unit
        self.task, self.attention, self.seen = task, attention, len(task.prompt) + step
        slot = task.slots[self.seen - 1]
        self.last = slot if type(slot) is int else task.token(slot[0])[symbol]
        self.residual = attention.residual(self.seen - 1, self.last)
        self.entries = []
        for number in range(len(decoder.heads)):
            scores = {}
            Table(task, self.seen, lambda *at: scores.setdefault(at, attention.score(*at, number, self.seen, self.last)))
            most = max(score for score, _ in scores.values())
            self.entries.append({at: self.entry(most - score, wrong, *at, number) for at, (score, wrong) in scores.items()})
        self.heads, self.rank = len(decoder.heads), len(self.entries[0][at][2])
        ...
