"""Checks without bitwright that rules satisfy their `ensure` lines, at one size.

    python check_at_size.py RULES.bw CERTIFICATE.json

It executes all steps of all runs symbolically. The formula "a run ends wrong" is built here and must have a refutation
(LRAT), unless the steps alone show that no run does.
"""

import hashlib
import json
import pathlib
import sys

import meaning
import symbolic


def main(rules_file, certificate_file):
    text, path = pathlib.Path(rules_file).read_text(), pathlib.Path(certificate_file)
    certificate, rules, graph = json.loads(path.read_text()), symbolic.Rules(text), symbolic.Graph()
    if certificate["format"] != "bitwright function at a size 2" or certificate["verdict"] != "proved":
        return "it is not a certificate for a proof at one size"
    if certificate["rules"] != hashlib.sha256(text.encode()).hexdigest():
        return "it is for different rules"
    states, lines = symbolic.run(rules, graph), [line for word, line in rules.lines if word == "ensure"]
    if not lines:
        return "the rules have no ensure line"
    words = {f"in__{name}": (0, *word) for name, word in rules.words["input"].items()}
    words |= {name: (0, *word) for name, word in rules.words["input"].items()}
    words |= {name: (-1, *word) for name, word in rules.words["output"].items()}
    goals, given, values = [], [], {n: meaning.number(states[at], *w) for n, (at, *w) in words.items()}
    for line in lines:
        goals += meaning.goals(graph, line, values)
    conditions = [line for word, line in rules.lines if word == "where"]
    for line in conditions:
        given += meaning.goals(graph, line, values)
    if any(goal != 1 for goal in goals):
        formula = meaning.formula(graph, goals, given)
        (lemma,) = certificate["lemmas"]
        if lemma["cnf"] != meaning.digest(formula):
            return "the formula is different"
        if not meaning.refuted(formula, path.parent / pathlib.Path(lemma["file"]).name):
            return "the refutation is invalid"
    holds = " where ".join(["; ".join(lines), *conditions])
    print(f"HOLDS: {holds} ({len(states) - 1:,} steps, {len(graph.parts):,} nodes)")
    return None


if __name__ == "__main__":
    try:
        problem = main(*sys.argv[1:3])
    except (OSError, ValueError, KeyError, TypeError, SyntaxError, IndexError) as error:
        sys.exit(f"cannot check this: {error}")
    sys.exit(problem and f"DOES NOT HOLD: {problem}")
