/* A run by this page's network, in the form of a recorded run, and the verdict on the network.
   A stage has open(), start(), which returns the first state, paint() and result(). */

const MOST_HISTORY = 64e6, MOST_AHEAD = 2000; // bytes of states; steps taken to reach a state
const ENDINGS = { done: "The run has ended.", limit: "The run did not end within its step limit." };

class LiveRun {
  run = 0; // counts the runs
  goesOn = false;
  stale = true; // whether the inputs on the page are invalid
  ended = "";

  /** Loads a program, given by its wires. */
  use(wires) {
    this.machine = new Machine(wires);
    Object.assign(facts, { bits: wires.bits, fields: wires.fields.map(({ name, extents }) => [name, extents]), real: { stored: "live", cells: true } });
    stride = Math.ceil(wires.bits / 8);
    states = new Uint8Array(256 * stride);
    if (!facts.nodes) cellRules(wires, this.machine);
  }

  /** Returns to the first state; false, with a notice, if the inputs are invalid. */
  reset() {
    notice();
    try {
      const state = stage.start();
      this.machine.load(state);
    } catch (error) {
      if (!(error instanceof RangeError)) throw error;
      notice(error.message);
      this.goesOn = false;
      this.stale = true;
      return false;
    }
    begin = facts.steps = now.step = 0;
    arrays.wrong = [];
    Object.assign(this, { run: this.run + 1, goesOn: true, stale: false, ended: "", wrongBits: new Map() });
    states.set(this.machine.packed);
    return true;
  }

  /** Starts again after a change, and runs to the end if the stage does so by itself. */
  restart() {
    player.stop();
    if (this.reset()) forgetRun();
    go(0);
    if (!this.stale && stage.runs) player.toggle("run");
  }

  /** One step, unless the run has ended. */
  advance() {
    if (!this.goesOn) return;
    const { machine } = this, before = machine.steps, how = machine.advance();
    if (machine.steps > before) this.record();
    this.goesOn = how === "on";
    this.ended = this.goesOn ? "" : how;
    now.step = facts.steps;
  }

  reach(step) {
    for (let at = 0; at < MOST_AHEAD && this.goesOn && facts.steps < step; at++) this.advance();
  }

  record() {
    const { machine } = this;
    facts.steps = machine.steps;
    if ((facts.steps - begin + 1) * stride > states.length) {
      if (states.length < MOST_HISTORY) {
        const more = new Uint8Array(2 * states.length);
        more.set(states);
        states = more;
      } else { // forgets the earlier half
        const half = Math.floor(states.length / stride / 2);
        states.copyWithin(0, half * stride);
        begin += half;
      }
    }
    states.set(machine.packed, (facts.steps - begin) * stride);
    arrays.wrong.push(machine.wrong ? machine.wrong.bits.length : 0);
    if (machine.wrong && this.wrongBits.size < 1000) this.wrongBits.set(facts.steps, machine.wrong.bits);
  }

  /** Prepares a run for the player: a run that has ended starts again. */
  ready() {
    if (this.stale || this.ended) {
      if (!this.reset()) return false;
      forgetRun();
    }
    return true;
  }

  /** G, T and the margin of each bit: of the port closest to its threshold among those that set it or, if none does, of all. */
  outputs(step) {
    const { machine } = this, { wireStart, wireBit } = machine.wires, state = this.stateAt(step);
    const signed = new Float64Array(facts.bits).fill(-Infinity), sum = new Float64Array(facts.bits), limit = new Float64Array(facts.bits);
    for (let cell = 0; cell < machine.cells; cell++) {
      const answer = machine.answer(cell, state), { kind, matched: { length: n } } = answer;
      if (!n) continue;
      answer.sums ??= sums(kind, answer.matched);
      for (let port = 0; port < kindPorts[kind]; port++) {
        const threshold = thresholdOf(kind, port, n), margin = (answer.sums[port] - threshold - 0.5) / units[n - 1], at = machine.portAt[cell] + port;
        for (let wire = wireStart[at]; wire < wireStart[at + 1]; wire++) {
          const bit = wireBit[wire], before = signed[bit];
          if (margin > 0 ? before > 0 && before <= margin : before > 0 || before >= margin) continue;
          [signed[bit], sum[bit], limit[bit]] = [margin, answer.sums[port], threshold];
        }
      }
    }
    return { n: facts.nodes ? 0 : matchCount(step), ...comparisons((bit) => signed[bit], (bit) => sum[bit], (bit) => limit[bit]) };
  }

