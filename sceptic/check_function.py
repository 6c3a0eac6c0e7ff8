"""Checks the certificate that rules satisfy their `ensure` lines at every length, in plain Python.

    python check_function.py CERTIFICATE.json RULES.bw RULES.bw ...

The RULES.bw are the output of `bitwright show NAME --let l=N --text` for every N from the first on, up to 8 positions
or more, with `--let` for all numbers that the certificate fixes. A word has a letter (class, clock, input, bits) for
every position; classes are first, second, middle, last but one and last. The certificate lists the pairs of letters
that may be adjacent, and the possible signs of weighted sums (laws). Checked: start words of every length are of this
form, a step leads from such words to such words, the lines hold at the end of a run, it ends in time, and they hold
for all inputs of fewer than five positions. Clock, laws, windows and verdicts are only used as hints; all else is
derived from RULES.bw and compared. Trusted: larger sizes continue this pattern. Exit 0: it holds; 1: it does not; 2:
unreadable.
"""

import json
import sys
from pathlib import Path

from chains import Clock, Rules, check_sizes, need
from lines import read_line, with_numbers

FOLLOWS = {0: (1,), 1: (2,), 2: (3,), 3: (3, 4), 4: (5,), 5: ()}
START = (0, 0, 0, 0)


class Check:
    def __init__(self, data, classes, halt, width):
        self.classes, self.halt = classes, halt
        self.clock, self.laws, self.shown = Clock(**data["clock"]), data["laws"], data["inputs_in_windows"]
        self.width = width
        letters = [START, *map(tuple, data["letters"])]
        self.windows = {g: {letters[x]: {letters[y] for y in ys} for x, ys in pairs} for g, pairs in data["windows"]}
        self.verdicts = {g: set(map(tuple, found)) for g, found in data["verdicts"]}
        self.zero = tuple((constant, False) for _, _, constant, _ in self.laws)

    def choices(self, kind, letter=None):
        """Returns the possible inputs at a position of this class, or this letter's input if letters contain it."""
        free, chosen, found = self.classes[kind][1], self.classes[kind][1], []
        while True:
            found.append(chosen)
            if not chosen:
                return [letter[2]] if letter and self.shown else found
            chosen = (chosen - 1) & free

    def read(self, states, letter, chosen):
        """Returns the laws after one more letter: carry, and whether any digit was nonzero."""
        found = []
        for (carry, odd), (tracks, inputs, _, _) in zip(states, self.laws, strict=True):
            total = carry + sum(w for t, w in enumerate(tracks) if letter[3] >> t & 1)
            total += sum(w for t, w in enumerate(inputs) if chosen >> t & 1)
            found.append((total >> 1, odd or bool(total & 1)))
        return tuple(found)

    def signs(self, states):
        tops = (0 if law[3] is None else carry + law[3] for (carry, _), law in zip(states, self.laws, strict=True))
        return tuple(-1 if top < 0 else int(top > 0 or odd) for top, (_, odd) in zip(tops, states, strict=True))

    def sent(self, letter):
        """Returns the bits that a letter writes below, here, above and to single bits, and where its clock moves."""
        to = [0, 0, 0, 0]
        for mask, value, *writes in self.classes[letter[0]][2]:
            if letter[3] & mask == value:
                to = [one | more for one, more in zip(to, writes, strict=True)]
        return to, self.clock.goes(letter[1], letter[0])

    def over(self, single, letter):
        """Returns whether the clock has ended and whether the halting bit is on, in a letter or in single bits."""
        ended = self.clock.ended(letter[1], letter[0], single >> self.width)
        at, track = self.halt if isinstance(self.halt, tuple) else (9, 0)
        return ended, bool((single if at == 0 else letter[3] if at == letter[0] else 0) >> track & 1)

    def begin(self, kind, chosen):
        return kind, self.clock.begin(kind), chosen if self.shown else 0, self.classes[kind][0] | chosen

    def start(self):
        single, seen, todo = self.classes[0][0], set(), [(START, self.zero)]
        while todo:
            before, states = todo.pop()
            if before[0] == 5:
                need(self.signs(states) in self.verdicts.get(single, ()), "a start word has unlisted signs")
            for kind in FOLLOWS[before[0]]:
                for chosen in self.choices(kind):
                    letter = self.begin(kind, chosen)
                    need(letter in self.windows.get(single, {}).get(before, ()), "a start word has an unlisted window")
                    node = letter, self.read(states, letter, chosen)
                    todo += [] if node in seen else [node]
                    seen.add(node)

    def singles_after(self, single):
        found = (single >> self.width) + (self.clock.fixed is not None) << self.width
        for mask, value, *writes in self.classes[0][2]:
            found |= writes[3] if single & ((1 << self.width) - 1) & mask == value else 0
        return found

    def step(self, single, guess):
        """Checks that successors of running words with these single bits are listed, for each guessed next value."""
        windows, then = self.windows[single], self.windows[guess]
        # letter, bits written to it and whether its clock starts, laws of word and successor, letter of the successor
        # before it, whether a window of the successor is missing, single bits one step later
        todo = [(START, 0, False, self.zero, self.zero, START, False, self.singles_after(single))]
        seen = set(todo)
        while todo:
            letter, bits, started, old, new, behind, bad, after = todo.pop()
            own, goes = self.sent(letter) if letter != START else ([0, 0, 0, 0], 0)
            for other in [START] if letter[0] == 5 else windows.get(letter, ()):
                need(other == START or other[0] in FOLLOWS[letter[0]], "classes are out of order")
                if other != START and any(self.over(single, other)):
                    continue
                to, comes = self.sent(other) if other != START else ([0, 0, 0, 0], 0)
                made, missing, ahead = START, bad, new
                if letter != START:
                    clock = self.clock.after(letter[1], letter[0], started or comes < 0)
                    made = letter[0], clock, letter[2], bits | to[0]
                    missing, ahead = bad or made not in then.get(behind, ()), self.read(new, made, 0)
                if other == START:
                    if self.signs(old) in self.verdicts.get(single, ()):
                        need(after in self.windows, "a step leads to unlisted single bits")
                        right = not missing and self.signs(ahead) in self.verdicts.get(guess, ())
                        need(after != guess or right, "a step leads out of the windows or verdicts")
                    continue
                for chosen in self.choices(other[0], other):
                    weights = [sum(w for t, w in enumerate(law[1]) if chosen >> t & 1) for law in self.laws]
                    pending = tuple((carry + w, odd) for (carry, odd), w in zip(ahead, weights, strict=True))
                    laws = self.read(old, other, chosen), pending
                    node = other, own[2] | to[1], goes > 0, *laws, made, missing, after | to[3]
                    if node not in seen:
                        seen.add(node)
                        todo.append(node)

    def end(self, single, line):
        """Checks that the line is true at the end of a run, and that the run ends in time, as in the rules."""
        windows = self.windows[single]
        rests, singles = self.halt == "at fixed point", (1 << self.width) - 1
        after = self.singles_after(single) & singles
        todo = [(START, 0, self.zero, (False, False), True, after, line.begin(single & singles))]
        seen = set(todo)
        while todo:
            letter, bits, old, over, still, after, at = todo.pop()
            if letter[0] == 5:
                if self.signs(old) in self.verdicts.get(single, ()):
                    still = still and bits == letter[3] and after == single & singles
                    ended, halted = over
                    need(not ended or (still if rests else halted or self.halt is None), "a run does not end in time")
                    done = halted if isinstance(self.halt, tuple) else ended
                    need(not done or line.truth(line.tree, at), "a line is violated")
                continue
            own = self.sent(letter)[0] if letter != START else [0, 0, 0, 0]
            for other in windows.get(letter, ()):
                to, moved, both = self.sent(other)[0], still, (0, 0)
                if rests:
                    moved = still and (letter == START or bits | to[0] == letter[3])
                    both = own[2] | to[1], after | to[3]
                for chosen in self.choices(other[0], other):
                    ends = tuple(a or b for a, b in zip(over, self.over(single, other), strict=True))
                    read = line.next(at, (other[0], 0, chosen, other[3]))
                    node = other, both[0], self.read(old, other, chosen), ends, moved, both[1], read
                    if node not in seen:
                        seen.add(node)
                        todo.append(node)


