/* All cells as tiles: a colour for each kind, lit where something matches; a dot for each port that is on. */

const MANY = 3000; // cells; while so many are under way they are drawn four times a second

class CellsView {
  constructor(app) {
    this.app = app;
    this.canvas = byId("cells");
    this.canvas.addEventListener("click", (event) => {
      const box = this.canvas.getBoundingClientRect();
      const cell = this.at(event.clientX - box.left, event.clientY - box.top);
      if (cell !== null) app.choose(cell);
    });
    this.canvas.addEventListener("keydown", (event) => this.key(event));
  }

  /** Rows of cells: by the name of their first bit, the highest place at the left, as numbers are written. */
  arrange(wires, machine) {
    const fields = wires.fields;
    const rows = new Map();
    const order = Array.from({ length: machine.cells }, (_, cell) => cell);
    const firstBit = (cell) => wires.cellBit[machine.cellAt[cell]];
    order.sort((one, other) => firstBit(one) - firstBit(other));
    for (const cell of order) {
      const field = fieldOf(fields, firstBit(cell)).name;
      if (!rows.has(field)) rows.set(field, []);
      rows.get(field).push(cell);
    }
    this.rows = [...rows].map(([name, cells]) => ({ name, cells: facts.view === "numbers" ? cells.reverse() : cells }));
    this.labelled = this.rows.length <= 12;
    if (!this.labelled) this.rows = [{ name: "", cells: this.rows.flatMap((row) => row.cells) }];
    this.order = this.rows.flatMap((row) => row.cells);
  }

  layout(width) {
    const most = Math.max(...this.rows.map((row) => row.cells.length));
    const room = 190;
    let size = Math.min(38, Math.floor(width / Math.min(most, 48)));
    const height = (side) => this.rows.reduce((sum, row) => sum + Math.ceil(row.cells.length / Math.max(1, Math.floor(width / side))) * side, 0);
    while (size > 2 && height(size) > room) size--;
    const columns = Math.max(1, Math.floor(width / size));
    const label = this.labelled ? 20 : 0;
    let y = 0;
    this.placed = this.rows.map((row) => {
      const top = y + label;
      y = top + Math.ceil(row.cells.length / columns) * size + (this.labelled ? 8 : 0);
      return { ...row, top, label: y ? top - 6 : top };
    });
    this.size = size;
    this.columns = columns;
    return Math.max(20, y);
  }

  draw() {
    const { machine, shown, chosen } = this.app;
    const soon = machine.cells > MANY && document.documentElement.dataset.mode !== "idle";
    if (soon && performance.now() < this.next) return;
    this.next = performance.now() + 250;
    const wide = Math.max(40, this.canvas.parentElement.clientWidth - paddingOf(this.canvas.parentElement));
    const { context } = fitted(this.canvas, this.layout(wide));
    const look = colours();
    const { size, columns } = this;
    const inset = size > 9 ? 2 : size > 3 ? 1 : 0;
    const bad = new Set(this.app.wrongBits().map((bit) => machine.bitCell[bit]));
    let lit = 0;
    for (const row of this.placed) {
      if (this.labelled) {
        context.fillStyle = look.soft;
        context.font = "12.5px system-ui, sans-serif";
        context.fillText(row.name, 1, row.label);
      }
      row.cells.forEach((cell, at) => {
        const x = (at % columns) * size;
        const y = row.top + Math.floor(at / columns) * size;
        const said = machine.answer(cell, shown);
        const on = said.matched.length > 0;
        lit += on;
        context.fillStyle = said.wrong.length || bad.has(cell) ? look.wrong : on ? toneOf(machine.wires.cellKind[cell]) : look.off;
        const box = [x + inset / 2, y + inset / 2, size - inset, size - inset];
        if (size > 6 || cell === chosen) {
          round(context, ...box, size > 12 ? 5 : 1);
          context.fill();
        } else context.fillRect(...box);
        if (size >= 20 && on) dots(context, said.on.length, x + size / 2, y + size / 2, size, look.paper);
        if (cell === chosen) {
          context.lineWidth = size > 9 ? 2.5 : 2;
          context.strokeStyle = look.text;
          context.stroke();
        }
      });
    }
    this.canvas.setAttribute("aria-label", `${plural(machine.cells, "cell")}, ${grouped(lit)} of them lit; arrow keys choose one`);
    byId("cells-note").textContent = `${plural(machine.cells, "cell")} of ${plural(new Set(machine.wires.cellKind).size, "kind")}, ${grouped(lit)} lit`;
  }

  at(x, y) {
    for (const row of this.placed) {
      const line = Math.floor((y - row.top) / this.size);
      const column = Math.floor(x / this.size);
      if (line < 0 || column < 0 || column >= this.columns) continue;
      const cell = row.cells[line * this.columns + column];
      if (cell !== undefined && line < Math.ceil(row.cells.length / this.columns)) return cell;
    }
    return null;
  }

  key(event) {
    const by = { ArrowRight: 1, ArrowLeft: -1, ArrowDown: this.columns, ArrowUp: -this.columns }[event.key];
    if (by === undefined) return;
    event.preventDefault();
    const at = this.order.indexOf(this.app.chosen) + by;
    this.app.choose(this.order[Math.min(Math.max(at, 0), this.order.length - 1)]);
  }
}

function round(context, x, y, width, height, radius) {
  context.beginPath();
  context.roundRect(x, y, width, height, radius);
}

function dots(context, count, x, y, size, colour) {
  const many = Math.min(count, 5);
  const gap = Math.min(7, (size - 6) / 5);
  context.fillStyle = colour;
  for (let at = 0; at < many; at++) {
    context.beginPath();
    context.arc(x + (at - (many - 1) / 2) * gap, y, gap * 0.32, 0, 7);
    context.fill();
  }
}

/** The declared name that a bit belongs to. */
function fieldOf(fields, bit) {
  let low = 0;
  let high = fields.length - 1;
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if (fields[middle].offset <= bit) low = middle;
    else high = middle - 1;
  }
  return fields[low];
}

/** `p[3]`: a bit by its name. */
function nameOf(fields, bit) {
  const field = fieldOf(fields, bit);
  if (!field.extents.length) return field.name;
  let rest = bit - field.offset;
  const at = [];
  for (const extent of [...field.extents].reverse()) {
    at.unshift((rest % extent) + 1);
    rest = Math.floor(rest / extent);
  }
  return `${field.name}[${at.join(",")}]`;
}
