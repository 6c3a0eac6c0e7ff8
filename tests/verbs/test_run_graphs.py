"""Runs on graphs say what their nodes put out."""

from pathlib import Path

from bitwright import run
from bitwright.rules import parse_node_program

FLOOD = parse_node_program("bits x\nblock x\nwhen x=1 write x far.x\ninput source = x\ngraph simple\n", "flood")


def test_a_run_says_what_its_nodes_put_out(tmp_path: Path) -> None:
    file = tmp_path / "graph.txt"
    file.write_text("a b\nb <c>\nd\n")
    done = run(FLOOD, graph=file, source="a")
    assert str(done).splitlines()[:4] == ["a: x = 1", "b: x = 1", "<c>: x = 1", "d: x = 0"]
    assert str(run(FLOOD, graph="path:14", source="0")).splitlines()[12] == "and 2 more nodes"
    page = done._repr_html_()
    assert page is not None
    cell = '<td style="text-align:left">'
    for node, x in (("node", "x"), ("a", 1), ("&lt;c&gt;", 1), ("d", 0)):
        assert f"<tr>{cell}{node}</td>\n{cell}{x}</td></tr>" in page
