/* Machine V: a stored-program computer, with a console. Its host answers between two steps. */

class Stage {
  constructor(app) {
    this.app = app;
    this.about = facts.computer;
    this.image = this.about.image;
    this.canvas = byId("memory");
    const wires = wiresOf(describedAt(facts.sizes, facts.sizes.chosen), kindSizes, kindPorts);
    this.memoryBits = expanded(this.about.memory);
    app.use(new Machine({ ...wires, steps: Infinity }));
    byId("image").value = this.image.join(" ");
    byId("typing").addEventListener("submit", (event) => {
      event.preventDefault();
      this.type(`${byId("line").value}\n`);
      byId("line").value = "";
    });
    byId("no-more").addEventListener("click", () => {
      this.isClosed = true;
      this.goOn();
    });
    byId("image-form").addEventListener("submit", (event) => {
      event.preventDefault();
      this.loadImage();
    });
    this.canvas.addEventListener("click", (event) => {
      const box = this.canvas.getBoundingClientRect();
      this.pick(Math.floor((event.clientY - box.top) / this.side) * this.columns + Math.floor((event.clientX - box.left) / this.side));
    });
    this.canvas.addEventListener("keydown", (event) => {
      const by = { ArrowRight: 1, ArrowLeft: -1, ArrowDown: this.columns, ArrowUp: -this.columns }[event.key];
      if (by === undefined) return;
      event.preventDefault();
      this.pick(this.word + by);
    });
    this.word = 0;
    this.buffer = [];
    if (!this.about.ports) byId("typing").hidden = true;
  }

  pick(word) {
    if (word < 0 || word >= this.about.words) return;
    this.word = word;
    const cell = this.app.machine.bitCell[this.bitsOfWord(word)[0]];
    if (cell >= 0) this.app.choose(cell);
    this.draw();
  }

  bitsOfWord(word) {
    return this.memoryBits.subarray(word * this.about.width, (word + 1) * this.about.width);
  }

  loadImage() {
    const words = byId("image").value.split(/[\s,]+/).filter(Boolean).map(Number);
    const top = 2 ** this.about.width;
    const bad = words.findIndex((word) => !Number.isInteger(word) || word < -top / 2 || word >= top);
    if (bad >= 0 || words.length > this.about.words || !words.length) {
      notice(bad >= 0 ? `Word ${bad + 1} of the program is no number of ${this.about.width} bits.` : `A program has from 1 to ${grouped(this.about.words)} words.`);
      return;
    }
    this.app.player.stop();
    this.image = words;
    this.reset();
    this.draw();
  }

  type(text) {
    this.buffer.push(...new TextEncoder().encode(text));
    this.goOn();
  }

  /** Goes on if the machine was waiting for what has just come. */
  goOn() {
    if (this.ended === "wait") {
      this.ended = "";
      this.app.player.toggle("run");
    }
    this.draw();
  }

  reset() {
    notice();
    const { machine } = this.app;
    const state = new Uint8Array(machine.wires.bits);
    this.image.forEach((word, at) => {
      const bits = this.bitsOfWord(at);
      const value = BigInt.asUintN(bits.length, BigInt(word));
      bits.forEach((bit, place) => (state[bit] = Number((value >> BigInt(place)) & 1n)));
    });
    state[this.about.boundary] = 1;
    this.app.begin(state);
    Object.assign(this, { ended: "", stale: false, output: [], buffer: [], isClosed: false, log: [], instructions: 0, waiting: 0 });
    this.note();
    return true;
  }

  /** One step, the host's answer, and where an instruction begins a line for it. */
  advance() {
    const { machine } = this.app;
    if (machine.state[this.about.halt]) return "done";
    if (!this.answer()) return "wait";
    machine.step();
    this.app.shownStep = machine.steps;
    this.app.shown = machine.state;
    if (machine.state[this.about.boundary]) this.note();
    return machine.state[this.about.halt] ? "done" : "on";
  }

  /** Hands over what the machine asks for; false where it has to wait for someone to type. */
  answer() {
    const { ports } = this.about;
    const { machine } = this.app;
    if (!ports) return true;
    if (machine.state[ports.request]) {
      if (!this.buffer.length && !this.isClosed) return false;
      const byte = this.buffer.length ? this.buffer.shift() : -1;
      machine.turnOn([...ports.given.filter((_, place) => (byte === -1 ? 1 : (byte >> place) & 1)), ports.give]);
    } else if (machine.state[ports.offer]) {
      this.output.push(number(machine.state, ports.shown) & 255);
      machine.turnOn([ports.taken]);
    }
    return true;
  }

