"""Random rule texts with open sizes: edges, single bits, signed words, sweeps, conditions on a second size."""

from __future__ import annotations

from dataclasses import dataclass, field
from random import Random


@dataclass
class RandomText:
    """One text without `ensure` lines; `claims` are lines that may be true of it."""

    seed: int
    lines: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.random = Random(self.seed)
        self.two = self.random.random() < 0.5
        self.extent = self.random.choice(["l"] * 6 + ["l+1", "l+3", "l-1", "2*l"])
        self.lines = ["let l = 4", f"let k = {self.random.choice([0, 1, 1, 2, 3])}"][: 1 + self.two]
        arrays = ["x", "y", "z"][: self.random.choice([2, 2, 3])]
        self.arrays, self.singles = arrays, ["g", "h"][: self.random.choice([0, 0, 1, 2])]
        self.groups = self._groups()
        self.lines.append("bits " + " ".join([*(f"{one}[{self.extent}]" for one in arrays), *self.singles]))
        for group in self.groups:
            self.lines.append(f"block {' '.join(f'{one}[i]' for one in group)} for i in 1..{self.extent}")
        if self.singles:
            self.lines += [f"block {' '.join(self.singles)}"]
        self.lines += self._usual() if self.random.random() < 0.75 else []
        self.lines += [self._rule() for _ in range(self.random.choice([0, 1, 1, 2, 3, 4]))]
        if self.singles and self.random.random() < 0.7:
            self.lines.append(f"also when {self._singles()} write {self.random.choice(self.singles)}")
        self.inputs = arrays[: self.random.choice([1, 1, 2])]
        signed = [self.random.choice(["", "", "signed "]) for _ in range(2)]
        self.lines += [f"input {signed[0]}{' '.join(self.inputs)}"]
        self.outputs = self._outputs(signed[1])
        self.lines += [f"output {self.random.choice(['', signed[1]])}{name} = {bits}" for name, bits in self.outputs]
        if self.random.random() < 0.5:
            place = self.random.choice(["1", self.extent])
            free = [one for one in arrays if one not in self.inputs]
            self.lines.append("start " + self.random.choice([*self.singles, *(f"{one}[{place}]" for one in free)] or ["x[1]"]))
        self.lines += self._end()

    @property
    def text(self) -> str:
        return "\n".join(self.lines) + "\n"

    def _groups(self) -> list[list[str]]:
        rest, found = self.arrays[:], []
        while rest:
            size = min(self.random.choice([1, 1, 2, 3]), len(rest))
            found.append(rest[:size])
            rest = rest[size:]
        return found

    def _usual(self) -> list[str]:
        """Rules that keep or move every bit."""
        found = []
        for array in self.arrays:
            group = next(group for group in self.groups if array in group)
            others = [one for one in group if one != array]
            for rest in (["0", "1"] if len(others) == 1 else ["0"]):
                tests = " ".join([f"{array}[i]=1", *(f"{one}[i]={rest}" for one in others)])
                other = self.random.choice([array, array, *self.arrays])
                shift, span = self.random.choice([("", ""), ("", ""), ("+1", f"i < {self.extent}"), ("-1", "i > 1")])
                where = " and ".join(filter(None, [span, self._condition(0.35)]))
                found.append(f"also when {tests} write {other}[i{shift}] for i in 1..{self.extent}{f' if {where}' * bool(where)}")
        return found

    def _condition(self, chance: float) -> str:
        if self.random.random() > chance:
            return ""
        sign, c = self.random.choice(["=", "!=", "<", ">", "<=", ">="]), self.random.choice([0, 1, 2, 3])
        ways = [f"i {sign} {c + 1}", f"i {sign} {self.extent}-{c}", f"l {sign} {c}", f"l {sign} {-c}"]
        ways += [f"i {sign} k", f"i {sign} k", f"k {sign} {c}", f"i {sign} {self.extent}-k", f"l {sign} k"] * self.two
        return self.random.choice(ways)

    def _rule(self) -> str:
        group = self.random.choice(self.groups)
        tests = " ".join(f"{one}[i]={self.random.choice('01')}" for one in group)
        if "=1" not in tests:
            tests = tests[:-1] + "1"
        targets, where = [], []
        for _ in range(self.random.choice([1, 1, 2])):
            way = self.random.random()
            if way < 0.25 and self.singles:
                targets.append(self.random.choice(self.singles))
            elif way < 0.35:
                where.append("i = 1")
                targets.append(f"{self.random.choice(self.arrays)}[1]")
            elif way < 0.45:
                where.append(f"i = {self.extent}")
                targets.append(f"{self.random.choice(self.arrays)}[{self.extent}]")
            else:
                shift = self.random.choice(["", "", "+1", "-1"])
                where += {"": [], "+1": [f"i < {self.extent}"], "-1": ["i > 1"]}[shift]
                targets.append(f"{self.random.choice(self.arrays)}[i{shift}]")
        where += [one] if (one := self._condition(0.4)) else []
        written = "nothing" if self.random.random() < 0.15 else " ".join(dict.fromkeys(targets))
        return f"also when {tests} write {written} for i in 1..{self.extent}{f' if {chr(32).join(self._and(where))}' * bool(where)}"

    @staticmethod
    def _and(where: list[str]) -> list[str]:
        return [" and ".join(dict.fromkeys(where))]

    def _singles(self) -> str:
        return " ".join(f"{one}={value}" for one, value in zip(self.singles, self.random.choice([["1", "0"], ["1", "1"]])))

    def _outputs(self, _: str) -> list[tuple[str, str]]:
        top, found = self.extent, []
        for number in range(self.random.choice([1, 1, 2])):
            array = self.random.choice(self.arrays)
            ways = [array, array, array, f"{array}[1]", f"{array}[{top}]", f"{array}[1..{top}-1]", f"{array}[2..{top}]"]
            ways += [f"{array}[1..2]", f"{array}[1]", *self.singles, *(f"{one} {array}" for one in self.singles)]
            found.append((f"d{number}", self.random.choice(ways)))
        return found

    def _end(self) -> list[str]:
        c, rate = self.random.choice([0, 1, 1, 2, 3]), self.random.choice([1, 1, 2])
        steps = self.random.choice([f"steps {c}", f"steps {c + 1}", f"steps {rate}*l", f"steps {rate}*l+{c}", f"steps l-{c}", f"steps {rate}*({self.extent})"])
        if self.two and self.random.random() < 0.15:
            steps = "steps k"
        way = self.random.random()
        if way < 0.15:
            return ["halt at fixed point", *([steps] if self.random.random() < 0.4 else [])]
        if way < 0.3 and self.singles:
            return [f"halt when {self.singles[0]}", *([steps] if self.random.random() < 0.6 else [])]
        return [steps]

    def claims(self) -> list[str]:
        """Lines, most of them false: which are true of some sizes is for the caller to find out."""
        random, n, words = self.random, self.extent, [*(name for name, _ in self.outputs), *self.inputs, *(f"in.{one}" for one in self.inputs)]
        shift = n.removeprefix("2*") if n != "2*l" else n
        bits = [f"{word}[{place}]" for word in words for place in ("1", shift)]
        found = [f"{name} == {other}" for name, _ in self.outputs for other in (*words, "0", "1", f"2^({n})-1")]
        found += [f"{name} == (2*{one}) mod 2^({n})" for name, _ in self.outputs for one in self.inputs]
        found += [f"{name} == ({one}+1) mod 2^({n})" for name, _ in self.outputs for one in self.inputs]
        found += [f"{name} {sign} {one}" for name, _ in self.outputs for one in self.inputs for sign in ("<=", ">=", "!=")]
        found += [f"{name} == {one} // 2" for name, _ in self.outputs for one in self.inputs]
        found += [f"{name} == {one} mod {m}" for name, _ in self.outputs for one in self.inputs for m in (2, 3)]
        found += [f"{name}[i] == {one}[i] for i in {a}..{n}-{b}" for name, _ in self.outputs for one in self.inputs for a, b in ((1, 0), (2, 0), (1, 1))]
        found += [f"{name}[i+1] == {one}[i] for i in 1..{n}-1" for name, _ in self.outputs for one in self.inputs]
        for _ in range(12):
            one, two = random.choice(bits), random.choice([*bits, "0", "1"])
            number, other = random.choice(words), random.choice([*words, "0", "1", "2", "-1", f"2^({n}-1)"])
            compared = f"({number} {random.choice(['==', '<', '>=', '!='])} {other})"
            found.append(random.choice([
                f"{number} == {compared}", f"{one} == {compared}", f"{one} => {compared}", f"{one} or {two}", f"not {number} => {compared}",
                f"{number} and {other} or {one}", f"{one} == {two}", f"{number} == -{other}", f"{number} + {other} == {random.choice(words)}",
                f"{number} != {compared}", f"{number} => {one}", f"({one} == {two}) == {compared}",
            ]))
        if self.two:
            found += [f"{name} == {one} + k" for name, _ in self.outputs for one in self.inputs] + [f"{name} <= k" for name, _ in self.outputs]
        random.shuffle(found)
        return found
