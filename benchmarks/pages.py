"""Trace pages: how large the file is, how soon it is open in Chromium, and how long a frame takes while it scrolls."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

from benchmarks.measure import Row, readable
from bitwright import multiplication, parse, run
from bitwright.machines import load_sbn, machine_b
from bitwright.pages import MachineView, trace_page

ROOT = Path(__file__).parent.parent
CHROMIUM = Path("/usr/bin/chromium")
QUIET = (
    *("--no-sandbox", "--disable-gpu", "--disable-background-networking"),
    *("--disable-component-update", "--disable-sync", "--no-first-run"),
)
# Scrolls through the whole run in 60 frames, drawing each at once, and gives the mean time of a frame.
SCROLL = """() => new Promise((done) => {
  const box = document.getElementById("scroller"); let frame = 0, begin = 0;
  const next = (time) => {
    if (frame === 0) begin = time;
    if (frame === 60) { done((time - begin) / 60); return; }
    box.scrollLeft = (box.scrollWidth * frame) / 60; box.scrollTop = (box.scrollHeight * frame) / 60;
    frame++; requestAnimationFrame(next);
  };
  requestAnimationFrame(next);
})"""


def rows() -> Iterator[Row]:
    if not CHROMIUM.exists():
        return
    from playwright.sync_api import sync_playwright

    with TemporaryDirectory() as folder, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=QUIET)
        empty = Path(folder) / "empty.html"
        empty.write_text("<!DOCTYPE html><html data-ready><title>empty</title>")
        for what, make in PAGES.items():
            begin = time.perf_counter()
            page, cells = make()
            path = Path(folder) / "trace.html"
            path.write_text(page)
            made = time.perf_counter() - begin
            tab = browser.new_page(viewport={"width": 1280, "height": 800})
            begin = time.perf_counter()
            tab.goto(empty.as_uri())
            tab.wait_for_selector("html[data-ready]", state="attached")
            nothing = time.perf_counter() - begin
            begin = time.perf_counter()
            tab.goto(path.as_uri())
            tab.wait_for_selector("html[data-ready]", state="attached")
            opened = time.perf_counter() - begin
            frame = tab.evaluate(SCROLL) / 1000
            tab.close()
            yield Row(
                f"trace page, {what}, {cells}",
                f"{path.stat().st_size / 1024:,.0f} KiB, open in {readable(opened)}",
                f"run and written in {readable(made)}; {readable(frame)} a frame; "
                f"an empty page opens in {readable(nothing)}",
            )
        browser.close()


def multiplication_page() -> tuple[str, str]:
    done = run(multiplication(10), multiplicand=719, multiplier=483, engine="limit", record=True)
    return trace_page(done), f"{done.steps:,} steps of {done.algorithm.program.bits:,} bits"


def sort_page() -> tuple[str, str]:
    code = load_sbn(ROOT / "examples" / "sbn" / "sort4.sbn")
    machine = machine_b(code.sizes)
    done = run(machine.algorithm(code), a=97, b=-30, c=56, d=1, record=True)
    return trace_page(
        done, computer=MachineView(machine, code)
    ), f"{done.steps:,} steps of {machine.program.bits:,} bits"


def large_page() -> tuple[str, str]:
    """Rule 110 on a wide ring from a random row: the busiest program we have."""
    text = (ROOT / "examples" / "rule110.bw").read_text()
    algorithm = parse(text.replace("let w = 64", "let w = 1250").replace("steps 41", "steps 5000"))
    row = int.from_bytes(np.random.default_rng(0).bytes(156), "little")
    done = run(algorithm, row=row, record=True)
    return trace_page(done), f"{done.steps:,} steps of {algorithm.program.bits:,} bits"


PAGES = {"10-bit multiplication": multiplication_page, "SBN sort of 4": sort_page, "rule 110": large_page}

if __name__ == "__main__":
    for row in rows():
        print(f"{row.what:58} {row.ours:>24}  {row.compared}", flush=True)