  note() {
    const { machine } = this.app;
    const address = number(machine.state, this.about.address);
    this.instructions++;
    this.log.push({ step: machine.steps, address });
    if (this.log.length > 8) this.log.shift();
  }

  draw() {
    this.app.draw();
  }

  /** What came of the run. */
  result() {
    return JSON.stringify([this.ended, this.output, this.log]) + this.memoryBits.map((bit) => this.app.machine.state[bit]).join("");
  }

  paint() {
    const { machine } = this.app;
    const text = new TextDecoder().decode(Uint8Array.from(this.output));
    const screen = byId("screen");
    if (screen.textContent !== text) {
      screen.textContent = text;
      screen.scrollTop = screen.scrollHeight;
    }
    const end = { done: "The machine has halted.", wait: "The machine waits for input: type a line.", "": "" }[this.ended] ?? "";
    byId("status").replaceChildren(
      `${plural(this.instructions - 1, "instruction")}, ${plural(machine.steps, "step")}. ${end}`,
      this.app.wrongNote(),
    );
    byId("machine-note").textContent = `${grouped(this.about.words)} words of ${this.about.width} bits, dialect ${this.about.dialect}`;
    const rows = [...this.log].reverse().map(({ step, address }) => {
      const operands = [0, 1, 2].map((more) => signed(this.value((address + more) % this.about.words), this.about.width));
      return made("tr", {}, made("td", {}, grouped(step)), made("td", {}, grouped(address)), made("td", {}, operands.join(" ")));
    });
    byId("instructions").tBodies[0].replaceChildren(...rows);
    this.memory();
  }

  value(word) {
    return number(this.app.machine.state, this.bitsOfWord(word));
  }

  /** Every word a square, the brighter the more bits are on; the instruction that runs has a frame. */
  memory() {
    const { words, width } = this.about;
    const room = Math.max(40, this.canvas.parentElement.clientWidth - paddingOf(this.canvas.parentElement));
    this.columns = 2 ** Math.ceil(Math.log2(Math.sqrt(words * (room > 560 ? 3 : 1))));
    this.side = Math.max(3, Math.min(26, Math.floor(room / this.columns)));
    const rows = Math.ceil(words / this.columns);
    const { context } = fitted(this.canvas, rows * this.side + 2);
    const look = colours();
    const at = this.log.at(-1)?.address ?? -9;
    const inset = this.side > 6 ? 1.5 : 0.5;
    const bad = new Set(this.app.wrongBits());
    for (let word = 0; word < words; word++) {
      const [x, y] = [(word % this.columns) * this.side, Math.floor(word / this.columns) * this.side];
      const bits = this.bitsOfWord(word);
      let on = 0;
      for (const bit of bits) on += this.app.machine.state[bit];
      context.globalAlpha = 1;
      context.fillStyle = look.off;
      round(context, x + inset / 2, y + inset / 2, this.side - inset, this.side - inset, this.side > 8 ? 2 : 0);
      context.fill();
      const isRunning = word >= at && word < at + 3;
      context.globalAlpha = on ? 0.3 + (0.7 * on) / width : 0;
      context.fillStyle = toneOf(isRunning ? 1 : 0);
      context.fill();
      context.globalAlpha = 1;
      const isBad = bits.some((bit) => bad.has(bit));
      if (isBad || isRunning || word === this.word) {
        context.lineWidth = isBad ? 3 : 1.5;
        context.strokeStyle = isBad ? look.wrong : isRunning ? toneOf(1) : look.text;
        context.stroke();
      }
    }
    const value = this.value(this.word);
    byId("memory-note").textContent = `Word ${grouped(this.word)} is ${grouped(signed(value, width))}`;
    this.canvas.setAttribute("aria-label", `Memory of ${plural(words, "word")}; word ${this.word} is ${signed(value, width)}; arrow keys choose a word`);
  }
}

/** Bits as a number, the lowest first. */
function number(state, bits) {
  let value = 0;
  for (let place = 0; place < bits.length; place++) if (state[bits[place]]) value += 2 ** place;
  return value;
}

const signed = (value, width) => (value >= 2 ** (width - 1) ? value - 2 ** width : value);

/** Progressions written out. */
function expanded(progressions) {
  return Int32Array.from(progressions.flatMap(([from, step, many]) => Array.from({ length: many }, (_, at) => from + step * at)));
}
