"""Bad input on the command line: exit code 2 and one line that names what was given, what is allowed or what to do.

Each row is a command, and behind the bar facts that its line must name. What Python refuses in the same words is tested
where Python does; these rows see that every verb passes it on, and what only the command line can refuse.
"""

import os
import shlex
from collections.abc import Iterator
from pathlib import Path

import pytest
from calling import Captured, refusal
from cases import for_each
from facts import missing

from bitwright.cli.main import main

ROOT = Path(__file__).parents[2]
FOLDER_RULES = {
    "own.bw": "bits p[2]\nblock p[1] p[2]\nwhen p[1]=1 p[2]=0 write p[2]\ninput p\nsteps 1\n",
    "flood.bw": "bits x\nblock x\nwhen x=1 write x far.x\ninput source = x\n",
    "invert.bw": "bits x[3]\nblock x[i] for i in 1..3\nwhen x[i]=0 write x[i] for i in 1..3\n",
    "go.bw": "let l = 2\nbits x[l]\nblock x[i] for i in 1..l\nwhen x[i]=1 write x[i] for i in 1..l\n",
    "graph.txt": "a b 3\nb c 2\nc d 4\na d 9\ne\n",
    "words.dec": "1 2 x",
    "one.dec": "1",
    "empty.dec": "",
    "proof.json": "{}",
    "net.safetensors": "{}",
    "result.sq": ".words 32\n.width 8\n.dialect plain\n sub b, a\n halt\nn: .data -6\na: .data 5\nb: .data 7\n",
}
TRAINED = (
    "--tile all addition --bits 2 --width 64 -o whole.safetensors",
    "--tile all addition --bits 2 --width 512 -o float.safetensors",
    "--tile all multiplication --bits 3 --width 1024 --tolerance 0.3 -o product.safetensors",
    "--tile all permutation --order 3,1,2 -o order.safetensors",
    "--tile all own.bw -o own.safetensors",
    "addition -o cells.safetensors",
)
EVERY_VERB = """
ad 1 2 | 'ad' 'add'
frobnicate | commands add, multiply
add 1 | argument
add 1 2 3 | argument
add -5 3 | -5
add 3 x | second
add "" 1 | first
add 300 2 --bits 4 | p 4 300, 9
add 3 2 --bits 0 | 1 1,000,000, 0
add 3 2 --bitz 4 | --bits
add 3 2 --engine templats | 'templates'?
multiply 1 2 --bits 30000 | 1 20,000
add 1 2 --engine sampled --seed 100000000000000000000000 | 9223372036854775808
add 1 2 --network x.safetensors --engine limit | --network --engine network, limit
add 1 2 --engine network --network none.safetensors | none.safetensors
add 1 2 --network proof.json | proof.json certificate
add 3 2 --engine network --network product.safetensors | multiplication 3 addition
add 3 2 --engine network --network own.safetensors | 2 1 addition
multiply 3 9 --engine network --network product.safetensors | multiplication 3 multiplier 9, 4
multiply 3 2 --bits 4 --engine network --network product.safetensors | 3 --bits 4;
add 130 4 --engine templates --tile 1 -q | --tile --engine network templates
add 130 4 --engine network --tile 1 --rounding sign -q | --rounding sign
add 130 4 --engine network --tile 1 --device cuda -q | --device
add 130 4 --engine network --tile 2 --network cells.safetensors -q | --tile
add 3 4 --engine network --network cells.safetensors --tile all | --tile
add 3 2 --engine network --tile 1 --network float.safetensors -q | --tile
multiply 3 4 --engine network --network cells.safetensors | cell
run permutation p=0b1012 --order 1,2,3,4 | p
run permutation p=0b101 --order 1,2 | p 2 5, 3
run permutation p=0b101 --order 1,2,2 | 2
run permutation p=1 --order 3,1,2 --bits 7 | --bits
run permutation p=6 --order 1,2,3 --engine network --network order.safetensors | 3,1,2, --order 1,2,3
run aditon | 'addition'?
run nosuch.bw | nosuch.bw
run examples/nosuch.bw | examples/nosuch.bw `bitwright examples`
run two | two
run "" | empty
run addition p | NAME=NUMBER
run addition p=1 | q
run addition p=1 p=2 | p
run examples/gray.bw x=1 --bits 4 | --let
run examples/gray.bw x=1 --order 1 | --order permutation
run addition p=1 q=1 --machine A | --machine .sbn
run addition p=1 q=1 --machine V:3x3 | --machine .sbn, .sq .dec
run addition p=1 q=1 --memory 3 | --memory machine V
run go.bw x=1 --let k=3 | 'let k'; l
run go.bw x=1 --let l | --let l=16, 'l'
run go.bw x=1 --let l=x | --let l
show addition --let l=3 | --let .bw
run examples/sbn/gcd.sbn --let l=3 a=1 b=1 | --let .bw
run examples/sbn/multiply.sbn a=1 | b
run examples/sbn/multiply.sbn a=1 b=128 | b -128 127, 128
run examples/sbn/multiply.sbn a=1 b=1 --bits 3 | .width
run examples/sbn/multiply.sbn a=1 b=1 --machine C | 'C'
run examples/sbn/multiply.sbn a=1 b=1 --machine V | A B
run examples/sbn/multiply.sbn a=3 b=2 --engine templates --rounding sign | --rounding --engine templates
run none.sbn | none.sbn
run one.dec | words, width, dialect
run one.dec --machine V:8x8 | dialect
run one.dec --machine V:16777216x64:plain | GB
run one.dec --machine B:8x8 | 'B:8x8'
run one.dec --resume x --machine V:8x8:plain | --resume .npz x
run one.dec --machine V:64x4:plain | words width
run empty.dec --machine V:8x8:plain | empty.dec
run machine-v --machine V:8x8:plain | image
run examples/subleq/hello.sq a=1 | input
run examples/subleq/hello.sq --seed 3 | --seed --engine
run examples/subleq/hello.sq --width 8 | --width --engine network, templates
run examples/subleq/hello.sq --seconds nan | nan --seconds
run examples/subleq/matrix.sq --engine network --tile all | GB --network
run result.sq --memory nn | --memory 'nn'; 'n'?
run result.sq --memory 5:3 | '5:3'
run result.sq --memory 5:32 | 0 31, 32
run flood.bw | --graph torus:20x30
run flood.bw --graph graph.txt source=x | 'x'
run flood.bw --graph graph.txt | source=NODE
run flood.bw --graph graph.txt source | NAME=VALUE, 'source'
run flood.bw --graph nothing.txt source=a | nothing.txt
run flood.bw --graph tours:3x3 source=a | 'tours'; path, ring
run flood.bw --graph ring:99999999999 source=a | 10,000,000
run flood.bw --graph graph.txt source=a --bits 3 | --bits
run examples/graphs/bfs.bw --graph directed:graph.txt source=a | bfs
run examples/graphs/life.bw --graph graph.txt alive=a | 8 'a' 2
run addition --graph graph.txt | --graph
validate flood.bw | flood --graph
trace flood.bw source=0 | graph
trace addition p=1 q=2 -o x.png | .html, .txt .npz
trace addition p=1 q=2 -o x.html --only p | --only
trace addition p=1 q=2 -o x.npz --only p | --only
trace addition p=1 q=2 -o /no/such/folder/x.html | /no/such/folder
trace addition p=1 q=2 --only z | 'z'
trace permute p=101 | 'permute' addition
show net.safetensors --let l=3 | --let net.safetensors
show whole.safetensors --text | --text
show whole.safetensors --bits 2 | --bits
show whole.safetensors -o x.svg | --output
show addition --tile 1 -o x.png | -o .svg x.png
show none.safetensors | none.safetensors
check proof.json | proof.json certificate
check net.safetensors | net.safetensors network
certify addition -o x.bw | .json
certify addition --check f --rounding sign | --rounding --check
certify addition --check /no/such.json | /no/such.json
certify addition --check | --check
certify addition --n declared | bound
certify addition --padding -1 | 0 1000000000
certify addition --domain runs | --network
certify addition --workers 2 | --network
certify addition --tile 1 --n declared | --n cells
certify addition --tile 99 | 99
certify flood.bw | flood
certify flood.bw --tile 1 --sizes 1..3 | flood 1..3
certify machine-v --bits 4 | --bits
certify cells.safetensors | cells.safetensors program
certify own.bw --network own.bw | own.bw program; network, .safetensors
certify go.bw --network cells.safetensors --sizes l=1..3 --let l=2 | l
certify addition --network whole.safetensors --rounding sign | 0
certify addition --network whole.safetensors --n blocks | --n --network
certify addition --network whole.safetensors -o cert.txt | .json
certify addition --network whole.safetensors --device gpu | 'gpu'
certify addition --network cells.safetensors --domain runs | cells domain
certify addition --tile 1 --network whole.safetensors | --tile --network
size addition --delta 0 | delta 0 1, 0
size examples/graphs/bfs.bw | node program
train addition -o x.pt | .safetensors
train addition | --output -o
train addition --sizes 0..3 -o x.safetensors | 1
train addition --sizes any -o x.safetensors | 1..64
train addition --bits 9 --tile 4 -o x.safetensors | 4 9
train examples/gray.bw --sizes k=1..4 -o x.safetensors | k
train --tile all addition -o x.onnx | .safetensors
train --tile all addition -o x.safetensors --workers 2 | --workers
train --tile all addition -o /no/such/folder/x.safetensors | /no/such/folder/x.safetensors
train addition --weight-bits 9 -o x.safetensors | 2 8 9
train addition --seed 5..4 -o x.safetensors | --seed 5..4
train --tile all addition --sizes 1..3 -o x.safetensors | --sizes cells
train --tile all addition multiplication -o x.safetensors | programs
train --tile all flood.bw -o x.safetensors | flood --graph
train --tile all cells.safetensors -o y.safetensors | cells.safetensors network program
train --tile all addition -o x.safetensors --device mps | 'mps'; cpu cuda
train addition --from runs --padding 3 -o x.safetensors | --padding
train addition --tile all --bits 8 --from states:100000 -o x.safetensors | 5,000
train permutation --tile all --from states:0 -o x.safetensors | 1 1,000,000
export addition | --output
export addition --to dataset -o x.csv | .npz
export addition --from runs --padding 3 -o x.npz | --padding
export own.bw --to c -o x.c | own.bw program; --program
export whole.safetensors --to onx -o a.onnx | onx; 'onnx'
export whole.safetensors --to onnx -o a.vnnlib | .onnx onnx,
export whole.safetensors -o a.vnnlib | --to: vnnlib
export whole.safetensors -o a.txt | 'a.txt' .c, .mjs, .js, .html .onnx, --to: vnnlib, rocq hub
export whole.safetensors --to js -o a.c | .mjs .js js,
export whole.safetensors --to c -o a.c --program multiplication | multiplication
export whole.safetensors --to page -o a.htm | .html page,
export whole.safetensors --to page -o a.html --graph ring:5 | --graph
export whole.safetensors p=9 --to page -o a.html | p 2 9
export whole.safetensors p=1 --to c -o a.c | --graph NAME=VALUE page
export whole.safetensors --to hub -o "" | empty
export cells.safetensors --to page -o a.html | --program,
export cells.safetensors --to page -o a.html --program multiplication | cell
export cells.safetensors --to page -o a.html --program examples/graphs/bfs.bw | cell
export cells.safetensors --to page -o a.html --program addition --graph ring:4 | --graph
export cells.safetensors -o a.html --program examples/subleq/sieve.sq --bits 3 | --bits --order V
export none.safetensors --to onnx -o a.onnx | none.safetensors
export whole.safetensors --to onnx -o none/a.onnx | none
validate addition --bits 40 | 80 48
validate addition --engine network --network cells.safetensors --seed 3 | --seed
validate addition --oracle sums | module:function
validate addition --oracle no_such_module:f | 'no_such_module'
validate own.bw --oracle mine.py:f | mine:f
validate own.bw --oracle own/mine:f | own.mine:f
validate own.bw --oracle /a/mine.py:f | mine:f, /a
validate addition --width 9 | --width --engine network, limit
validate addition --networks 9 | --networks --engine sampled
validate addition --engine network --network x.safetensors | x.safetensors
validate addition --bits 3 --engine network --network float.safetensors | 2 --bits 3
validate multiplication --engine network --network float.safetensors | addition 2 multiplication
infer nofile.npz | nofile.npz
infer two | two
serve --port 70000 | 0 65535
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    place, patch = tmp_path_factory.mktemp("refused"), pytest.MonkeyPatch()
    patch.chdir(place)
    Path("examples").symlink_to(ROOT / "examples")
    for name, text in FOLDER_RULES.items():
        Path(name).write_text(text)
    for words in TRAINED:
        assert main(["train", *words.split(), "-q"]) == 0
    yield place
    patch.undo()


@for_each("row", EVERY_VERB.strip().splitlines())
def test_one_line_names_what_is_wrong_and_nothing_is_written(row: str, folder: Path, capsys: Captured) -> None:
    command, _, facts = row.partition(" | ")
    before = sorted(folder.iterdir())
    assert missing(refusal(capsys, "", *shlex.split(command)), facts) == []
    assert sorted(folder.iterdir()) == before


LONG = "a" * 100_000


@for_each(
    "command",
    [
        *("LONG", "run LONG", "run LONG.bw", "check LONG.json", "run addition LONG=1", "run addition p=LONG"),
        *("run addition --order LONG", "run flood.bw --graph LONG", "run flood.bw --graph path:LONG"),
        *("run flood.bw --graph LONG.txt", "run flood.bw --graph path:3 source=LONG", "show LONG.safetensors"),
        *("run addition --network LONG", "infer LONG.npz --blocks find", "certify addition --check LONG"),
        *("certify addition -o LONG.json", f"add {'9' * 1_000_001} 1"),
    ],
)
def test_a_very_long_name_makes_no_long_line(command: str, folder: Path, capsys: Captured) -> None:  # noqa: ARG001
    said = refusal(capsys, command.replace("LONG", LONG))
    assert len(said) < 2_100
    assert missing(said, "write output") != []


def test_a_pipe_whose_writer_never_comes(folder: Path, tmp_path: Path, capsys: Captured) -> None:  # noqa: ARG001
    for command, suffix in (
        *(("run", suffix) for suffix in ("bw", "sbn", "sq", "dec")),
        *(("check", "bw"), ("run flood.bw --graph", "txt"), ("infer --blocks find", "npz")),
        *(("run flood.bw --graph path:3", "csv"), ("certify addition --check", "json")),
    ):
        pipe = tmp_path / f"{command.replace(' ', '')}.{suffix}"
        os.mkfifo(pipe)
        assert missing(refusal(capsys, command, pipe), f"{pipe} pipe") == []
    os.mkfifo(tmp_path / "pipe.safetensors")
    assert "pipe.safetensors" in refusal(capsys, "show", tmp_path / "pipe.safetensors")


def test_a_device_without_end(folder: Path, tmp_path: Path, capsys: Captured) -> None:  # noqa: ARG001
    for command, suffix in (("run", "bw"), ("run", "dec"), ("run flood.bw --graph", "txt")):
        zero = tmp_path / f"zero.{suffix}"
        if not zero.is_symlink():
            zero.symlink_to("/dev/zero")
        assert missing(refusal(capsys, command, zero), f"{zero} 64 MiB") == []
    for command, suffix in (("certify addition --check", "json"), ("infer --blocks find", "npz")):
        (zero := tmp_path / f"zero.{suffix}").symlink_to("/dev/zero")
        refusal(capsys, command, zero)
