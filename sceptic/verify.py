"""Checks a certificate of bitwright from beginning to end, without any of its code. Start here.

    python verify.py CERTIFICATE.json NETWORK.safetensors RULES.bw [NAME=NUMBER ...]
    python verify.py CERTIFICATE.json DECODER.safetensors

RULES.bw is the author's rule text. NAME=NUMBER replaces a `let` value, for a certificate about one size.

What you trust when this says HOLDS:

1. Python, and the files of this folder, which use no code of bitwright.
2. The two theorems on paper in docs/explanation/cells.md: a network that is right in every local state of every kind of
   cell takes every step of every program made of such cells; and every kind of cell of a rule text occurs at some size
   up to its cut-off.
3. That the program at larger sizes continues as at the sizes expanded here: read the indices in RULES.bw.
4. That the `ensure` lines printed at the end say what you mean.

Nothing in the certificate is trusted. Steps:

1. Hashes. The network and the rule text must match the certificate; if not, nothing else is read.
2. Function. The rules satisfy the `ensure` lines (check_function.py, check_loop.py, or all inputs of a size).
3. Sizes. All cells of the rule text, at every size, belong to the network's kinds (check_kinds.py).
4. Network. It is right in every state of its domain, computed in Python's integers (check_network.py).
5. Together: the statement that follows from these steps, and no other.

Exit 0: every claim holds. 1: one does not, or these files cannot check it. 2: a file cannot be read.
"""

import ast
import re
import subprocess
import sys
import tempfile
from hashlib import sha256
from pathlib import Path

from chains import Rules
from check_kinds import sizes_of as names_of_sizes
from check_network import Network, need, read_json
from expressions import parsed, sizes_of
from kinds.canonical import canonical, with_values
from kinds.expand import Expanded
from kinds.rule_text import Text

HERE = Path(__file__).resolve().parent
FUNCTIONS = {"bitwright function 1": "check_function.py", "bitwright function by rounds 2": "check_loop.py"}


def run(script, *arguments):
    """Runs a checker, prints the last line of its output, and ends this program if the check fails."""
    done = subprocess.run([sys.executable, HERE / script, *map(str, arguments)], capture_output=True, text=True)
    output = [line for line in done.stdout.splitlines() if line.strip()] or [f"{script} printed nothing: {done.stderr}"]
    print(f"   {script}: {output[-1]}", flush=True)
    if done.returncode:
        sys.exit(1 if done.returncode == 1 else 2)


class Program:
    """The rule text, and a folder for the program at each size that a checker needs."""

    def __init__(self, source, folder, given):
        self.data = Path(source).read_bytes()
        self.source, self.folder, self.given = source, Path(folder), given
        self.text = Text(self.data.decode().replace("\r\n", "\n"))
        self.lines = [self.text.others[word] for word in ("ensure", "where")]

    def at(self, sizes, lines=([], [])):
        """Returns a file with the program at these sizes and these `ensure` and `where` lines."""
        file = self.folder / "-".join(["rules", *(f"{name}={value}" for name, value in sizes.items())])
        stated = [f"{word} {line}\n" for word, them in zip(("ensure", "where"), lines, strict=True) for line in them]
        file.write_text(canonical(self.text, {**self.given, **sizes}) + "".join(stated))
        return file


def same(one, other):
    """Whether two lists have the same formulas, ignoring spaces and parentheses."""
    shapes = []
    for line in (*one, *other):
        tree = parsed(re.sub(r"(?<!\w)mod(?!\w)", "%", line))
        shapes.append([part if isinstance(part, str) else ast.dump(part) for part in (tree, *(tree.loop or ()))])
    return shapes[: len(one)] == shapes[len(one) :]


