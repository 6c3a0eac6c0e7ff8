/* Machine V: a stored-program computer, with a console. Its host answers between two steps. */

class Stage extends BaseStage {
  constructor(app) {
    super(app);
    Object.assign(this, { about: facts.computer, image: facts.computer.image, canvas: element("memory"), word: 0, buffer: [] });
    this.memoryBits = Int32Array.from(this.about.memory.flatMap(([from, step, many]) => range(0, many).map((at) => from + step * at)));
    app.use(new Machine({ ...wiresOf(describedAt(facts.sizes, facts.sizes.chosen)), steps: Infinity }));
    element("image").value = this.image.join(" ");
    element("typing").hidden = !this.about.ports;
    submitted("typing", () => {
      this.buffer.push(...new TextEncoder().encode(`${element("line").value}\n`));
      element("line").value = "";
      this.goOn();
    });
    hear("no-more", "click", () => {
      this.isClosed = true;
      this.goOn();
    });
    submitted("image-form", () => this.loadImage());
    choosable(this.canvas, {
      at: (x, y) => (x < this.columns * this.side ? Math.floor(y / this.side) * this.columns + Math.floor(x / this.side) : -1),
      choose: (word) => this.pick(word),
      chosen: () => this.word,
      count: () => this.about.words,
      columns: () => this.columns,
    });
  }

  pick(word) {
    if (word >= this.about.words) return;
    this.word = word;
    const cell = this.app.machine.bitCell[this.bitsOfWord(word)[0]];
    if (cell >= 0) this.app.choose(cell);
    this.app.draw();
  }

  bitsOfWord(word) {
    return this.memoryBits.subarray(word * this.about.width, (word + 1) * this.about.width);
  }

  loadImage() {
    const words = element("image").value.split(/[\s,]+/).filter(Boolean).map(Number), top = 2 ** this.about.width;
    const bad = words.findIndex((word) => !Number.isInteger(word) || word < -top / 2 || word >= top);
    if (bad >= 0) notice(`Word ${bad + 1} of the program is no number of ${this.about.width} bits.`);
    else if (words.length > this.about.words || !words.length) notice(`A program has from 1 to ${grouped(this.about.words)} words.`);
    else this.again(() => { this.image = words; });
  }

  /** Goes on if the machine was waiting for what has just come. */
  goOn() {
    if (this.ended === "wait") {
      this.ended = "";
      this.app.player.toggle("run");
    }
    this.app.draw();
  }

  start() {
    const state = new Uint8Array(this.app.machine.wires.bits);
    this.image.forEach((word, at) => {
      const bits = this.bitsOfWord(at), value = BigInt.asUintN(bits.length, BigInt(word));
      bits.forEach((bit, place) => (state[bit] = Number((value >> BigInt(place)) & 1n)));
    });
    state[this.about.boundary] = 1;
    Object.assign(this, { output: [], buffer: [], isClosed: false, log: [], instructions: 0 });
    this.note(state, 0);
    return state;
  }

  /** One step, the host's answer, and where an instruction begins a line for it. */
  advance() {
    const { machine } = this.app, { halt, boundary } = this.about;
    if (machine.state[halt]) return "done";
    if (!this.answer()) return "wait";
    machine.step();
    this.app.reached();
    if (machine.state[boundary]) this.note(machine.state, machine.steps);
    return machine.state[halt] ? "done" : "on";
  }

  /** Hands over what the machine asks for; false where it has to wait for someone to type. */
  answer() {
    const { ports } = this.about, { machine } = this.app;
    if (!ports) return true;
    if (machine.state[ports.request]) {
      if (!this.buffer.length && !this.isClosed) return false;
      const byte = this.buffer.length ? this.buffer.shift() : -1;
      machine.turnOn([...ports.given.filter((_, place) => (byte === -1 ? 1 : (byte >> place) & 1)), ports.give]);
    } else if (machine.state[ports.offer]) {
      this.output.push(this.number(ports.shown) & 255);
      machine.turnOn([ports.taken]);
    }
    return true;
  }

  note(state, step) {
    this.instructions++;
    this.log.push({ step, address: this.number(this.about.address, false, state) });
    if (this.log.length > 8) this.log.shift();
  }

  number(bits, signed = false, state = this.app.machine.state) {
    return Number(numberOf(bits, (bit) => state[bit], signed));
  }

  value(word, signed = false) {
    return this.number(this.bitsOfWord(word), signed);
  }

  result() {
    return JSON.stringify([this.ended, this.output, this.log]) + this.memoryBits.map((bit) => this.app.machine.state[bit]).join("");
  }

  paint() {
    const { machine } = this.app, { words, width, dialect } = this.about, text = new TextDecoder().decode(Uint8Array.from(this.output)), screen = element("screen");
    if (screen.textContent !== text) {
      screen.textContent = text;
      screen.scrollTop = screen.scrollHeight;
    }
    const end = { done: "The machine has halted.", wait: "The machine waits for input: type a line." }[this.ended] ?? "";
    this.say(`${plural(this.instructions - 1, "instruction")}, ${plural(machine.steps, "step")}. ${end}`);
    element("machine-note").textContent = `${grouped(words)} words of ${width} bits, dialect ${dialect}`;
    element("instructions").tBodies[0].replaceChildren(...[...this.log].reverse().map(({ step, address }) =>
      row(grouped(step), grouped(address), [0, 1, 2].map((more) => this.value((address + more) % words, true)).join(" "))));
    this.memory();
  }

  /** Every word a square, the brighter the more bits are on; the instruction that runs has a frame. */
  memory() {
    const { words, width } = this.about, room = roomFor(this.canvas);
    this.columns = 2 ** Math.ceil(Math.log2(Math.sqrt(words * (room > 560 ? 3 : 1))));
    this.side = Math.max(3, Math.min(26, Math.floor(room / this.columns)));
    const context = sheet(this.canvas, room, Math.ceil(words / this.columns) * this.side + 2), at = this.log.at(-1).address, bad = new Set(this.app.wrongBits());
    for (let word = 0; word < words; word++) {
      const corner = [(word % this.columns) * this.side, Math.floor(word / this.columns) * this.side], bits = this.bitsOfWord(word);
      const on = bits.reduce((sum, bit) => sum + this.app.machine.state[bit], 0), isRunning = word >= at && word < at + 3, isBad = bits.some((bit) => bad.has(bit));
      drawTile(context, ...corner, this.side, palette.off);
      context.globalAlpha = on ? 0.3 + (0.7 * on) / width : 0;
      drawTile(context, ...corner, this.side, tone(isRunning ? 1 : 0));
      context.globalAlpha = 1;
      const frame = isBad ? palette.wrong : isRunning ? tone(1) : word === this.word ? palette.text : "";
      if (frame) drawTile(context, ...corner, this.side, "transparent", frame, isBad ? 3 : 1.5);
    }
    const value = this.value(this.word, true);
    element("memory-note").textContent = `Word ${grouped(this.word)} is ${grouped(value)}`;
    this.canvas.setAttribute("aria-label", `Memory of ${plural(words, "word")}; word ${this.word} is ${value}; arrow keys choose a word`);
  }
}
