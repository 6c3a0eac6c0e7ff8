/* All cells as tiles: a colour for each kind, lit where something matches; a dot for each port that is on. */

const MANY = 3000; // cells; during a run of more, they are drawn four times a second

class CellsView {
  constructor(app) {
    this.app = app;
    this.canvas = element("cells");
    choosable(this.canvas, {
      at: (x, y) => this.at(x, y) ?? -1,
      choose: (at) => app.choose(this.order[at]),
      chosen: () => this.order.indexOf(app.chosen),
      count: () => this.order.length,
      columns: () => this.columns,
    });
  }

  /** Rows of cells: by the name of their first bit, the highest place at the left, as numbers are written. */
  arrange(wires, machine) {
    const rows = new Map(), firstBit = (cell) => wires.cellBit[machine.cellAt[cell]];
    for (const cell of range(0, machine.cells).sort((one, other) => firstBit(one) - firstBit(other))) {
      const { name } = fieldOf(wires.fields, firstBit(cell));
      if (!rows.has(name)) rows.set(name, []);
      rows.get(name).push(cell);
    }
    this.rows = [...rows].map(([name, cells]) => ({ name, cells: facts.view === "numbers" ? cells.reverse() : cells }));
    this.labelled = this.rows.length <= 12;
    if (!this.labelled) this.rows = [{ name: "", cells: this.rows.flatMap((own) => own.cells) }];
    this.order = this.rows.flatMap((own) => own.cells);
  }

  layout(width) {
    const most = Math.max(...this.rows.map((own) => own.cells.length)), label = this.labelled ? 20 : 0;
    let size = Math.min(38, Math.floor(width / Math.min(most, 48)));
    const lines = (side) => this.rows.reduce((sum, own) => sum + Math.ceil(own.cells.length / Math.max(1, Math.floor(width / side))), 0);
    while (size > 2 && lines(size) * size > 190) size--;
    this.size = size;
    this.columns = Math.max(1, Math.floor(width / size));
    let y = 0;
    this.placed = this.rows.map((own) => {
      const top = y + label;
      y = top + Math.ceil(own.cells.length / this.columns) * size + (label ? 8 : 0);
      return { ...own, top };
    });
    return Math.max(20, y);
  }

  draw() {
    const { machine, shown, chosen } = this.app;
    if (machine.cells > MANY && this.app.player.mode !== "idle" && performance.now() < this.next) return;
    this.next = performance.now() + 250;
    const width = roomFor(this.canvas), context = sheet(this.canvas, width, this.layout(width)), { size, columns } = this;
    const bad = new Set(this.app.wrongBits().map((bit) => machine.bitCell[bit]));
    let lit = 0;
    for (const { name, cells, top } of this.placed) {
      write(context, name, 1, top - 10, { colour: palette.soft, font: "12.5px" });
      cells.forEach((cell, at) => {
        const x = (at % columns) * size, y = top + Math.floor(at / columns) * size, said = machine.answer(cell, shown), on = said.matched.length > 0;
        lit += on;
        const fill = said.wrong.length || bad.has(cell) ? palette.wrong : on ? tone(machine.wires.cellKind[cell]) : palette.off;
        drawTile(context, x, y, size, fill, cell === chosen ? palette.text : "", size > 9 ? 2.5 : 2);
        if (size >= 20 && on) drawDots(context, said.on.length, x + size / 2, y + size / 2, size);
      });
    }
    this.canvas.setAttribute("aria-label", `${plural(machine.cells, "cell")}, ${grouped(lit)} of them lit; arrow keys choose one`);
    element("cells-note").textContent = `${plural(machine.cells, "cell")} of ${plural(new Set(machine.wires.cellKind).size, "kind")}, ${grouped(lit)} lit`;
  }

  /** The place in the order of the cell at a point. */
  at(x, y) {
    const column = Math.floor(x / this.size);
    let before = 0;
    for (const { cells, top } of this.placed) {
      const line = Math.floor((y - top) / this.size), at = line * this.columns + column;
      if (line >= 0 && column < this.columns && at < cells.length) return before + at;
      before += cells.length;
    }
    return null;
  }
}

function drawDots(context, count, x, y, size) {
  const many = Math.min(count, 5), gap = Math.min(7, (size - 6) / 5);
  context.fillStyle = palette.paper;
  for (let at = 0; at < many; at++) {
    context.beginPath();
    context.arc(x + (at - (many - 1) / 2) * gap, y, gap * 0.32, 0, 7);
    context.fill();
  }
}
