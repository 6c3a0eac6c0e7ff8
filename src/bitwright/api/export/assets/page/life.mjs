/* A cellular automaton on a torus: click cells, play. What is on the board is one bit of every node. */

const GUN = "24 22,24 12,13,20,21,34,35 11,15,20,21,34,35 0,1,10,16,20,21 0,1,10,14,16,17,22,24 10,16,24 11,15 12,13";

class Stage {
  constructor(app) {
    this.app = app;
    this.canvas = byId("board");
    const [, rows, columns] = /(\d+)x(\d+)/.exec(facts.graph);
    this.rowsBox = made("input", { type: "number", min: 3, max: 200, value: rows, id: "rows" });
    this.columnsBox = made("input", { type: "number", min: 3, max: 200, value: columns, id: "columns" });
    byId("inputs").replaceChildren(made("label", {}, "rows", this.rowsBox), made("label", {}, "columns", this.columnsBox));
    for (const box of [this.rowsBox, this.columnsBox]) box.addEventListener("change", () => this.resize());
    this.cursor = 0;
    this.build(Number(rows), Number(columns));
    this.start = this.gliders();
    this.listen();
  }

  listen() {
    const act = (id, board) => byId(id).addEventListener("click", () => {
      this.app.player.stop();
      this.start = board();
      this.reset();
      this.draw();
    });
    act("random", () => this.start.map(() => (Math.random() < 0.3 ? 1 : 0)));
    act("glider", () => this.gliders());
    act("gun", () => this.gun());
    act("clear", () => this.start.map(() => 0));
    byId("generation").addEventListener("click", () => {
      this.app.player.stop();
      if ((this.ended || this.stale) && !this.reset()) return;
      if (this.app.machine.steps === 0) this.advance(); // the board is read in
      do this.advance();
      while ((this.app.machine.steps - 1) % this.period);
      this.draw();
    });
    this.canvas.addEventListener("click", (event) => {
      const box = this.canvas.getBoundingClientRect();
      const [column, row] = [event.clientX - box.left - this.left, event.clientY - box.top].map((at) => Math.floor(at / this.side));
      if (row >= 0 && row < this.rows && column >= 0 && column < this.columns) this.flip(row * this.columns + column);
    });
    this.canvas.addEventListener("keydown", (event) => {
      const by = { ArrowRight: 1, ArrowLeft: -1, ArrowDown: this.columns, ArrowUp: -this.columns }[event.key];
      if (by) this.cursor = (this.cursor + by + this.start.length) % this.start.length;
      else if (event.key === " " || event.key === "Enter") this.flip(this.cursor);
      else return;
      event.preventDefault();
      this.draw();
    });
  }

  build(rows, columns) {
    this.rows = rows;
    this.columns = columns;
    this.schema = schemaFor(rows * columns);
    this.graph = topologyOf(rows * columns, nearEdges(rows, columns, true));
    this.wires = { ...graphWires(this.schema, this.graph), ending: "steps", steps: Infinity };
    this.period = this.schema.degree + 1;
    this.stride = this.period; // played generation by generation
    this.app.use(new Machine(this.wires));
  }

  resize() {
    const [rows, columns] = [this.rowsBox, this.columnsBox].map((box) => Number(box.value));
    if (![rows, columns].every((side) => Number.isInteger(side) && side >= 3 && side <= 200)) {
      this.bad = "A torus here has from 3 to 200 rows and columns.";
      this.stale = true;
      this.app.player.stop();
      notice(this.bad);
      return;
    }
    this.bad = "";
    this.app.player.stop();
    const old = { rows: this.rows, columns: this.columns, board: this.board() };
    this.build(rows, columns);
    this.start = range(0, rows * columns).map((at) => {
      const [row, column] = [Math.floor(at / columns), at % columns];
      return row < old.rows && column < old.columns ? old.board[row * old.columns + column] : 0;
    });
    this.reset();
    this.draw();
  }

  /** What is alive now. */
  board() {
    return this.app.machine.steps === 0 ? this.start : graphValues(this.schema.outputs[0], this.wires, this.app.machine.state);
  }

  flip(at) {
    this.app.player.stop();
    this.start = [...this.board()];
    this.start[at] = 1 - this.start[at];
    this.cursor = at;
    this.reset();
    this.draw();
  }