def check_function(certificate, program, path):
    """Returns the function's ranging number with its first value, or None if there is no claim."""
    claim, proof = (certificate["links"]["function"].get(key) for key in ("claim", "proof"))
    need(claim["verdict"] != "refuted", "the certificate refutes the ensure lines of the rules", 1)
    if claim["verdict"] != "proved":
        print(f"2. function: {claim['verdict']}; nothing is claimed about the function of the rules")
        return None
    shown = [*program.lines[0], *(f"where {line}" for line in program.lines[1])]
    print("2. function: the rules satisfy these lines,", *shown, sep="\n     ")
    if proof is None:
        return run_all_inputs(claim["sizes"], program)
    need(proof.get("format") in FUNCTIONS, f"function: there is no checker for {str(proof.get('format'))[:100]}", 1)
    if proof["format"] == "bitwright function by rounds 2":
        ((name, first),) = sizes_of(certificate, proof["sizes"])[0].items()
        plain = [[with_values(line, {}) for line in them] for them in program.lines]
        lines = dict.fromkeys(range(first, first + 8), plain)
    else:
        about, chain = proof["program"], proof["chain"]
        stated = [about["ensures"], about.get("conditions", [])]
        need(all(map(same, stated, program.lines)), "the certificate is about different ensure lines", 1)
        ranges, fixed = sizes_of(certificate, about["sizes"])
        ((name, first),) = ranges.items()
        lines, last = {}, max(first, -(-(8 - chain["extra"]) // chain["unit"]))
        for size in range(first, last + 1):
            numbers = {name: a * size + b for name, (a, b) in about["numbers"].items()}
            lines[size] = [[with_values(line, numbers) for line in them] for them in stated]
        program.given = {**program.given, **{key: value for key, value in fixed.items() if key in program.text.lets}}
    run(FUNCTIONS[proof["format"]], path, *(program.at({name: size}, them) for size, them in lines.items()))
    return name, first


def run_all_inputs(claimed, program):
    """Runs every input at single sizes, using the definition of a step."""
    runs = 0
    for sizes in single_sizes(claimed, program):
        lets = Expanded(program.text, {**program.given, **sizes}).lets
        lines = [[with_values(line, lets) for line in them] for them in program.lines]
        rules = Rules(program.at(sizes, lines).read_text(), [(next(iter(program.text.arrays)), 1, 0, 1)])
        inputs = sum(len(bits) for bits, _ in rules.words["input"].values())
        need(inputs <= 16, f"function: there are 2^{inputs} inputs, too many to run them all here", 1)
        rules.run_all(*rules.lines, longest=rules.length)
        runs += 1 << inputs
    print(f"   all {runs:,} inputs were run")
    return ()


def single_sizes(claimed, program):
    """Returns the sizes in a claim, such as `4`, `l=4` or `1..8`, or those of the program itself."""
    if claimed == "this program":
        return [{}]
    names = names_of_sizes(program.text, program.data.decode())
    found = re.fullmatch(r"(?:(\w+)=)?(\d+)(?:\.\.(\d+))?", claimed)
    need(found and len(names) == 1 and found[1] in (None, *names), f"this form of sizes is not supported: {claimed}")
    return [{names[0]: size} for size in range(int(found[2]), int(found[3] or found[2]) + 1)]


def check_sizes(certificate, program, path):
    """Returns the programs that consist of the network's kinds of cells."""
    if certificate["domain"] != "cells":
        print("3. sizes: the certificate covers only this program, at one size")
        return [program.at({})]
    claim, proof = (certificate["links"]["sizes"].get(key) for key in ("claim", "proof"))
    need(claim["verdict"] == "proved", f"sizes: {claim['verdict']}", 1)
    if proof:
        print("3. sizes: the kinds of cells of the rule text, at every size")
        run("check_kinds.py", program.source, path)
        return [program.at(kind["sizes"]) for kind in {str(k["sizes"]): k for k in proof["kinds"]}.values()]
    print(f"3. sizes: {claim['sizes']}, expanded for step 4")
    return [program.at(sizes) for sizes in single_sizes(claim["sizes"], program)]


def main(path, network_file, rules=None, *given):
    certificate = read_json(Path(path).read_bytes().decode())
    if certificate.get("format") == "bitwright decoder certificate 1":
        need(rules is None, "a decoder certificate contains its task; give no rules")
        sys.exit(subprocess.run([sys.executable, HERE / "check_decoder.py", network_file, path]).returncode)
    known = rules is not None and certificate.get("format") == "bitwright network certificate 1"
    need(known, "this is not a network certificate with its rule text, nor a decoder certificate")
    network = Network(Path(network_file).read_bytes())
    named = certificate["network_sha256"], certificate["tensors"]
    need((network.about["sha256"], network.sha256) == named, "the certificate is about a different network", 1)
    print(f"1. hashes: {network_file} is the network of the certificate, sha256 {named[0]}")
    with tempfile.TemporaryDirectory() as folder:
        lets = {name: int(value) for name, _, value in (one.partition("=") for one in given)}
        program = Program(rules, folder, lets)
        proof = certificate["links"].get("sizes", {}).get("proof")
        text = sha256(program.data).hexdigest()
        need(not proof or proof["text_sha256"] == text, "the certificate is about a different rule text", 1)
        print(f"   {rules} {'is the rule text of the certificate' if proof else 'is compared below'}, sha256 {text}")
        about = check_function(certificate, program, path)
        files = check_sizes(certificate, program, path)
        print(f"4. network: it is right in every state of its domain, {certificate['domain']}")
        run("check_network.py", network_file, *files, path)
    what = "satisfies the lines of step 2" if about is not None else "takes every step of the rules"
    print(f"HOLDS: the network {what}, {where(certificate, program, about)}")


def where(certificate, program, about):
    function = certificate["links"]["function"]["claim"]["sizes"]
    if "sizes" in certificate["links"]:
        kinds = certificate["links"]["sizes"]["claim"]["sizes"]
        both = "" if about is None or kinds == function else f"{function} and "
        return "in this program" if kinds == "this program" else f"for all sizes in {both}{kinds}"
    if not about:
        return "in this program"
    name, first = about
    size = program.given.get(name, program.text.lets[name])
    need(type(size) is int and size >= first, f"the function is claimed for {function}, not for {name}={size}", 1)
    return f"at {name}={size}"


if __name__ == "__main__":
    if len(sys.argv) < 3:
        sys.exit(print(__doc__.split("\n\n")[1]) or 2)
    try:
        main(*sys.argv[1:])
    except Exception as error:
        need(False, f"{type(error).__name__}: {error}")
