"""The forms of statements, and advice about words and signs of other languages."""

from __future__ import annotations

from bitwright.common.scanner import Token

_LISTS = ("bits", "port", "whole", "block", "cell", "when", "start", "input", "output")
FOREIGN = {
    "else": "give the other case a 'when' line of its own",
    "or": "give each case a 'when' line of its own",
    "not": "say which value the bit has, as in x=0",
    "then": "what a rule sets stands behind 'write'",
}
FORMS = {
    "let": "let l = 4",
    "bits": "bits p[l] q[l] flag",
    "port": "port bits heard s[l]",
    "whole": "whole bits done",
    "chain": "chain e -> z",
    "graph": "graph simple, connected, degree 8",
    "block": "block p[i] q[i] for i in 1..l",
    "cell": "cell p[i] c[i] for i in 1..l",
    "when": "when p[i]=0 q[i]=1 write p[i] for i in 1..l",
    "also": "also when p[i]=0 q[i]=1 write q[i] for i in 1..l",
    "input": "input p q, or input a = p",
    "output": "output p, or output sum = c[l] p",
    "start": "start flag x[1]",
    "steps": "steps 2*l",
    "matches": "matches 2*l",
    "examples": "examples 4*l",
    "where": "where b < m",
    "ensure": "ensure sum == p + q",
    "invariant": "invariant p + q + 2*c == in.p + in.q, or invariant at done: sum == in.p",
    "halt": "halt when flag, or halt at fixed point",
}


def way_out(found: Token, statement: str) -> str:
    """Advice about a sign that other languages have where a statement ends or continues."""
    if found.text == "," and statement in _LISTS:
        return "; conditions, bits and numbers are separated by spaces"
    if found.text in ("=", "!=") and statement == "when":
        return "; 'write' turns bits on, and a bit that no rule writes becomes 0 by itself"
    return ""