  stateAt(step) {
    return step === facts.steps ? this.machine.state : Uint8Array.from({ length: facts.bits }, (_, bit) => stateBit(step, bit));
  }

  /** Shows the verdict on the current network in the header. */
  describe() {
    const { network } = facts, kept = weights?.kept, known = proof?.known, wrong = this.machine.firstWrong, count = known && plural(known.states, STATE);
    const parts = [known?.wrong ? `${grouped(known.wrong)} of ${count} ${known.wrong === 1 ? "is" : "are"} wrong` : "", wrong ? `this run is wrong from step ${grouped(wrong.step)} on` : ""].filter(Boolean);
    const isRight = !kept && network.proved;
    const verdict = !kept ? network.note : parts.length ? `refuted: ${parts.join("; ")}` : "not proved";
    const asked = network.cells ? `, evaluated in every cell; ${plural(kinds, "kind")} of cells` : ", of the whole state";
    element("about").replaceChildren(`One network of width ${grouped(network.width)}${asked}. ${kept ? "A threshold was changed: " : "When this page was written: "}`,
      make(isRight ? "b.right" : "b.wrong", verdict), ".");
    document.querySelector("header").classList.toggle("is-broken", Boolean(kept));
    element("status").replaceChildren(this.stale ? "" : `${plural(facts.steps, "step")}. ${ENDINGS[this.ended] ?? ""}`,
      wrong ? make("span.wrong", ` The network first went wrong in step ${grouped(wrong.step)}: ${plural(wrong.bits.length, "bit")}.`) : "");
    stage.paint?.();
  }
}

/** Blocks and templates of a program of cells, as on a recorded page; bits that no cell reads are blocks without templates. */
function cellRules({ cellKind, cellBit }, machine) {
  const blockStart = [0], cellStart = [0], blockKind = [], cellOf = [], bits = Array.from(cellBit), own = [];
  const block = (size, kind, cell) => {
    blockStart.push(blockStart.at(-1) + size);
    blockKind.push(kind);
    cellOf.push(cell);
  };
  cellKind.forEach((kind, cell) => {
    for (let at = kindBlock[kind]; at < kindBlock[kind + 1]; at++) block(blockBits[at], at, cell);
    cellStart.push(blockKind.length);
  });
  machine.bitCell.forEach((cell, bit) => {
    if (cell >= 0) return;
    bits.push(bit);
    own.push(-1);
    block(1, -1, -1);
    cellStart.push(blockKind.length);
  });
  Object.assign(arrays, {
    block_start: Int32Array.from(blockStart), block_bits: Int32Array.from(bits), cell_start: Int32Array.from(cellStart),
    cell_blocks: Int32Array.from(blockKind.keys()), cell_kind: [...cellKind, ...own],
  });
  Object.assign(rules, {
    configs: configuration, text: () => "",
    range: (at) => (blockKind[at] < 0 ? [0, 0] : [blockExample[blockKind[at]], blockExample[blockKind[at] + 1]]),
    writes: (example, at) => portsOfExample[example].flatMap((port) => Array.from(machine.wired(cellOf[at], port - kindPort[cellKind[cellOf[at]]]))),
  });
}

const portsOfExample = Array.from(configuration, () => []);
portExamples.forEach((examples, port) => { for (const example of examples) portsOfExample[example].push(port); });

let weights = null, proof = null;

openLive = () => {
  live = new LiveRun();
  stage.open();
  live.reset();
  proof = new ProofView();
  weights = new WeightsView();
  element("rules-about").textContent = facts.learnt.about;
  element("learnt").textContent = facts.learnt.lines.join("\n");
  element("learnt").hidden = !facts.learnt.lines.length;
  element("footer").textContent = `Network sha256 ${facts.network.sha256}. ${facts.origin ?? ""} Made by bitwright; this page works offline and sends nothing.`;
  submitted("inputs", () => {}); // Enter presses Run
  hear("restart", "click", () => live.restart());
};

/** An input with a label, added to `boxes`; `changed` is called when its value changes. */
function inputBox(boxes, label, properties, changed, event = "change") {
  const box = make("input", { spellcheck: false, ...properties });
  box.addEventListener(event, changed);
  boxes.push(make("label", label, box));
  return box;
}
