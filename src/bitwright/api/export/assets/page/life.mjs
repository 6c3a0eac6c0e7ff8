/* A cellular automaton on a torus: click cells, play. What is on the board is one bit of every node. */

const GUN = "24 22,24 12,13,20,21,34,35 11,15,20,21,34,35 0,1,10,16,20,21 0,1,10,14,16,17,22,24 10,16,24 11,15 12,13";
const LIMIT = 200; // rows, columns

class Stage extends BaseStage {
  constructor(app) {
    super(app);
    this.canvas = element("board");
    const [, ...sides] = /(\d+)x(\d+)/.exec(facts.graph).map(Number), boxes = [];
    this.sides = ["rows", "columns"].map((id, at) => inputBox(boxes, id, { id, type: "number", min: 3, max: LIMIT, value: sides[at] }, () => this.resize()));
    element("inputs").replaceChildren(...boxes);
    this.cursor = 0;
    this.build(...sides);
    this.board = this.gliders();
    this.listen();
  }

  listen() {
    const boards = { random: () => this.board.map(() => (Math.random() < 0.3 ? 1 : 0)), glider: () => this.gliders(), gun: () => this.gun(), clear: () => this.empty() };
    for (const [id, board] of Object.entries(boards)) hear(id, "click", () => {
      const made = board();
      if (made) this.again(() => { this.board = made; });
    });
    hear("generation", "click", () => {
      this.app.player.stop();
      if ((this.ended || this.stale) && !this.reset()) return;
      if (this.app.machine.steps === 0) this.advance(); // the board is read in
      do this.advance();
      while ((this.app.machine.steps - 1) % this.period);
      this.app.draw();
    });
    choosable(this.canvas, {
      at: (x, y) => {
        const [column, row] = [x - this.left, y].map((at) => Math.floor(at / this.side));
        return row < this.rows && column >= 0 && column < this.columns ? row * this.columns + column : -1;
      },
      choose: (at, event) => (event.type === "click" ? this.flip(at) : this.point(at)),
      chosen: () => this.cursor,
      count: () => this.board.length,
      columns: () => this.columns,
    });
    this.canvas.addEventListener("keydown", (event) => {
      if (event.key !== " " && event.key !== "Enter") return;
      event.preventDefault();
      this.flip(this.cursor);
    });
  }

  build(rows, columns) {
    Object.assign(this, { rows, columns, schema: schemaFor(rows * columns) });
    this.graph = topologyOf(rows * columns, SHAPES.torus(rows, columns));
    this.wires = { ...graphWires(this.schema, this.graph), ending: "steps", steps: Infinity };
    this.stride = this.period = this.schema.degree + 1; // played generation by generation
    this.app.use(new Machine(this.wires));
  }

  resize() {
    const [rows, columns] = this.sides.map((box) => Number(box.value)), old = { rows: this.rows, columns: this.columns, board: this.alive() };
    this.isBad = ![rows, columns].every((side) => Number.isInteger(side) && side >= 3 && side <= LIMIT);
    this.again(() => {
      if (this.isBad) return;
      this.build(rows, columns);
      this.board = this.empty().map((_, at) => (Math.floor(at / columns) < old.rows && at % columns < old.columns ? old.board[Math.floor(at / columns) * old.columns + (at % columns)] : 0));
    });
  }

  start() {
    if (this.isBad) throw new RangeError(`A torus here has from 3 to ${LIMIT} rows and columns.`);
    return graphStart(this.schema, this.graph, this.wires, { [this.schema.inputs[0].name]: this.board });
  }

  /** What is alive now. */
  alive() {
    return this.app.machine.steps === 0 ? this.board : graphValues(this.schema.outputs[0], this.wires, this.app.machine.state);
  }

  point(at) {
    this.cursor = at;
    this.app.draw();
  }

  flip(at) {
    this.again(() => {
      this.board = [...this.alive()];
      this.board[at] = 1 - this.board[at];
      this.cursor = at;
    });
  }

  empty() {
    return range(0, this.rows * this.columns).map(() => 0);
  }

  gliders() {
    const board = this.empty();
    for (const [down, right] of [[1, 1], [Math.floor(this.rows / 2), Math.floor(this.columns / 2)], [1, Math.floor((3 * this.columns) / 4)]]) {
      for (const [row, column] of [[0, 1], [1, 2], [2, 0], [2, 1], [2, 2]]) board[((row + down) % this.rows) * this.columns + ((column + right) % this.columns)] = 1;
    }
    return board;
  }

  gun() {
    if (this.rows < 12 || this.columns < 40) return notice("The gun needs a torus of 12 rows and 40 columns at least.");
    const board = this.empty();
    GUN.split(" ").forEach((line, row) => line.split(",").forEach((column) => (board[(row + 1) * this.columns + Number(column) + 1] = 1)));
    return board;
  }

  advance() {
    this.app.machine.step();
    this.app.reached();
    return "on";
  }

  bitName = (bit) => placeName(this.wires, bit, (node) => `${Math.floor(node / this.columns)}.${node % this.columns}`, this.graph);

  result() {
    return this.alive().join("");
  }

  paint() {
    const room = roomFor(this.canvas), side = Math.max(2, Math.min(26, Math.floor(room / this.columns), Math.floor(620 / this.rows)));
    const context = sheet(this.canvas, room, side * this.rows + 1), board = this.alive(), { steps } = this.app.machine;
    Object.assign(this, { side, left: Math.floor((room - side * this.columns) / 2) });
    const corner = (node) => [this.left + (node % this.columns) * side, Math.floor(node / this.columns) * side];
    fillBox(context, palette.well, this.left, 0, side * this.columns, side * this.rows);
    board.forEach((isAlive, at) => { if (isAlive || side > 5) drawTile(context, ...corner(at), side, isAlive ? tone(0) : palette.paper); });
    const bad = [...this.app.wrongPlaces(this.wires)].map((place) => place.split(" ")).map(([where, at]) => (where === "port" ? this.graph.portNode[at] : Number(at)));
    const isHere = document.activeElement === this.canvas;
    context.lineWidth = 2;
    for (const [node, colour] of [...bad.map((node) => [node, palette.wrong]), ...(isHere ? [[this.cursor, palette.text]] : [])]) {
      context.strokeStyle = colour;
      context.strokeRect(...corner(node), side, side);
    }
    const alive = board.reduce((sum, value) => sum + value, 0), generation = Math.max(0, Math.floor((steps - 1) / this.period));
    element("board-note").textContent = `${grouped(this.rows)} × ${grouped(this.columns)}, ${grouped(alive)} alive; generation ${grouped(generation)}`;
    this.canvas.setAttribute("aria-label", `Torus of ${this.rows} by ${this.columns} cells, ${alive} alive; arrow keys move, space flips a cell`);
    this.say(`Step ${grouped(steps)}; a generation takes ${this.period} steps. Click cells to flip them.`);
  }
}
