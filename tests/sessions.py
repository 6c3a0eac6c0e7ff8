"""Sessions in Markdown: blocks of commands with the output printed below each, run in order and compared.

Commands of bitwright run in this process, also `echo WORDS | bitwright ...`, `bitwright ... > FILE` and
`bitwright ... || echo exit code $?`; the rest goes through a shell, which finds this `bitwright` and `python`.
A block below a name in bold is a file, and so is `cat FILE` of a file that is not there yet: it is written.
With REWRITE_PAGES=1 lines that changed are put into the page.
"""

import ast
import difflib
import os
import re
import shlex
import subprocess
import sys
from contextlib import redirect_stdout
from dataclasses import dataclass, replace
from glob import glob
from io import BytesIO, StringIO, TextIOWrapper
from pathlib import Path
from unittest.mock import patch

from calling import Captured

from bitwright.cli.main import main

ROOT = Path(__file__).parent.parent
HERE = re.compile(
    r"(?:echo (?P<given>[^|<>&]+) \| )?bitwright (?P<words>[^|<>&]*?)"
    r"(?: > (?P<file>\S+)| (?P<code>\|\| echo exit code \$\?))?"
)
BLOCK = re.compile(r"^\*\*(\S+)\*\*\n\n```\w*\n(.*?)^```$|^```\n(\$ .*?)^```", re.MULTILINE | re.DOTALL)
NO = ("bitwright: ", "REFUTED", "DOES NOT HOLD")  # what begins a line of bad input, or of the answer "no"
# What else a page shows that depends on the order in which a machine adds up while it trains.
LOOSE = {
    "docs/tutorial/division-by-three.md": r"margin -?[\d.]+|[GT] = +-?[\d,]+|[0-9a-f]{12}\.\.\."
    r"|^[\d,]+ bytes(?=; the network)"
}


@dataclass(frozen=True)
class Command:
    page: str
    typed: str  # without the comment behind it
    output: str

    def __str__(self) -> str:
        return f"{self.page}: {self.typed}"


def commands_of(path: Path) -> list[Command]:
    """The commands of a page, from the blocks that start with a prompt; a file is a `cat` of it."""
    name = path.relative_to(ROOT).as_posix()
    found = []
    for file, text, session in BLOCK.findall(path.read_text()):
        if file:
            found.append(Command(name, f"cat {file}", text.strip("\n")))
        for part in re.split(r"^\$ ", session, flags=re.MULTILINE)[1:]:
            typed, _, output = part.partition("\n")
            found.append(Command(name, re.split(r"\s+# ", typed)[0].strip(), output.strip("\n")))
    return found


def python_of(path: Path) -> list[str]:
    """The blocks of Python of a page that are no files."""
    return re.findall(r"^```python\n(.*?)^```", BLOCK.sub("", path.read_text()), flags=re.DOTALL | re.MULTILINE)


def run_python(code: str) -> int:
    """Runs a block; where a comment behind an expression is a value, that has to be its value. Gives how many were."""
    scope: dict[str, object] = {}
    exec(code, scope)
    compared = 0
    for line in code.splitlines():
        expression, _, comment = line.partition("  # ")
        try:
            wanted = ast.literal_eval(comment.strip())
            ast.parse(expression, mode="eval")
        except (SyntaxError, ValueError):
            continue
        with redirect_stdout(StringIO()) as printed:
            value = eval(expression, scope)
        assert wanted == (ast.literal_eval(printed.getvalue()) if value is None else value), line
        compared += 1
    return compared


def settled(text: str, page: str = "") -> list[str]:
    """Lines, without times and without what depends on the order in which a machine adds up."""
    passing = r"in [\d.,]+ (?:s|ms)\b|[\d,.]+ evaluations a second|sha256 [0-9a-f]{64}$|^  distance  .*$|about [\d,]+ s"
    passing += r"|in a [\d,]+-byte file"  # numbers in its header have more digits on some machines
    passing += r"|(?<=^REFUTED: )a=\d+, b=\d+: decoding gives z=\d+ instead of z=\d+$"  # which pair is found first
    passing += r"|(?<=CaDiCaL, )[\d,]+ conflicts?"  # another version of the solver counts otherwise
    passing += f"|{LOOSE[page]}" if page in LOOSE else ""
    lines = [line.rstrip() for line in re.sub(passing, "", text, flags=re.MULTILINE).splitlines()]
    return [line for line in lines if line.strip() and not line.startswith("training a network")]


