"""train, ensemble and size --network on the command line: results, files, and one clear line for bad input."""

from __future__ import annotations

import json
import resource
import sys
from pathlib import Path

import pytest
from calling import Captured, answer, call, refusal
from cases import for_each
from click.testing import CliRunner

from bitwright import addition
from bitwright.cli.main import main
from bitwright.networks import load_network

ENSEMBLE = ("train", "permutation", "--ensemble", "--tile", "all")
FAST = ("--width", "256", "--tolerance", "1e-2")


def test_an_ensemble_and_its_file(tmp_path: Path, capsys: Captured) -> None:
    command = (*ENSEMBLE, "--bits", "5", "--states", "50", *FAST, "-o", str(tmp_path / "r"), "--json")
    code, out, _ = call(capsys, *command, "-n", "6")
    first = json.loads(out)
    assert (code, first["networks"], first["limit"]) == (0, 6, "ntk")
    assert first["variance_ratio"] == pytest.approx(1, abs=0.5)
    size = (tmp_path / "r").stat().st_size
    again = json.loads(call(capsys, *command, "-n", "6")[1])
    assert {**again, "seconds": 0} == {**first, "seconds": 0}
    assert (tmp_path / "r").stat().st_size == size
    assert "was begun with seed 0, now it is 1" in refusal(capsys, *command, "-n", "6", "--seed", "1")


def test_a_target_that_is_not_reached_is_an_answer_of_no(capsys: Captured) -> None:
    asked = (*ENSEMBLE, "--bits", "8", "--states", "60", "--rounding", "sign", *FAST)
    code, out, err = call(capsys, *asked, "-n", "3", "--accuracy", "0.99")
    assert code == 1
    assert "3 networks do not reach 99.0%" in err
    assert "% of 60 states right" in out


def test_the_proven_number(capsys: Captured) -> None:
    out = answer(capsys, *ENSEMBLE, "--bits", "2", "--delta", "0.3", *FAST, "--json")
    assert json.loads(out)["networks"] > 1
    assert json.loads(out)["accuracy"] == 1


def test_a_folder_of_networks_runs(tmp_path: Path, capsys: Captured) -> None:
    folder = str(tmp_path / "nets")
    code, out, _ = call(
        capsys, "train --tile all --float addition --bits 3 --networks 3 --width 512 -o", folder, "--json"
    )
    assert (code, json.loads(out)["networks"]) == (0, 3)
    code, out, _ = call(capsys, "add 5 6 --bits 3 --engine network --network", folder, "-q")
    assert (code, out.strip()) == (0, "11")


