"""Many graphs at once: all are looked at before the first run, and an error says which one it is of."""

from pathlib import Path
from typing import Any

import pytest

from bitwright import run, train
from bitwright.common.errors import InputError
from bitwright.rules import parse_node_program
from bitwright.verbs import run as running

FLOOD = parse_node_program("bits x\nblock x\nwhen x=1 write x far.x\ninput source = x\ngraph simple\n", "flood")
BY_NODES = parse_node_program("let l = digits(nodes)\nbits r[l] z\nblock r[*]\nblock z\nwhen r[*]=0 write z far.z\n")


@pytest.mark.parametrize(
    ("graphs", "inputs", "message"),
    [
        (["path:3", "torus:1x3"], [{"source": "0"}, {"source": "0.0"}], r"^graphs\[1\] \(torus:1x3\): flood is"),
        (["path:3", "ring:4", "nowhere.txt"], [{"source": "0"}] * 3, r"^graphs\[2\] \(nowhere.txt\): there is no file"),
        (
            ["path:3", "path:4", "path:2"],
            [{"source": "0"}, {"source": "9"}, {}],
            r"^graphs\[1\] \(path:4\): .* node '9'",
        ),
        ([7], [{"source": "0"}], r"^graphs\[0\]: give a networkx graph"),
    ],
)
def test_a_bad_graph_is_named_before_anything_runs(
    monkeypatch: pytest.MonkeyPatch, graphs: list[Any], inputs: list[dict[str, str]], message: str
) -> None:
    ran: list[object] = []
    monkeypatch.setattr(running, "run_with", lambda *given, **_: ran.append(given))
    with pytest.raises(InputError, match=message):
        run(FLOOD, graph=graphs, inputs=inputs)
    assert not ran


def test_a_run_that_fails_is_named_too() -> None:
    cells = train(BY_NODES)  # of graphs of other sizes
    with pytest.raises(InputError, match=r"graphs\[1\].*6"):
        run(BY_NODES, graph=["path:3", "path:6"], network=cells)


def test_a_run_says_what_its_nodes_put_out(tmp_path: Path) -> None:
    file = tmp_path / "graph.txt"
    file.write_text("a b\nb <c>\nd\n")
    done = run(FLOOD, graph=file, source="a")
    assert str(done).splitlines()[:4] == ["a: x = 1", "b: x = 1", "<c>: x = 1", "d: x = 0"]
    assert str(run(FLOOD, graph="path:14", source="0")).splitlines()[12] == "and 2 more nodes"
    page = done._repr_html_()
    assert page is not None
    head = '<th style="text-align:left">node</th><th style="text-align:left"><code>x</code></th>'
    rows = [("a", 1), ("b", 1), ("&lt;c&gt;", 1), ("d", 0)]
    body = "".join(
        f'<tr><td style="text-align:left">{node}</td><td style="text-align:left">{x}</td></tr>' for node, x in rows
    )
    assert f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>" in page
    assert "<tbody></tbody>" not in page