def check(command: Command, capfd: Captured, code: int | None = None) -> None:
    """Runs a command in this folder; it must print what the page says, and end as that says or with `code`."""
    if (shown := re.fullmatch(r"cat (\S+)", command.typed)) and not Path(shown[1]).exists():
        Path(shown[1]).write_text(command.output + "\n")
        return
    here = HERE.fullmatch(command.typed)
    found, out, err = _in_this_process(here, capfd) if here else _in_shell(command.typed)
    if code is None:
        refused = any(line.startswith(NO) for line in command.output.splitlines()) and "||" not in command.typed
        code = (1 if out else 2) if refused else 0
    assert found == code, f"{command}: exit code {found}\n{out}{err}"
    if command.output:
        if os.environ.get("REWRITE_PAGES"):
            command = _rewritten(command, out + err if command.output.split("\n")[0] in out else err + out)
        shown = [line for line in settled(command.output, command.page) if line.strip() != "..."]
        answer, all_said = (settled(text, command.page) for text in (out, out + err))
        assert [line for line in shown if line not in all_said] == [], f"{command} does not print this:\n{out}{err}"
        if "..." not in command.output:  # notes, which go to another stream, may be left out; the answer may not
            assert [line for line in answer if line not in shown] == [], f"{command} prints more"


def _rewritten(command: Command, said: str) -> Command:
    """Puts the nearest line that was printed in the place of each line of the page that was not, or all of them."""
    page = command.page
    now, said_now = command.output, settled(said, page)
    for line in command.output.splitlines():
        if line.strip() != "..." and set(settled(line, page)) - set(said_now):
            nearest = difflib.get_close_matches(line, said.splitlines(), 1, 0.5)
            now = now.replace(line, nearest[0].rstrip() if nearest else line)
    shown = [line for line in settled(now, page) if line.strip() != "..."]
    if "..." not in now and (set(shown) - set(said_now) or set(said_now) - set(shown)):
        now = said.strip("\n")
    (ROOT / page).write_text((ROOT / page).read_text().replace(command.output, now))
    return replace(command, output=now)


def _in_this_process(typed: re.Match[str], capfd: Captured) -> tuple[int, str, str]:
    arguments = [part for word in shlex.split(typed["words"]) for part in sorted(glob(word)) or [word]]
    given = " ".join(shlex.split(typed["given"] or "")) + "\n" if typed["given"] else ""
    capfd.readouterr()
    with patch.object(sys, "stdin", TextIOWrapper(BytesIO(given.encode()))):
        code = main(arguments)
    out, err = capfd.readouterr()
    if typed["file"]:
        Path(typed["file"]).write_text(out)
        out = ""
    if typed["code"] and code:
        return 0, f"{out}exit code {code}\n", err
    return code, out, err


def _in_shell(typed: str) -> tuple[int, str, str]:
    folder = Path("bin")
    folder.mkdir(exist_ok=True)
    for name, start in (("bitwright", f"{sys.executable} -m bitwright"), ("python", sys.executable)):
        (folder / name).write_text(f'#!/bin/sh\nexec {start} "$@"\n')
        (folder / name).chmod(0o755)
    path = f"{folder.resolve()}{os.pathsep}{os.environ['PATH']}"
    sources = os.pathsep.join(filter(None, [str(ROOT / "src"), os.environ.get("PYTHONPATH", "")]))
    done = subprocess.run(
        ["bash", "-o", "pipefail", "-c", typed],
        env={**os.environ, "PATH": path, "PYTHONPATH": sources},
        capture_output=True,
        text=True,
        check=False,
    )
    return done.returncode, done.stdout, done.stderr