  gliders() {
    const board = range(0, this.rows * this.columns).map(() => 0);
    for (const [down, right] of [[1, 1], [Math.floor(this.rows / 2), Math.floor(this.columns / 2)], [1, Math.floor((3 * this.columns) / 4)]]) {
      for (const [row, column] of [[0, 1], [1, 2], [2, 0], [2, 1], [2, 2]]) board[((row + down) % this.rows) * this.columns + ((column + right) % this.columns)] = 1;
    }
    return board;
  }

  gun() {
    if (this.rows < 12 || this.columns < 40) {
      notice("The gun needs a torus of 12 rows and 40 columns at least.");
      return this.start;
    }
    const board = range(0, this.rows * this.columns).map(() => 0);
    GUN.split(" ").forEach((line, row) => line.split(",").forEach((column) => (board[(row + 1) * this.columns + Number(column) + 1] = 1)));
    return board;
  }

  reset() {
    notice(this.bad);
    if (this.bad) return false;
    this.app.begin(graphStart(this.schema, this.graph, this.wires, { [this.schema.inputs[0].name]: this.start }));
    this.ended = "";
    this.stale = false;
    return true;
  }

  advance() {
    this.app.machine.step();
    this.app.shownStep = this.app.machine.steps;
    this.app.shown = this.app.machine.state;
    return "on";
  }

  bitName = (bit) => placeName(this.wires, bit, (node) => `${Math.floor(node / this.columns)}.${node % this.columns}`, this.graph);

  draw() {
    this.app.draw();
  }

  /** What came of the run. */
  result() {
    return this.board().join("");
  }

  paint() {
    const room = Math.max(40, this.canvas.parentElement.clientWidth - paddingOf(this.canvas.parentElement));
    const side = Math.max(2, Math.min(26, Math.floor(room / this.columns), Math.floor(620 / this.rows)));
    const { context, width } = fitted(this.canvas, side * this.rows + 1);
    this.side = side;
    this.left = Math.floor((width - side * this.columns) / 2);
    const look = colours();
    const { machine } = this.app;
    const board = this.board();
    const alive = board.reduce((sum, value) => sum + value, 0);
    context.fillStyle = look.well;
    context.fillRect(this.left, 0, side * this.columns, side * this.rows);
    const inset = side > 5 ? 1 : 0;
    for (let at = 0; at < board.length; at++) {
      const [x, y] = [this.left + (at % this.columns) * side, Math.floor(at / this.columns) * side];
      if (board[at]) {
        context.fillStyle = toneOf(0);
        round(context, x + inset / 2, y + inset / 2, side - inset, side - inset, side > 8 ? 3 : 0);
        context.fill();
      } else if (side > 5) {
        context.fillStyle = look.paper;
        context.fillRect(x + 0.5, y + 0.5, side - 1, side - 1);
      }
    }
    const bad = this.app.wrongPlaces(this.wires);
    context.strokeStyle = look.wrong;
    context.lineWidth = 2;
    for (const place of bad) {
      const [where, at] = place.split(" ");
      const node = where === "port" ? this.graph.portNode[at] : Number(at);
      context.strokeRect(this.left + (node % this.columns) * side, Math.floor(node / this.columns) * side, side, side);
    }
    if (document.activeElement === this.canvas) {
      context.strokeStyle = look.text;
      context.lineWidth = 2;
      context.strokeRect(this.left + (this.cursor % this.columns) * side + 1, Math.floor(this.cursor / this.columns) * side + 1, side - 2, side - 2);
    }
    const generation = Math.max(0, Math.floor((machine.steps - 1) / this.period));
    byId("board-note").textContent = `${grouped(this.rows)} \u00d7 ${grouped(this.columns)}, ${grouped(alive)} alive; generation ${grouped(generation)}`;
    this.canvas.setAttribute("aria-label", `Torus of ${this.rows} by ${this.columns} cells, ${alive} alive; arrow keys move, space flips a cell`);
    byId("status").replaceChildren(
      `Step ${grouped(machine.steps)}; a generation takes ${this.period} steps. Click cells to flip them.`,
      this.app.wrongNote(),
    );
  }
}
