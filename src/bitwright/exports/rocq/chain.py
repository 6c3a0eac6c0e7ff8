"""The file about a chain: its certificate, that its rules are those of the program, and the theorem about its lines.

Everything in it is text that Rocq checks: the chain, its certificate and its laws by computation, the rules of the
chain against those of the program by tactics, and the statement against what the checker says by arithmetic
(`claimed`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from bitwright.exports.rocq.claimed import ClaimedLines
from bitwright.exports.rocq.families import Bit, Families, Listed, Row, link
from bitwright.exports.rocq.forms import NotAffineError, natural, value_at
from bitwright.exports.rocq.linear import ChainLaw
from bitwright.exports.rocq.printed import cases, listing, nth_rule
from bitwright.exports.rocq.templates import Templates
from bitwright.exports.rocq.words import output_name
from bitwright.proofs.function.chain import class_of

FUEL = 4000
_RULES, _CELLS = "Rules.run (Families.rules l)", "Rules.run_by_cells Net.net Net.kinds (Families.cells l)"


class ChainText:
    """What a file says of a chain, part by part."""

    def __init__(
        self, name: str, about: str, claim: ClaimedLines, families: Families, programs: Mapping[int, Listed]
    ) -> None:
        self.claim, self.families, self.programs = claim, families, programs
        self.terms, self.chained, self.words = claim.terms, claim.terms.chained, claim.terms.words
        self.inputs, self.outputs, self.variables = self.words.inputs, self.words.outputs, self.words.variables
        positions = self.chained.positions
        self.least = max(families.least, next(l for l in range(1, 99) if value_at(positions, l) >= 5))
        self.absent = [k for k, (_, _, o) in enumerate(self.chained.tracks) if o == 0]
        self.way = "halts" if claim.halt else "steps"
        names = " ".join(self.variables.values())
        self.form = Templates(
            "chain",
            name=name,
            about=about,
            names=names,
            n=f"({natural(positions)})",
            least=self.least,
            first=families.least,
            fuel=FUEL,
            given=self.words.given,
            inputs=" ".join(f"({variable} : Z)" for variable in self.variables.values()),
            bounds=self.words.bounds,
            known=" ".join(f"B{number}" for number in range(len(self.variables))),
            steps=f"({natural(self.chained.steps)})%nat",
            start=f"(start l {names})",
            halt=claim.halt.bit("").strip()[1:-1] if claim.halt else "",
            absent="".join(f"  s (bit_at tracks {k} 0) = false ->\n" for k in self.absent),
        )

    def text(self) -> str:
        return self.form("file", **self._chain(), **self._same(), **self._start(), **self._lines(), **self._theorems())

    def _chain(self) -> dict[str, object]:
        """The chain and its certificate."""
        chained, certificate = self.chained, self.chained.certificate
        chain, clock, classes = certificate["chain"], certificate["clock"], self.chained.classes
        delay, flags, width = clock["delay"], len(chain["globals"]), len(chain["tracks"])

        def state_text(state: int) -> str:
            return f"({state & ((1 << flags) - 1)}, {state >> flags})"

        def by_class(texts: Mapping[str, str], other: str) -> str:
            return (
                f"fun c => match c with {' | '.join(f'{c} => {text}' for c, text in texts.items())} | _ => {other} end"
            )

        def weights(factors: Sequence[int]) -> str:
            return listing(f"({k}, ({factors[k]})%Z)" for k in range(width) if factors[k])

        rules = {c: listing("Rule " + " ".join(map(str, rule)) for rule in own["rules"]) for c, own in classes.items()}
        free = {
            c: listing(str(k) for k in range(own["free"].bit_length()) if own["free"] >> k & 1)
            for c, own in classes.items()
        }
        letters = [None, *(f"({c}, ({t + delay}, ({i}, {b})))" for c, t, i, b in certificate["letters"])]
        windows = []
        for state, own in certificate["windows"]:
            for number, followers in own:
                before = f"Some {letters[number]}" if number else "None"
                after = listing(str(letters[one]) for one in followers)
                windows.append(f"(({state_text(state)}, {before}), {after})")
        verdicts = (
            f"({state_text(state)}, {listing(f'({sign})%Z' for sign in signs)})"
            for state, own in certificate["verdicts"]
            for signs in own
        )
        *others, claim = [*self.claim.formulas, *(f"Not (First {k})" for k in self.absent)]
        for formula in reversed(others):
            claim = f"And ({formula}) ({claim})"
        return {
            "rules": by_class(rules, "[]"),
            "global_rules": listing(f"Rule {m} {v} 0 {h} 0 0" for m, v, h in chain["global_rules"]),
            "free": by_class(free, "[]"),
            "start_bits": by_class({c: str(own["start"]) for c, own in classes.items()}, "0"),
            "start_globals": chain["start_globals"],
            "delay": delay,
            "sweeps": listing(f"({'true' if way == 'up' else 'false'}, {rate}%nat)" for way, rate in clock["sweeps"]),
            "early": clock["early"],
            "fixed": clock["fixed"] or 0,
            "halting": self.claim.halting,
            "states": listing(state_text(state) for state, _ in certificate["windows"]),
            "left_out": "false" if certificate["inputs_in_windows"] else "true",
            "windows": ";\n    ".join(windows),
            "certified_laws": listing(
                f"((({constant})%Z, ({power})%Z), Law {weights(tracks)} {weights(inputs)} [] [])"
                for tracks, inputs, constant, power in certificate["laws"]
            ),
            "verdicts": listing(verdicts),
            "tracks": listing(f'("{x}", ({g}, {o}))' for x, g, o in chained.tracks),
            "flags": listing(map(_flag, chained.flags)),
            "claimed_laws": listing(map(self.terms.law_text, self.terms.laws)),
            "claim": claim,
        }

    def _same(self) -> dict[str, object]:
        """Where the rules of the chain are found among those of the program, at every length, and the other way."""
        numbers = {  # class, mask, value: number of the rule
            (c, rule[0], rule[1]): at for c, own in self.chained.classes.items() for at, rule in enumerate(own["rules"])
        }
        globals_ = {(m, v): at for at, (m, v, _) in enumerate(self.chained.certificate["chain"]["global_rules"])}
        to_chain: list[dict[int, list[tuple[int, int, int, int]]]] = [{} for _ in self.families.rules]
        to_rule: dict[tuple[int, int], dict[int, list[tuple[int, int, int, int]]]] = {}
        for l, program in self.programs.items():
            n = value_at(self.chained.positions, l)
            for rule, (segment, i) in zip(program.rules, self.families.places[l], strict=True):
                part, number, position = self._place(rule, n, numbers, globals_)
                to_chain[segment].setdefault(l, []).append((i, part, number, position))
                to_rule.setdefault((part, number), {}).setdefault(l, []).append((position, segment, 0, i))
        nth_chain = lambda piece, k: f"nth_chain {piece.target} {piece.template} {natural(piece.row, True)}"  # noqa: E731
        return {
            "chain_rules": "".join(cases(link(to_rule[key]), nth_rule, "    +") for key in sorted(to_rule)),
            "program_rules": "".join(cases(link(own), nth_chain, "    +") for own in to_chain),
        }

    def _place(
        self, rule: Row, n: int, numbers: Mapping[Any, int], globals_: Mapping[Any, int]
    ) -> tuple[int, int, int]:
        """Part of the chain's rules (classes 1 to 5, globals), number there, and position."""
        places = [self.chained.place(bit) for bit in rule.ordered[0]]
        places_or_flags = [
            self.chained.flags.index(_name(bit)) if place is None else place[0]
            for place, bit in zip(places, rule.ordered[0], strict=True)
        ]
        if places_or_flags != sorted(places_or_flags):
            raise NotAffineError("a block has its bits in another order than the chain")
        mask = sum(1 << k for k in places_or_flags)
        value = sum(on << k for k, on in zip(places_or_flags, rule.form, strict=True))
        if places[0] is None:
            return 5, globals_[mask, value], 0
        position = places[0][1]
        c = class_of(position, n)
        return c - 1, numbers[str(c), mask, value], position if c == 3 else 0

    def _start(self) -> dict[str, object]:
        """The first state, the input at every position, and the outputs."""
        tracks, outputs = [], ""
        for word, variable in self.variables.items():
            track, first = self.chained.place((self.inputs[word].array, (1,)))  # type: ignore[misc]
            tracks.append(f"{track} => Words.bit_of {variable} {'(i + 1)' if first == 0 else 'i'}")
        for word, parts in self.outputs.items():
            one_bit = self.words.is_bit(word)
            body = parts[0].bit("s") if one_bit else " + ".join(part.text("s") for part in parts)
            sort = "bool" if one_bit else "Z"
            outputs += f"Definition {output_name(word)} (l : nat) (s : Rules.state name) : {sort} := {body}.\n"
        return {"first_state": listing(self.words.start()), "entries": " | ".join(tracks), "outputs": outputs}

    def _lines(self) -> dict[str, object]:
        """The value of every law in terms of inputs and outputs, and what the checker's lines mean."""
        laws, lines, form = "", "", self.form
        for number, law in enumerate(self.terms.laws):
            terms = "".join(f" + ({factor}) * {self.words.value(word)}" for word, factor in law.words.items())
            facts, ends = self._facts(law)
            unfold = " ".join(f"unfold {output_name(word)}." for word in self.outputs if (False, word) in law.words)
            value = f"{law.scale} * ({law.constant}{terms})"
            laws += form("law", number=number, value=value, facts=facts, unfold=unfold, ends=ends)
        bits = [word for word, parts in self.outputs.items() if all(part.length is None for part in parts)]
        names = " ".join(self.variables.values())
        for number, line in enumerate(self.claim.lines):
            lines += form(
                "line",
                number=number,
                after=f"  {line.after} ->\n" if line.after else "",
                formula=line.truth.formula,
                test=line.truth.test,
                laws="".join(f"rewrite (law_{law} l {names} s) by assumption. " for law in line.laws),
                bits="".join(f"try unfold {output_name(word)}. " for word in bits),
            )
        return {"laws": laws, "lines": lines}

    def _facts(self, law: ChainLaw) -> tuple[str, str]:
        """What the proof of a law's value says of its words, and how it ends."""
        facts, ends, n = "", "", f"({natural(self.chained.positions)})"
        for word in law.words:
            for part in self.words.parts(word):
                if part.length is None:
                    _, end, track = self.terms.end(part)
                    facts += f"  end_bit s {track}%N ({part.bit('')}).\n"
                    if end == "last":
                        ends += (
                            f"top_bit ({natural(part.exponent)})%nat {n}%nat. destruct ({part.bit('s')}); cbn [Z.b2z]; "
                        )
                    continue
                track, first = self.chained.place((part.array, (1,)))  # type: ignore[misc]
                if part.length + first != self.chained.positions:
                    raise NotAffineError(f"{word[1]} has fewer bits than the chain of {part.array} has positions")
                entered = f"entered_word chain {track}%N {self.variables[word[1]]}" if word[0] else ""
                fact = entered or f'track_word s {track}%N "{part.array}"'
                facts += f"  {fact} ({natural(part.length)})%nat {first}%nat.\n"
        return facts, ends

    def _theorems(self) -> dict[str, object]:
        """All lines together, as something that can be computed; and that they hold, from the certificate."""
        form, halt, lines = self.form, str(self.form.pieces["halt"]), self.claim.lines
        conclusion = " /\\\n  ".join(
            [*[f"(s ({halt}) = true)"] * bool(halt), *(f"({line.truth.statement})" for line in lines)]
        )
        *before, test = [*[f"s ({halt})"] * bool(halt), *(line.truth.test for line in lines)]
        for one in reversed(before):
            test = f"({one} && {test})"
        numbered = [f"H{number}" for number in range(len(lines))]
        *parts, last = [*["HH"] * bool(halt), *numbered, *(f"A{k}" for k in self.absent)]
        proved = "".join(f"  apply means_absent in A{k}.\n" for k in self.absent)
        if halt:
            proved += f"  assert (HT : s ({halt}) = true) by (refine (eq_trans _ HH); cbn [means]; same_bit).\n"
        names, known = form.pieces["names"], form.pieces["known"]
        for number, line in enumerate(lines):
            after = " ".join(f"A{k}" for k in self.absent) + " ltac:(lia)" * bool(line.after)
            proved += f"  rewrite (line_{number} l {names} s L {known} {after}) in H{number}.\n"
        *before, proof = [*["HT"] * bool(halt), *numbered]
        for one in reversed(before):
            proof = f"(andb_true_intro (conj {one} {proof}))"
        tested = self._statement(_RULES, f"test l {names} s = true")
        return {
            "test": test,
            "conclusion": conclusion,
            "unfold": " ".join(f"unfold {output_name(word)}." for word in self.outputs),
            "tested": tested,
            "ended": form.line(f"ended_{self.way}"),
            "last": "t" if halt else form.pieces["steps"],
            "claims": "".join(f"apply means_and in H as [{part} H]. " for part in parts) + f"rename H into {last}.",
            "proved": proved,
            "proof": proof,
            "short": self._short(tested),
            "rules_say": self._statement(_RULES, conclusion),
            "cells_say": self._statement(_CELLS, conclusion),
            "by_test": form.line(f"by_test_{self.way}"),
            "by_cells": form.line(f"by_cells_{self.way}"),
        }

    def _statement(self, run: str, what: str) -> str:
        """That something is so at the end of a run; `what` is about s."""
        return self.form.line(f"statement_{self.way}", run=run, what=what)

    def _short(self, tested: str) -> str:
        """Smaller sizes, by running all inputs; and all sizes together."""
        form, halts = self.form, self.way == "halts"
        sizes = range(self.families.least, self.least)
        if any(value_at(self.chained.steps, size) < 1 for size in sizes):
            raise NotAffineError(f"a run of size {sizes[0]} takes no step")
        if not sizes:
            return form("nothing_short", tested=tested)
        at, last = (
            form.line("halting_table", the_rules=rules) if halts else form.pieces["steps"]
            for rules in ("(Families.rules l)", "the_rules")
        )
        names, start = form.pieces["names"], form.pieces["start"]
        tried = f"test l {names} (Table.lookup (Table.run_table the_rules {last} {start}))"
        if halts:
            tried = f"negb ({start} ({form.pieces['halt']})) && ((({last} <=? {form.pieces['steps']})%nat) && {tried})"
        inside = "T"
        for word, variable in reversed(self.variables.items()):
            tried = f"forallb (fun {variable} => {tried}) (Table.numbers ({self.words.length(word)}))"
        for number, variable in enumerate(self.variables.values()):
            inside = f"Table.in_all _ _ {variable} ({inside}) (Table.In_numbers _ _ B{number})"
        return form(
            "short",
            tried=tried,
            sizes=listing(f"{size}%nat" for size in sizes),
            tested=tested,
            inside=inside,
            halting_short=form("halting_short", at=at) if halts else "",
            unfold_halts="unfold Table.halts_at; " * halts,
        )


def _flag(name: str) -> str:
    head, _, rest = name.removesuffix("]").partition("[")
    return f'at_ "{head}" {rest}' if rest else f'flag "{head}"'


def _name(bit: Bit) -> str:
    return bit[0] + (f"[{bit[1][0]}]" if bit[1] else "")
