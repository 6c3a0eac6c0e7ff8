/* Runs a program. Only cells with a changed bit are evaluated again; the answers of the others cannot have changed. */

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
    this.writers = new Int32Array(wires.bits); // how many wires are on that lead to a bit
    this.said = new Array(cells);
    this.isDirty = new Uint8Array(cells);
    this.load(this.state);
  }

  /** Starts again from this state. */
  load(state) {
    this.state.set(state);
    this.packed.fill(0);
    state.forEach((value, bit) => { if (value) this.flip(bit); });
    this.steps = 0;
    this.asked = 0; // how often a cell was evaluated
    this.wrong = this.firstWrong = null; // how the last state is not that of the rules, and the first one that is not: its step and wrong bits
    this.again();
  }

  flip(bit) {
    this.packed[bit >> 3] ^= 128 >> (bit & 7);
  }

  /** Evaluates all cells again, after a weight has changed. */
  again() {
    this.writers.fill(0);
    this.said.fill(null);
    this.wrongCells = new Set(); // which answer otherwise than the rules
    this.isDirty.fill(1);
    this.dirty = Array.from(this.said.keys());
    this.touched = Array.from(this.state.keys());
  }

  /** Sets bits from outside, between two steps. */
  turnOn(bits) {
    for (const bit of bits) {
      if (this.state[bit]) continue;
      this.state[bit] = 1;
      this.flip(bit);
      this.touched.push(bit);
      this.mark(this.bitCell[bit]);
    }
  }

  mark(cell) {
    if (cell >= 0 && !this.isDirty[cell]) {
      this.isDirty[cell] = 1;
      this.dirty.push(cell);
    }
  }

  /** The network's answer for a cell in some state; in the current state the known one, if nothing has changed. */
  answer(cell, state = this.state) {
    return (state === this.state && !this.isDirty[cell] && this.said[cell]) || this.ask(cell, state);
  }

  /** Evaluates the network for a cell. */
  ask(cell, state) {
    const { cellKind, cellBit } = this.wires, kind = cellKind[cell], configurations = [];
    let at = this.cellAt[cell];
    for (let block = kindBlock[kind]; block < kindBlock[kind + 1]; block++) {
      let value = 0;
      for (let i = 0; i < blockBits[block]; i++) if (state[cellBit[at++]]) value |= 1 << i;
      configurations.push(value);
    }
    return answerTo(kind, match(kind, configurations));
  }

  /** One step; whether some bit has changed. */
  step() {
    this.asked += this.dirty.length;
    for (const cell of this.dirty) {
      this.isDirty[cell] = 0;
      const before = this.said[cell], now = this.ask(cell, this.state);
      if (now === before) continue;
      if (now.wrong.length) this.wrongCells.add(cell);
      else this.wrongCells.delete(cell);
      this.said[cell] = now;
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

  /** Where the state that was just reached is not that of the rules; null where it is. */
  wrongState() {
    if (!this.wrongCells.size) return null;
    const missing = new Map(); // how many more wires to a bit would be on by the rules
    for (const cell of this.wrongCells) {
      const { on, wrong } = this.said[cell];
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

  /** A step of a run: "on", or how it ended. A step that changes nothing, and is right to do so, does not count. */
  advance() {
    const { ending, haltBit, steps } = this.wires;
    if (ending === "bit" && this.state[haltBit]) return "done";
    if (ending !== "rest" && this.steps >= steps) return ending === "steps" ? "done" : "limit";
    if (!this.step() && ending === "rest") {
      if (this.firstWrong?.step !== this.steps) this.steps--; // the rules would have changed something
      return "done";
    }
    return ending === "rest" && this.steps > steps ? "limit" : "on";
  }

  /** All steps of a run: how many, or -1 where it does not end. */
  run() {
    let how = "on";
    while (how === "on") how = this.advance();
    return how === "done" ? this.steps : -1;
  }
}