@pytest.fixture(scope="module")
def trained(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """A network of each kind, and one for a rule file."""
    folder = tmp_path_factory.mktemp("trained")
    rules = folder / "rules.bw"
    rules.write_text("bits p[2]\nblock p[1] p[2]\nwhen p[1]=1 p[2]=0 write p[2]\ninput p\nsteps 1\n")
    made = {
        "multiplication": ("multiplication", "--bits", "3", "--width", "4096"),
        "addition": ("addition", "--bits", "3"),
        "permutation": ("permutation", "--order", "3,1,2"),
        "rules": (str(rules),),
    }
    for name, what in made.items():
        assert main(("train", "--tile", "all", "--float", *what, "-o", str(folder / f"{name}.safetensors"), "-q")) == 0
    return {name: str(folder / f"{name}.safetensors") for name in made} | {"rules.bw": str(rules)}


@for_each(
    ("arguments", "network", "printed"),
    [
        (("multiply", "3", "2"), "multiplication", "6"),
        (("multiply", "3", "2", "--bits", "3"), "multiplication", "6"),
        (("add", "1", "2"), "addition", "3"),
        (("run", "permutation", "p=0b110"), "permutation", "0b011"),
        (("run", "permutation", "p=0b110", "--order", "3,1,2"), "permutation", "0b011"),
        (("run", "addition", "p=1", "q=1"), "addition", "2"),
        (("run", "permutation", "p=6"), "permutation", "3"),
        (("validate", "permutation"), "permutation", "exact"),
        (("validate", "addition"), "addition", "exact"),
    ],
)
def test_the_length_comes_from_the_network(
    arguments: tuple[str, ...], network: str, printed: str, trained: dict[str, str], capsys: Captured
) -> None:
    code, out, err = call(capsys, *arguments, "--engine", "network", "--network", trained[network], "-q")
    assert (code, out.strip(), err) == (0, printed, "")


def test_a_trace_has_the_length_of_the_network_too(trained: dict[str, str], capsys: Captured) -> None:
    code, out, _ = call(capsys, "trace addition p=1 q=2 --network", trained["addition"])
    assert (code, len(out.splitlines())) == (0, 1 + 2 * 3 + 1)


@for_each(
    ("arguments", "network", "message"),
    [
        (("multiply", "3", "9"), "multiplication", "for multiplication of 3 bits; multiplier is 9, which needs 4"),
        (("multiply", "3", "2", "--bits", "4"), "multiplication", "of 3 bits, got --bits 4; leave it out"),
        (("add", "3", "2"), "multiplication", "was trained for multiplication of 3 bits, not for addition"),
        (("add", "3", "2"), "rules", "(2 bits, 1 template), not for addition"),
        (("add", "3", "2", "--counter"), "addition", "of 3 bits without a counter, got --counter"),
        (("run", "addition", "p=3", "q=9"), "addition", "for addition of 3 bits; q is 9, which needs 4"),
        (("run", "permutation", "p=6", "--order", "1,2,3"), "permutation", "in the order 3,1,2, got --order 1,2,3"),
        (("run", "permutation", "p=0b1100"), "permutation", "for permutation of 3 bits; p is 12, which needs 4"),
        (("validate", "addition", "--bits", "2"), "addition", "of 3 bits, got --bits 2"),
        (("validate", "multiplication"), "addition", "was trained for addition of 3 bits, not for multiplication"),
    ],
)
def test_a_network_for_something_else_says_for_what(
    arguments: tuple[str, ...], network: str, message: str, trained: dict[str, str], capsys: Captured
) -> None:
    assert message in refusal(capsys, *arguments, "--engine", "network", "--network", trained[network])


def test_a_rule_file_runs_with_its_own_network_only(trained: dict[str, str], capsys: Captured) -> None:
    run = ("run", trained["rules.bw"], "p=1", "--engine", "network", "-q", "--network")
    assert call(capsys, *run, trained["rules"])[:2] == (0, "2\n")
    assert "a network for another program" in refusal(capsys, *run, trained["addition"])


def test_the_cache_shows_its_place_and_what_it_holds(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Captured
) -> None:
    monkeypatch.setenv("BITWRIGHT_CACHE", str(tmp_path))
    folder = tmp_path / "bitwright" / "networks"
    assert call(capsys, "cache")[:2] == (0, f"{folder}: 0 networks, 0 B\n")
    assert call(capsys, "add 1 2 --engine network --tile all --width 512 --seed 3")[0] == 0
    code, out, err = call(capsys, "cache")
    assert (code, err) == (0, "")
    assert f"{folder}: 1 network, " in out
    assert "addition of 2 bits, width 512, seed 3\n" in out
    document = json.loads(call(capsys, "cache --json")[1])
    [entry] = document["entries"]
    assert (document["folder"], document["bytes"]) == (str(folder), (folder / entry["file"]).stat().st_size)
    program = addition(2).program
    assert (entry["program_id"], entry["name"], entry["bits"]) == (program.id, "addition", 2)
    assert (entry["seed"], entry["width"], entry["problem"]) == (3, 512, None)
    assert entry["digest"] == load_network(folder / entry["file"], program).digest
    data = (folder / entry["file"]).read_bytes()
    (folder / entry["file"]).write_bytes(data[:-1] + bytes([data[-1] ^ 1]))
    code, out, _ = call(capsys, "cache")
    assert code == 1
    assert "seed 3; not usable: " in out
    assert "is damaged" in out
    assert "is damaged" in json.loads(call(capsys, "cache --json")[1])["entries"][0]["problem"]
    code, out, _ = call(capsys, "cache --clear")
    assert (code, out.startswith("removed 1 network, ")) == (0, True)
    assert not folder.exists()
    assert json.loads(call(capsys, "cache --clear --json")[1])["removed"] == 0


def test_the_json_of_training_says_what_was_trained_and_its_digest(tmp_path: Path, capsys: Captured) -> None:
    program, common = (
        addition(2).program,
        ("train", "--tile", "all", "--float", "addition", "--bits", "2", "--seed", "7", "--width", "256"),
    )
    found = json.loads(call(capsys, *common, "-o", str(tmp_path / "n.safetensors"), "--json")[1])
    assert (found["name"], found["program_id"], found["seed"]) == ("addition", program.id, 7)
    assert found["digest"] == load_network(tmp_path / "n.safetensors", program).digest
    folder = tmp_path / "folder"
    found = json.loads(call(capsys, *common, "-o", str(folder), "--networks", "2", "--json")[1])
    assert (found["name"], found["program_id"], found["seed"]) == ("addition", program.id, 7)
    members = [load_network(path, program) for path in sorted(folder.iterdir())]
    assert found["digests"] == [member.digest for member in members]
    assert [member.origin.member for member in members] == [0, 1]


def test_the_digest_of_an_ensemble_does_not_depend_on_who_trained_it(tmp_path: Path, capsys: Captured) -> None:
    command = (*ENSEMBLE, "--bits", "3", "--states", "10", *FAST, "--json")
    one, two, other = (
        json.loads(call(capsys, *command, *more)[1])["digest"]
        for more in (("-n", "3"), ("-n", "3", "--workers", "2", "-o", str(tmp_path / "r")), ("-n", "4"))
    )
    assert one == two != other


def test_precisions(tmp_path: Path, capsys: Captured) -> None:
    pytest.importorskip("torch")
    file = str(tmp_path / "n.safetensors")
    code, _, _ = call(capsys, "train --tile all --float addition --bits 3 --precision float64 -o", file)
    assert code == 0
    assert load_network(Path(file), addition(3).program).first.dtype == "float64"
    margins = {}
    for precision in ("float32", "float64", "bfloat16"):
        sum_ = ("add", "5", "6", "--bits", "3", "--engine", "network", "--network", file, "--precision", precision)
        code, out, _ = call(capsys, *sum_, "--json")
        assert (code, json.loads(out)["value"]) == (0, 11)
        margins[precision] = json.loads(out)["margin"]
    assert margins["float32"] == pytest.approx(margins["float64"], abs=1e-5)
    assert margins["float32"] != margins["bfloat16"] == pytest.approx(margins["float64"], abs=0.02)


@pytest.mark.parametrize("more", [[], ["--domain", "runs"], ["--tile", "1"]])
def test_the_width_of_one_network(more: list[str], capsys: Captured) -> None:
    """Headline, JSON and exit code say the same: two widths, which is which, of first order and not proved."""
    code, out, _ = call(capsys, "size addition --bits 3 --of network", *more, "--json")
    found = json.loads(out)
    assert code == 0
    assert (found["proved"], found["order"], found["delta"], found["sample_seed"]) == (False, 1, 0.01, 0)
    assert found["domain"] == ("cells" if "--tile" in more else more[-1] if more else "states")
    assert 2 < found["width"] < found["width_covering"]
    assert found["error"]["low"] < found["error"]["mean"] < found["error"]["high"]
    code, out, _ = call(capsys, "size addition --bits 3 --of network", *more)
    headline = out.splitlines()[0]
    assert f"width {found['width']:,} is expected to suffice in " in headline
    assert f"{found['width_covering']:,} covers all by the union (delta 0.01; first order, not proved)" in headline


@for_each(
    ("arguments", "message"),
    [
        ((*ENSEMBLE, "--accuracy", "2"), "--accuracy is a fraction"),
        ((*ENSEMBLE, "-n", "3", "--delta", "0.1"), "leave out --networks"),
        ((*ENSEMBLE, "--states", "0"), "0 is not in the range 1<=x<=1000000"),
        ((*ENSEMBLE, "--ones", "99"), "cannot be on"),
        ((*ENSEMBLE, "--workers", "many"), "workers are a number up to 256"),
        ((*ENSEMBLE, "--width", "0"), "the width must lie between"),
        ((*ENSEMBLE, "--trainer", "torch", "--device", "tpu9"), "there is no device"),
        ((*ENSEMBLE, "-o", "/no/such/folder/file"), "cannot write"),
        (("add", "1", "2", "--precision", "bfloat16"), "--precision goes with --engine network, not templates"),
        (("run", "examples/subleq/hello.sq", "--device", "cuda"), "--device goes with --engine network, not templates"),
        ((*ENSEMBLE, "--ones", "0", "-n", "2"), "none of these states matches a template"),
        ((*ENSEMBLE, "--workers", "ray:127.0.0.1:9"), "no Ray cluster answers at 127.0.0.1:9"),
        (("size", "addition", "--sample-seed", "1"), "--sample-seed is for --of network"),
        (("size", "addition", "--domain", "states"), "there is no domain 'states'"),
        (("size", "addition", "--of", "network", "--n", "blocks"), "--n and unmasked are for ensembles"),
        (("size", "addition", "--of", "network", "--domain", "cells"), "there is no domain 'cells'"),
        (
            ("size", "addition", "--of", "network", "--tile", "1", "--domain", "runs"),
            "leave out --domain and --padding",
        ),
        (("size", "addition", "--of", "network", "--delta", "nan"), "delta must lie between 0 and 1, got nan"),
        (("size", "addition", "--bits", "3000", "--of", "network"), "size the network of its cells instead"),
        (("train", "--tile", "all", "--float", "addition", "-o", "x.onnx"), "-o takes a .safetensors file"),
        (
            ("train", "--tile", "all", "--float", "addition", "-o", "x.safetensors", "--networks", "2"),
            "go into a folder",
        ),
        (("train", "--tile", "all", "--float", "addition"), "Missing option '--output' / '-o'"),
        (("train", "addition", "--ensemble", "--sizes", "1..3"), "--sizes does not go with --ensemble"),
        (("train", "addition", "--accuracy", "0.5", "-o", "x.safetensors"), "--accuracy goes with --ensemble"),
        (("train", "addition", "multiplication", "--ensemble"), "--ensemble looks at one program"),
        (
            ("train", "--tile", "all", "--float", "addition", "-o", "x", "--networks", "2", "--workers", "0"),
            "workers are a number up to 256",
        ),
        (
            ("train", "--tile", "all", "--float", "addition", "-o", "x.safetensors", "--workers", "2"),
            "--workers share out several networks in a folder",
        ),
        (
            ("train", "--tile", "all", "--float", "addition", "-o", "/no/such/folder/x.safetensors"),
            "cannot write /no/such/folder/x.safetensors",
        ),
        *(
            ((*verb, "--trainer", "torch", "--device", device), f"there is no device '{device}'; use cpu or cuda")
            for verb in (("train", "--tile", "all", "--float", "addition", "-o", "x.safetensors"), ENSEMBLE)
            for device in ("meta", "mps", "cpu:3", "", "cuda:x")
        ),
        (
            ("add", "1", "2", "--engine", "network", "--tile", "all", "--device", "meta", "-q"),
            "there is no device 'meta'",
        ),
    ],
)
def test_bad_input_is_one_line(arguments: tuple[str, ...], message: str, capsys: Captured) -> None:
    assert message in refusal(capsys, *arguments)


@for_each(
    ("arguments", "file"),
    [
        ((*ENSEMBLE, "--bits", "5", "--states", "500", "--width", "64", "-n", "3", "-o", "f"), "f"),
        (
            ("train", "--tile", "all", "--float", "addition", "--bits", "3", "--width", "256", "-o", "f.safetensors"),
            "f.safetensors",
        ),
        (
            ("train", "--tile", "all", "--float", "addition", "--width", "256", "--networks", "2", "-o", "f"),
            "member-000000.safetensors",
        ),
        (("export", "multiplication", "--to", "dataset", "--bits", "9", "-o", "f.npz"), "f.npz"),
        (("trace", "multiplication", "multiplicand=7", "multiplier=7", "-o", "f.html"), "f.html"),
    ],
)
def test_a_full_disk_names_the_file(
    arguments: tuple[str, ...], file: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Captured
) -> None:
    """As one that has room for 1,000 bytes more in any file."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "dont_write_bytecode", True)  # else compiled modules are kept, cut off
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1_000, hard))
    try:
        code, out, err = call(capsys, *arguments)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert err.startswith("bitwright: cannot write ")
    assert err.endswith(f"{file}: File too large\n")


def test_an_ensemble_file_with_a_header_that_is_not_ours(tmp_path: Path, capsys: Captured) -> None:
    file = tmp_path / "r"
    command = (*ENSEMBLE, "--bits", "3", "--states", "5", *FAST, "-o", str(file), "-n", "2")
    assert call(capsys, *command)[0] == 0
    head, _, rest = file.read_bytes().partition(b"\n")
    for other in (head.replace(b": ", b":"), b"[" * 200_000, head.replace(b"true", b"1")):
        file.write_bytes(other + b"\n" + rest)
        assert str(file) in refusal(capsys, *command)


def test_cuda_where_there_is_none(capsys: Captured) -> None:
    torch = pytest.importorskip("torch")
    if torch.cuda.is_available():
        pytest.skip("this machine has a CUDA device")
    assert "no CUDA device" in refusal(capsys, *ENSEMBLE, "--trainer", "torch", "--device", "cuda")


def test_help_names_the_verb() -> None:
    from bitwright.cli.main import cli

    assert "export" in CliRunner().invoke(cli, ["--help"]).output
