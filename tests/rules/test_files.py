from pathlib import Path

import pytest
from cases import for_each

from bitwright.common.errors import InputError, ProgramError
from bitwright.rules import load, parse
from bitwright.rules import text as files

TEXT = "# keep a bit\nbits x\nblock x\nwhen x=1 write x\nsteps 1\n"


def refusal(path: Path | str) -> str:
    with pytest.raises(InputError) as refused:
        load(path)
    message = str(refused.value)
    assert message.splitlines() == [message]
    return message


def written(folder: Path, data: bytes) -> Path:
    path = folder / "keep.bw"
    path.write_bytes(data)
    return path


@for_each(
    "data",
    [
        TEXT.encode(),
        TEXT.encode("utf-8-sig"),
        TEXT.replace("\n", "\r\n").encode("utf-8-sig"),
        TEXT.replace("\n", "\r").encode(),
        TEXT.rstrip().encode(),
        ("\n \n" + TEXT + "# \N{GREEK SMALL LETTER ALPHA}").encode(),
    ],
)
def test_a_file_is_read_as_its_text(data: bytes, tmp_path: Path) -> None:
    algorithm = load(written(tmp_path, data))
    assert algorithm.same_as(parse(TEXT))
    assert algorithm.name == "keep"
    assert load(str(tmp_path / "keep.bw")).same_as(algorithm)


def test_a_byte_order_mark_is_no_part_of_the_description(tmp_path: Path) -> None:
    assert load(written(tmp_path, TEXT.encode("utf-8-sig"))).description == "keep a bit"


def test_problems_name_the_file_the_line_and_the_column(tmp_path: Path) -> None:
    path = written(tmp_path, b"\xef\xbb\xbfbits x\nblock x y\n\nwhen x=1 write z\nsteps q")
    with pytest.raises(ProgramError) as refused:
        load(path)
    assert str(refused.value) == f"{path}:2:9: unknown bit 'y'; declare it with 'bits' (and 2 more problems)"
    assert [(problem.line, problem.column) for problem in refused.value.problems] == [(2, 9), (4, 16), (5, 7)]


def test_a_missing_file(tmp_path: Path) -> None:
    assert refusal(tmp_path / "none.bw") == f"there is no file {tmp_path / 'none.bw'}"
    assert "there is no file" in refusal(tmp_path / "no folder" / "none.bw")


def test_a_folder(tmp_path: Path) -> None:
    assert refusal(tmp_path) == f"{tmp_path} is a folder; give a .bw file"
    assert refusal("") == "the name of a rule file must not be empty"


BINARY, NOT_UTF8 = "a binary file, not .bw text", "not UTF-8 text (byte {} is {})"


@pytest.mark.parametrize(
    ("data", "why"),
    [
        *((data, "empty; write a program into it") for data in (b"", b" ", b"\n\n\r\n\t")),
        *((data, BINARY) for data in (b"\x7fELF\x02\x01\x00", b"bits x\x00", TEXT.encode("utf-16"), bytes(100))),
        (b"\xff\xfe bits", NOT_UTF8.format(0, "0xff")),
        (b"# caf\xe9\n" + TEXT.encode(), NOT_UTF8.format(5, "0xe9")),
        (b"#" * 1999 + b"\xc3", NOT_UTF8.format("1,999", "0xc3")),
        (b"\xef\xbb\xbf# caf\xe9\n", NOT_UTF8.format(8, "0xe9")),
        (b"# \xed\xa0\x80", NOT_UTF8.format(2, "0xed")),
    ],
)
def test_a_file_that_is_no_text(data: bytes, why: str, tmp_path: Path) -> None:
    path = written(tmp_path, data)
    assert refusal(path) == f"{path} is {why}"


def test_a_large_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(files, "MAX_BYTES", 1 << 20)
    path = written(tmp_path, TEXT.encode() + b"#" * ((1 << 20) - len(TEXT)))
    assert load(path).same_as(parse(TEXT))
    path.write_bytes(path.read_bytes() + b"#")
    assert refusal(path) == f"{path} is larger than 1 MiB, the limit for a .bw file"
