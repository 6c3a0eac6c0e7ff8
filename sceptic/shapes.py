"""A program at one size with the shapes of its arrays: off, on, one bit, or a word; and phases. For check_loop.py."""

import symbolic
from chains import need


class AtSize:
    """The rules at one size; the bits of words are inputs of a graph."""

    def __init__(self, text, fixed):
        self.text, self.rules, self.graph, self.fixed = text, symbolic.Rules(text), symbolic.Graph(), fixed
        self.arrays, self.words = {}, {}
        for name, bit in self.rules.bit.items():
            self.arrays.setdefault(name.partition("[")[0], []).append(bit)

    def word(self, name, like):
        """A new word of any bits but those that are fixed, as long as an array."""
        need(name not in self.words, "two words have one name")
        self.words[name] = [self.graph.input() for _ in self.arrays[like]]
        if name in self.fixed:
            self.words[name][0] = self.fixed[name]

    def bits(self, array, shape):
        what, length = shape[0], len(self.arrays[array])
        if what in ("off", "on"):
            return [int(what == "on")] * length
        if what in ("first", "last"):
            return [int(place == (0 if what == "first" else length - 1)) for place in range(length)]
        word = self.words[shape[1]]
        need(len(word) == length, f"{array} is not as long as {shape[1]}")
        return {"word": word, "up": [0, *word[:-1]], "down": [*word[1:], 0]}[what]

    def step(self, state, given=()):
        bits = [0] * len(self.rules.bit)
        for array, places in self.arrays.items():
            for place, literal in zip(places, dict(given).get(array) or self.bits(array, state[array]), strict=True):
                bits[place] = literal
        after = self.rules.step(self.graph, bits)
        return {array: [after[place] for place in places] for array, places in self.arrays.items()}

    def part(self, phase, ensured):
        """The rules of the busy arrays alone, with a run as long as the phase."""
        begins = {"bits": phase["busy"], "block": phase["busy"], "when": phase["busy"]}
        lines = [
            line
            for line in self.text.splitlines()
            if line.split()[1].partition("[")[0].partition("=")[0] in begins.get(line.split()[0], ())
        ]
        bits = {
            array: " ".join(f"{array}[{n}]" for n in range(len(self.arrays[array]), 0, -1)) for array in phase["busy"]
        }
        lines += [f"input {array} = {bits[array]}" for array in phase["inputs"]]
        lines += [f"output {array} = {bits[array]}" for array in phase["busy"]]
        lines += [f"steps {len(self.arrays[phase['timer']])}", *(f"ensure {line}" for line in ensured)]
        return "\n".join(lines) + "\n"

    def phase(self, phase, before, after, ensured):
        """While the timer runs all other arrays stay, and busy ones do what they do alone; then comes `after`."""
        busy, timer, begins = phase["busy"], phase["timer"], {True: "word", False: "off"}
        need(timer not in busy and before[timer] == ["first"], "a phase begins without its timer")
        need(all(before[array][0] == begins[array in phase["inputs"]] for array in busy), "busy arrays begin otherwise")
        given = {array: [self.graph.input() for _ in self.arrays[array]] for array in (*busy, timer)}
        given[timer][-1] = 0
        early, late = self.step(before, given), self.step(before, {**given, timer: self.bits(timer, ["last"])})
        others = [array for array in self.arrays if array not in busy]
        for array in others:
            stays = [0, *given[timer][:-1]] if array == timer else self.bits(array, before[array])
            need(early[array] == stays, f"{array} does not stay during a phase")
            need(late[array] == self.bits(array, after[array]), f"{array} is another after a phase")
        alone = symbolic.Rules(self.part(phase, ensured))
        bits = [0] * len(alone.bit)
        for name, bit in alone.bit.items():
            array, _, place = name.partition("[")
            bits[bit] = given[array][int(place.strip("]")) - 1]
        made = alone.step(self.graph, bits)
        for array in busy:
            theirs = [made[alone.bit[f"{array}[{n + 1}]"]] for n in range(len(self.arrays[array]))]
            need(early[array] == late[array] == theirs, f"{array} is not busy on its own")
            factors, line = phase["sums"][array], ensured[busy.index(array)]
            total = " + ".join(f"{factor} * in.{name}" for name, factor in factors.items())
            head, _, power = line.partition(" % 2^(")
            right = line == f"{array} == 0" if not factors else head == f"{array} == ({total})"
            need(right, f"the lines of a phase do not say what {array} becomes")
            if factors:
                need(after[array][1].partition(" of phase ")[::2] == (array, after[array][1][-1:]), "a word's name")
                exponent = symbolic.value(symbolic.parsed(power.removesuffix(")")), {})
                need(exponent == len(self.arrays[array]), "a modulus that is not as long as its array")
                need(set(factors) <= set(phase["inputs"]), "a sum of other arrays")
                self.word(after[array][1], array)
            need(after[array] == (["word", f"{after[array][-1]}"] if factors else ["off"]), "a phase ends otherwise")
