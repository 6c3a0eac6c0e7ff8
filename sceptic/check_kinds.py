"""Checks a certificate for the kinds of cells that a rule text has at every size, using only the standard library.

    python check_kinds.py RULES.bw CERTIFICATE.json

The theorem is in docs/explanation/cells.md, the keys of a certificate in README.md. This program
reads the text, derives the atoms of every cell line, their modulus and the cut-off, expands the text at every size up
to it, and compares the certificate with its own results. Exit 0: it holds; 1: it does not; 2: it cannot be read. The
proof covers sizes from the smallest ones on, which it prints. It needs the folder kinds.
"""

import json
import re
import sys
from hashlib import sha256
from itertools import combinations, product
from math import ceil, floor, gcd, lcm
from pathlib import Path

from kinds.atoms import Atoms
from kinds.expand import NoProgramError, kinds
from kinds.families import Families
from kinds.forms import const, need, put
from kinds.rule_text import Text


def determinant(rows):
    if not rows:
        return 1
    return sum((-1) ** i * x * determinant([row[:i] + row[i + 1 :] for row in rows[1:]]) for i, x in enumerate(rows[0]))


def cutoff(atoms, names, size):
    """Returns the bound of the theorem, V + n N R, rounded down."""
    n, column, reach = len(names), names.index(size), {}
    for form in atoms.forms.values():
        normal = [int(form.get(name, 0)) for name in names]
        scale = gcd(*normal) * (1 if next(filter(None, normal)) > 0 else -1)
        key = tuple(x // scale for x in normal)
        reach[key] = max(reach.get(key, 0), (abs(form.get("", 0)) + 1) / abs(scale))
    V = R = 0
    for rows in combinations(reach, n):
        if det := determinant(rows):
            minors = [determinant([r[:column] + r[column + 1 :] for r in rows if r is not row]) for row in rows]
            V = max(V, sum(abs(minor) * reach[row] for minor, row in zip(minors, rows, strict=True)) / abs(det))
    for rows in combinations(reach, n - 1):
        kernel = [determinant([row[:at] + row[at + 1 :] for row in rows]) for at in range(n)]
        R = max(R, abs(kernel[column]) // gcd(*kernel)) if any(kernel) else R
    return ceil(V + n * atoms.modulus * R) - 1 if R else floor(V)


def first(valid, name):
    """Returns the first value at which no array that grows with this number is empty; 0 without such an array."""
    grow = [form for form in valid if form.keys() - {""} == {name} and form[name] > 0]
    return max((ceil(-form.get("", 0) / form[name]) for form in grow), default=0)


def sizes_of(text, source):
    """Returns the independent numbers on which bits, blocks, cells or rules depend."""
    lines = [re.sub("#.*", "", line).strip() for line in source.splitlines()]
    words = {
        word
        for line in lines
        if re.match("(port|whole|bits|block|cell|when|also) ", line)
        for word in re.findall(r"\w+", line)
    }
    found = []
    for name, value in reversed(text.lets.items()):
        above = {*re.findall(r"[A-Za-z_]\w*", str(value))}
        if name in words:
            free = isinstance(value, int) or (text.nodes and above & {"nodes", "ports"})
            found, words = [*found, name] if free else found, words | (set() if free else above)
    return found[::-1] + [name for name in ("nodes", "ports") if text.nodes and name in words]


def main(source, certificate):
    source = Path(source).read_bytes().decode()
    document, text = json.loads(Path(certificate).read_bytes()), Text(source)
    link = document["links"]["sizes"] if "links" in document else None  # of `bitwright certify -o`
    claimed = document if link is None else link["proof"]
    names, smallest = sizes_of(text, source), claimed["sizes"]
    need([*smallest] == names, f"the sizes must be {', '.join(names) or 'none'}")
    need(all(type(least) is int for least in smallest.values()), "a smallest size is not a number")
    families, lines = Families(text, smallest), []
    for number, case, bits in families.cells:
        atoms = Atoms(families, case, bits)
        variables = sorted({name for form in atoms.forms.values() for name in form} - {"", *names}) + names
        cutoffs = {size: cutoff(atoms, variables, size) for size in names}
        lines.append({"line": number, "atoms": sorted(atoms.forms), "modulus": atoms.modulus, "cutoffs": cutoffs})
    cutoffs = {size: max([smallest[size], *(line["cutoffs"][size] for line in lines)]) for size in names}
    below = [(value,) for value in range(first(families.valid, *names), *smallest.values())] if len(names) == 1 else []
    seen, looked_at, least = {}, 0, dict(smallest)
    for values in [*below, *product(*(range(smallest[size], cutoffs[size] + 1) for size in names))]:
        at = dict(zip(names, values, strict=True))
        exists = all(put(form, {n: const(v) for n, v in at.items()}).get("", 0) >= 0 for form in families.valid)
        try:
            for kind, cell in [*kinds(text, at)]:
                seen.setdefault(json.dumps(kind), {"blocks": kind[0], "ports": kind[1], "sizes": at, "cell": cell})
            looked_at, least = looked_at + 1, least if looked_at or values not in below else at
        except NoProgramError as error:  # from the smallest sizes on, only an extent may fail
            need(values in below or not exists, f"the text is not a program at {at}: {error}")
    found = {"format": "bitwright kinds certificate 1", "text_sha256": sha256(source.encode()).hexdigest()}
    found |= {
        "sizes": smallest,
        "cutoffs": cutoffs,
        "modulus": lcm(*(line["modulus"] for line in lines)),
        "lines": lines,
    }
    found |= {"kinds": sorted(seen.values(), key=lambda one: (one["blocks"], one["ports"]))}
    for name in claimed.keys() | found.keys():
        same = json.dumps(claimed.get(name), sort_keys=True) == json.dumps(found.get(name), sort_keys=True)
        need(
            same and name in found,
            f"the certificate has {name} = {str(claimed.get(name))[:300]}, but it must be {found.get(name)}",
        )
    span = ", ".join(f"{size}>={value}" for size, value in least.items())
    named = None if link is None else "every graph" if text.nodes else span or "every"
    right = link is None or (link["claim"]["verdict"], link["claim"]["sizes"]) == ("proved", named)
    need(right, f"the claim covers different sizes from the proof, {span}")
    span = span or "its single size"
    print(
        f"HOLDS: all cells are of {len(seen)} kind{'s' * (len(seen) != 1)}, for {span}; {looked_at} sizes were expanded"
    )


if __name__ == "__main__":
    try:
        main(*sys.argv[1:])
    except (OSError, ValueError, TypeError, KeyError, AttributeError, SyntaxError) as error:
        need(False, f"{type(error).__name__}: {error} (give RULES.bw CERTIFICATE.json)", 2)
