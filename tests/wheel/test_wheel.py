"""The wheel, in an environment of its own far from the sources: everything that a person types works there.

Dependencies are those of the tests' environment; bitwright itself comes from the wheel alone.
"""

import json
import os
import re
import subprocess
import sys
import sysconfig
import venv
import zipfile
from collections.abc import Callable
from pathlib import Path

import httpx
import pytest
from waiting import PATIENCE

import bitwright
from bitwright.cli.main import VERBS

ROOT = Path(__file__).parents[2]
SOURCE = ROOT / "src" / "bitwright"
Type, Together = Callable[..., str], Callable[..., list[str]]


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    if os.environ.get("CI") != "true":
        pytest.importorskip("hatchling")
        pytest.importorskip("build")
    folder = tmp_path_factory.mktemp("dist")
    command = [sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", str(folder), str(ROOT)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    [found] = folder.glob("*.whl")
    return found


@pytest.fixture(scope="module")
def home(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with an environment in which the wheel is installed."""
    folder = tmp_path_factory.mktemp("elsewhere")
    venv.create(folder / "env", with_pip=False)
    python = folder / "env" / "bin" / "python"
    command = [sys.executable, "-m", "pip", "--python", str(python), "install", "--quiet", "--no-deps", "--no-index"]
    subprocess.run([*command, str(wheel)], check=True, env=alone())
    [packages] = (folder / "env").glob("lib/python*/site-packages")
    # A folder named in a .pth file is looked through after the environment's own, and its own .pth files are not read:
    # the sources that are installed there for development are not found.
    (packages / "dependencies.pth").write_text(sysconfig.get_paths()["purelib"] + "\n")
    return folder


def alone() -> dict[str, str]:
    return {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}


@pytest.fixture(scope="module")
def typed(home: Path) -> Type:
    """Runs a command of the environment in a folder where nothing else is, and gives what it prints."""

    def run(program: str, *arguments: str) -> str:
        command = [str(home / "env" / "bin" / program), *arguments]
        done = subprocess.run(command, cwd=home, env=alone(), capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        return done.stdout

    return run


MANY = """
import json, sys
from bitwright.cli.main import main
for command in json.loads(sys.argv[1]):
    assert main(command) == 0, command
    print(end="\\0", flush=True)
"""


@pytest.fixture(scope="module")
def together(typed: Type) -> Together:
    """What several commands print, each: they run in one process of the environment, so that it takes a moment."""

    def run(*commands: str) -> list[str]:
        return typed("python", "-c", MANY, json.dumps([command.split() for command in commands])).split("\0")[:-1]

    return run


def test_the_wheel_has_every_file_of_the_package(wheel: Path) -> None:
    """Also those that are no Python: pages, kernels, C and JavaScript."""
    with zipfile.ZipFile(wheel) as archive:
        held = {name: archive.read(name) for name in archive.namelist()}
    files = [path for path in SOURCE.rglob("*") if path.is_file() and "__pycache__" not in path.parts]
    for path in files:
        assert held[f"bitwright/{path.relative_to(SOURCE).as_posix()}"] == path.read_bytes()
    assert {".bw", ".c", ".cu", ".css", ".html", ".js", ".mjs", ".typed"} <= {path.suffix for path in files}
    rest = {name for name in held if not name.startswith("bitwright/")}
    own = f"bitwright-{bitwright.__version__}"
    assert all(name.startswith(f"{own}.dist-info/") for name in rest)


def test_it_is_the_wheel_that_is_found(home: Path, typed: Type) -> None:
    place = typed("python", "-c", "import bitwright; print(bitwright.__file__)")
    assert Path(place.strip()).is_relative_to(home)
    assert typed("bitwright", "--version") == f"bitwright {bitwright.__version__}\n"


def test_from_rules_to_a_proved_network_and_its_c(home: Path, typed: Type, together: Together) -> None:
    assert typed("bitwright", "add", "719", "483").startswith("719 + 483 = 1202\n")
    (home / "own.bw").write_text(
        "let l = 3\nbits x[l] y[l]\nblock x[i] for i in 1..l\nblock y[i] for i in 1..l\n"
        "when x[i]=1 write y[i] for i in 1..l\nwhen y[i]=1 write y[i] for i in 1..l\ninput x\noutput y\nsteps 1\n"
    )
    run, _, certify, *_ = together(
        "run own.bw x=5",
        "train own.bw -o own.safetensors -q",
        "certify own.bw --network own.safetensors",
        "export own.safetensors --to c -o own.c --program own.bw",
        "trace own.bw x=5 -o own.html",
        *(f"{verb} --help" for verb in VERBS),
    )
    assert run.startswith("y = 5\n")
    assert certify.startswith("CERTIFIED")
    assert "int main" in (home / "own.c").read_text()
    assert "<style>" in (home / "own.html").read_text()


def test_the_examples_are_written_and_what_pages_show_can_be_typed(home: Path, typed: Type, together: Together) -> None:
    _, run, *_, rules = together(
        "examples",
        "run examples/subtraction.bw a=719 b=483",
        "train addition --tile all --bits 2 --width 256 -o net.safetensors -q",
        "certify addition --network net.safetensors -o net.json",
        "show addition --bits 2 --text",
    )
    kept = [path for path in (ROOT / "examples").rglob("*.*") if "__pycache__" not in path.parts and path.is_file()]
    assert len(kept) > 50
    for path in (*kept, *(ROOT / "sceptic").glob("**/*.py")):
        assert (home / path.relative_to(ROOT)).read_bytes() == path.read_bytes()
    assert run.startswith("difference = 236\n")
    (home / "rules.bw").write_text(rules)
    checked = typed("python", "sceptic/check_network.py", "net.safetensors", "rules.bw", "net.json")
    assert checked.splitlines()[-1].startswith("HOLDS: certified")


def test_the_page_is_served_with_all_it_loads(home: Path) -> None:
    command = [str(home / "env" / "bin" / "bitwright"), "serve", "--port", "0"]
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.DEVNULL, "text": True}
    with subprocess.Popen(command, cwd=home, env=alone(), **pipes) as process:
        assert process.stdout is not None
        try:
            address = process.stdout.readline().split()[0]
            with httpx.Client(base_url=address, timeout=PATIENCE) as http:
                page = http.get("/").text
                loaded = re.findall(r'(?:src|href)="(?!data:|#|http)([^"]+\.(?:js|css))"', page)
                assert loaded
                for name in loaded:
                    assert http.get(f"/{name.removeprefix('/')}").status_code == 200, name
                assert len(http.get("/api/about").json()["examples"]) > 20
        finally:
            process.terminate()
