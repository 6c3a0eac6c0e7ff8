"""Broken, hostile and damaged files of graphs: each is refused with one line."""

from pathlib import Path
from typing import Any

import pytest
from cases import for_each
from facts import missing

from bitwright.common.errors import InputError
from bitwright.graphs.files import SUFFIXES, read_graph


def written(folder: Path, name: str, content: str | bytes) -> Path:
    path = folder / name
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


def refusal(path: Path, **options: Any) -> str:
    """The one line that a file is refused with, without its folder."""
    with pytest.raises(InputError) as caught:
        read_graph(path, **options)
    message = str(caught.value)
    assert "\n" not in message
    return message.replace(f"{path.parent}/", "")


@for_each(
    ("name", "text", "message"),
    [
        ("g.txt", "a b\nb a c d\n", "g.txt:2 .csv"),
        ("g.csv", "a,b\n\nb,a,c,d\n", "g.csv:3"),
        ("g.txt", "a b {'weight': 3}\n", "g.txt:1 data=['weight']"),
        ("g.txt", "a b {'weight': 3, 'cost': 2}\n", "g.txt:1 data=['weight']"),
        ("g.csv", "a,b,{'weight': 3}\n", "g.csv:1 data=['weight']"),
        ("g.txt", "a;b\nb;c\n", "g.txt:1 ';' 'a;b'"),
        ("g.txt", "a b\nb,c\n", "g.txt:2 ',' 'b,c'"),
        ("g.csv", "source;target\na;b\n", "g.csv:1 ';' 'source;target'"),
        ("g.tsv", "a,b\n", "g.tsv:1 ',' 'a,b'"),
        ("g.csv", "a,b\n,c\n", "g.csv:2"),
        ("g.csv", "a,b\n,\n", "g.csv:2"),
        ("g.csv", "source,target,w\na,b\n", "g.csv:2 3 2"),
        ("g.csv", "source,target,w,w\na,b\n", "g.csv:1"),
        ("g.csv", 'a,"b\nc,d\n', "g.csv:1 'a,\"b'"),
        ("g.txt", "a b\nc d\n#\nb a\n", "g.txt:4 'b' 'a' 1"),
        ("g.txt", "# nothing\n\n", "g.txt"),
        ("g.txt", " \n", "g.txt"),
        ("g.png", "a b", f"must end in {', '.join(SUFFIXES[:-1])} or .tsv, got g.png"),
    ],
)
def test_refused_lists(name: str, text: str, message: str, tmp_path: Path) -> None:
    assert missing(refusal(written(tmp_path, name, text)), message) == []


def test_a_directed_list_may_have_both_directions(tmp_path: Path) -> None:
    path = written(tmp_path, "g.txt", "a b\nb a\n")
    assert read_graph(path, directed=True).topology.edges == 2
    path = written(tmp_path, "again.txt", "a b\nb a\na b\n")
    there = "again.txt:3: the edge between 'a' and 'b' is already on line 1; "
    assert refusal(path, directed=True) == f"{there}remove one of the lines"


@for_each("suffix", SUFFIXES)
def test_hostile_files(suffix: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("bitwright.rules.text.MAX_BYTES", 1 << 20)
    name = f"g{suffix}"
    assert refusal(written(tmp_path, name, b"a b\0c")) == f"{name} is a binary file, not {suffix} text"
    assert refusal(written(tmp_path, name, b"\x89PNG\r\n\xff\xfe")) == f"{name} is not UTF-8 text (byte 0 is 0x89)"
    assert refusal(tmp_path / f"none{suffix}") == f"there is no file none{suffix}"
    (tmp_path / f"folder{suffix}").mkdir()
    assert refusal(tmp_path / f"folder{suffix}") == f"folder{suffix} is a folder; give a {suffix} file"
    long = written(tmp_path, name, b"")
    with long.open("r+b") as file:
        file.truncate((1 << 20) + 1)
    assert refusal(long) == f"{name} is larger than 1 MiB, the limit for a {suffix} file"
    message = refusal(written(tmp_path, name, '"' + "\x1b[31m a b c d " * 10_000))
    assert len(message) < 400


def test_one_huge_line(tmp_path: Path) -> None:
    assert len(refusal(written(tmp_path, "star.txt", " ".join(map(str, range(50_000)))))) < 200
    name = "x" * 1_000_000
    assert read_graph(written(tmp_path, "long.txt", f"{name} y")).names == (name, "y")
    assert len(refusal(written(tmp_path, "long.csv", f'"{name}",y'))) < 200
