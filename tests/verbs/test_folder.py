"""Networks as folders for the Hugging Face Hub, and the certificate that is found next to a network."""

import json
import re
from dataclasses import replace
from pathlib import Path

import pytest
from calling import Captured

from bitwright import Certificate, InputError, Network, addition, certify, export, run, train
from bitwright.cli.main import main

ADDER = train(addition(4))
FILES = ["README.md", "certificate.json", "config.json", "model.safetensors"]


def files_in(folder: Path) -> dict[str, bytes]:
    return {file.name: file.read_bytes() for file in sorted(folder.iterdir())}


def test_a_folder_has_what_the_hub_reads_and_loads_again(tmp_path: Path) -> None:
    folder = tmp_path / "adder"
    ADDER.save(folder)
    assert list(files_in(folder)) == FILES
    config = json.loads((folder / "config.json").read_text())
    assert (config["model_type"], config["digest"], config["proved"]) == ("bitwright", ADDER.digest, True)
    front = re.match(r"---\n(.*?)\n---\n", (folder / "README.md").read_text(), re.DOTALL)
    assert front is not None
    assert "library_name: bitwright\ntags:\n- bitwright" in front[1]
    assert "right in all 16 local states" in (folder / "README.md").read_text()
    assert Network.load(folder).digest == ADDER.digest
    assert run(addition(70), p=2**69, q=5, network=Network.load(folder)).value == 2**69 + 5
    assert certify(addition(9).program, Network.load(folder)).certified


def test_the_same_network_makes_the_same_bytes(tmp_path: Path) -> None:
    first, second = tmp_path / "one" / "adder", tmp_path / "two" / "adder"
    ADDER.save(first)
    Network.load(first).save(f"{second}/")
    one, two = files_in(first), files_in(second)
    for name in ("certificate.json", "config.json", "model.safetensors"):
        assert one[name] == two[name]


def test_the_certificate_is_found_next_to_its_network(tmp_path: Path, capsys: Captured) -> None:
    folder, file = tmp_path / "adder", tmp_path / "adder.safetensors"
    found = certify(addition(4), ADDER)
    ADDER.save(folder, found)
    ADDER.save(file)
    found.save(tmp_path / "adder.json")
    for network in (folder, folder / "model.safetensors", file):
        assert Certificate.load(network).check(addition(30), Network.load(network)).holds
    assert main(["certify", "addition", "--network", str(folder), "--check"]) == 0
    assert "checked   every state was tried again" in capsys.readouterr().out
    (tmp_path / "adder.json").unlink()
    assert main(["certify", "addition", "--network", str(file), "--check"]) == 2
    assert "there is no certificate next to" in capsys.readouterr().err
    assert main(["certify", "addition", "--check"]) == 2
    assert "--check without a file name needs a network" in capsys.readouterr().err


def test_a_folder_is_exported_with_the_certificate_of_its_program(tmp_path: Path) -> None:
    ADDER.save(tmp_path / "adder.safetensors")
    done = export(tmp_path / "adder.safetensors", tmp_path / "hub", addition(4), to="hub")
    assert [file.name for file in done.files] == ["model.safetensors", "config.json", "README.md", "certificate.json"]
    card = (tmp_path / "hub" / "README.md").read_text()
    assert "function: proved at every size" in card
    assert "bitwright certify addition --network hub --check" in card


def test_many_states_have_no_certificate_and_others_are_refused(tmp_path: Path) -> None:
    other = replace(train(addition(2), tile="all", width=512), pattern=None)
    with pytest.raises(InputError, match="load it with its program"):
        other.save(tmp_path / "x")
    many = train(addition(16), tile=8, width=1024, seeds=1)
    many.save(tmp_path / "many")
    assert list(files_in(tmp_path / "many")) == [name for name in FILES if name != "certificate.json"]
    assert "This folder contains no certificate." in (tmp_path / "many" / "README.md").read_text()
    with pytest.raises(InputError, match=r"certificate.*next"):
        Certificate.load(tmp_path / "many")
    with pytest.raises(InputError, match=r"certificate.*another"):
        many.save(tmp_path / "many", certify(addition(3).program, ADDER))
    with pytest.raises(InputError, match=r"certificate.*folder"):
        ADDER.save(tmp_path / "x.safetensors", certify(addition(3).program, ADDER))