def main(certificate, *texts):
    document = json.loads(Path(certificate).read_text())  # `bitwright certify -o` stores it as a link of its chain
    data = document["links"]["function"]["proof"] if "links" in document else document
    need(data.get("format") == "bitwright function 1" and texts, "not a function certificate, or no rules", 2)
    chain, program = data["chain"], data["program"]
    stated = [program.get(name, []) for name in ("ensures", "conditions")]
    read = sorted((Rules(Path(text).read_text(), chain["places"]) for text in texts), key=lambda rules: rules.length)
    lengths = [rules.length for rules in read]
    sizes = [(length - chain["extra"]) // chain["unit"] for length in lengths]
    check_sizes(document, program, sizes[0])
    need(
        sizes == list(range(sizes[0], sizes[-1] + 1)) and lengths[-1] >= 8,
        "give the rules at all sizes up to eight positions",
        2,
    )
    need(
        [s * chain["unit"] + chain["extra"] for s in sizes] == lengths,
        "the number of positions does not grow with the size as the certificate states",
    )
    for size, rules in zip(sizes, read, strict=True):  # the lines of the certificate match the rules
        rules.run_all(*([with_numbers(line, program["numbers"], size) for line in lines] for lines in stated))
    long = [rules.chain() for rules in read if rules.length >= 5]
    need(all(one == long[0] for one in long), "the classes are not the same at all sizes")
    about = program["numbers"], chain["unit"], chain["extra"]
    lines = [read_line(line, stated[1], long[0][1], *about) for line in stated[0]]
    read[program["at"] - sizes[0]].agrees(data, long[0][0], sizes[: sum(length < 5 for length in lengths)])
    check = Check(data, long[0][0], long[0][2], read[0].singles)
    for rules in read:
        rules.timed(check.clock)
    check.start()
    for single in check.windows:
        if not (check.over(single, START)[0] or check.over(single, START)[1]):
            for guess in check.windows:
                check.step(single, guess)
        for line in lines:
            check.end(single, line)
    lines = " where ".join([" ".join(map("({})".format, stated[0])), *stated[1]])
    print(f"HOLDS: {lines} for {program['sizes']}; {len(texts)} sizes given")


if __name__ == "__main__":
    need(len(sys.argv) > 2, __doc__.split("\n\n")[1].strip(), 2)
    try:
        main(*sys.argv[1:])
    except (ArithmeticError, AttributeError, LookupError, OSError, SyntaxError, TypeError, ValueError) as error:
        need(False, f"{type(error).__name__}: {error}", 2)
