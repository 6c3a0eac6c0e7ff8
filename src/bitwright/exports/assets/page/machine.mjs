/* Runs a program. Only cells with a changed bit are evaluated again: the answers of the others are the same. */

class Machine {
  constructor(wires) {
    this.wires = wires;
    const cells = wires.cellKind.length;
    this.cells = cells;
    this.cellAt = new Int32Array(cells + 1);
    this.portAt = new Int32Array(cells + 1);
    this.bitCell = new Int32Array(wires.bits).fill(-1);
    for (let cell = 0; cell < cells; cell++) {
      const kind = wires.cellKind[cell];
      this.cellAt[cell + 1] = this.cellAt[cell] + kindSizes[kind];
      this.portAt[cell + 1] = this.portAt[cell] + kindPort[kind + 1] - kindPort[kind];
      for (let at = this.cellAt[cell]; at < this.cellAt[cell + 1]; at++) this.bitCell[wires.cellBit[at]] = cell;
    }
    this.state = new Uint8Array(wires.bits);
    this.packed = new Uint8Array(Math.ceil(wires.bits / 8)); // the same, eight bits to a byte
    this.writers = new Int32Array(wires.bits); // for each bit, the number of wires to it that are on
    this.answers = new Array(cells);
    this.isDirty = new Uint8Array(cells);
    this.load(this.state);
  }

  /** Starts from a state; all cells are evaluated again. */
  load(state) {
    this.state.set(state);
    this.packed.fill(0);
    state.forEach((value, bit) => { if (value) this.flip(bit); });
    this.steps = 0;
    this.evaluated = 0; // cells, in all steps
    this.wrong = this.firstWrong = null; // the step and wrong bits of the last state and of the first wrong one; null for correct states
    this.writers.fill(0);
    this.answers.fill(null);
    this.wrongCells = new Set(); // whose answers differ from the rules
    this.isDirty.fill(1);
    this.dirty = Array.from(this.answers.keys());
    this.touched = Array.from(this.state.keys());
  }

  flip(bit) {
    this.packed[bit >> 3] ^= 128 >> (bit & 7);
  }

  mark(cell) {
    if (cell >= 0 && !this.isDirty[cell]) {
      this.isDirty[cell] = 1;
      this.dirty.push(cell);
    }
  }

  /** The network's answer for a cell in some state; in the current state the last one, if no bit has changed. */
  answer(cell, state = this.state) {
    return (state === this.state && !this.isDirty[cell] && this.answers[cell]) || this.evaluate(cell, state);
  }

  /** Evaluates the network for a cell. */
  evaluate(cell, state) {
    const { cellKind, cellBit } = this.wires, kind = cellKind[cell], configurations = [];
    let at = this.cellAt[cell];
    for (let block = kindBlock[kind]; block < kindBlock[kind + 1]; block++) {
      let value = 0;
      for (let i = 0; i < blockBits[block]; i++) if (state[cellBit[at++]]) value |= 1 << i;
      configurations.push(value);
    }
    return answerTo(kind, match(kind, configurations));
  }

  /** Takes a step; returns whether some bit has changed. */
  step() {
    this.evaluated += this.dirty.length;
    for (const cell of this.dirty) {
      this.isDirty[cell] = 0;
      const before = this.answers[cell], now = this.evaluate(cell, this.state);
      if (now === before) continue;
      if (now.wrong.length) this.wrongCells.add(cell);
      else this.wrongCells.delete(cell);
      this.answers[cell] = now;
      if (before) this.count(cell, before, -1);
      this.count(cell, now, 1);
    }
    this.dirty = [];
    const touched = this.touched;
    this.touched = [];
    let changed = false;
    for (const bit of touched) {
      const value = this.writers[bit] > 0 ? 1 : 0;
      if (this.state[bit] === value) continue;
      this.state[bit] = value;
      this.flip(bit);
      this.mark(this.bitCell[bit]);
      changed = true;
    }
    this.steps++;
    this.wrong = this.wrongState();
    this.firstWrong ??= this.wrong;
    return changed;
  }

  /** The step and wrong bits of the state just reached; null if it follows the rules. */
  wrongState() {
    if (!this.wrongCells.size) return null;
    const missing = new Map(); // for each bit, how many more wires to it the rules turn on
    for (const cell of this.wrongCells) {
      const { on, wrong } = this.answers[cell];
      for (const port of wrong) for (const bit of this.wired(cell, port)) missing.set(bit, (missing.get(bit) ?? 0) + (on.includes(port) ? -1 : 1));
    }
    const bits = [...missing.keys()].filter((bit) => this.writers[bit] > 0 !== this.writers[bit] + missing.get(bit) > 0);
    return bits.length ? { step: this.steps, bits } : null;
  }

  /** The bits that a port of a cell is wired to. */
  wired(cell, port) {
    const { wireStart, wireBit } = this.wires, at = this.portAt[cell] + port;
    return wireBit.subarray(wireStart[at], wireStart[at + 1]);
  }

  count(cell, answer, change) { // in every step, so without an array for each port
    const { wireStart, wireBit } = this.wires;
    for (const port of answer.on) {
      const at = this.portAt[cell] + port;
      for (let wire = wireStart[at]; wire < wireStart[at + 1]; wire++) {
        this.writers[wireBit[wire]] += change;
        this.touched.push(wireBit[wire]);
      }
    }
  }

  /** Takes a step of a run; returns "on", or how the run ended. A step that correctly changes nothing does not count. */
  advance() {
    const { ending, haltBit, steps } = this.wires;
    if (ending === "bit" && this.state[haltBit]) return "done";
    if (ending !== "rest" && this.steps >= steps) return ending === "steps" ? "done" : "limit";
    if (!this.step() && ending === "rest") {
      if (this.firstWrong?.step !== this.steps) this.steps--; // otherwise the rules would have changed a bit
      return "done";
    }
    return ending === "rest" && this.steps > steps ? "limit" : "on";
  }
}
