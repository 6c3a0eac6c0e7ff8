/* Machine V: a stored-program computer with a console, which the page serves between steps. */

const { about } = facts;
const memoryBits = Int32Array.from(about.memory);
const wordBits = (word) => memoryBits.subarray(word * about.width, (word + 1) * about.width);

const stage = {
  image: about.image,
  output: [],

  open() {
    live.use({ ...wiresOf(facts.wiring), steps: Infinity });
    const name = (word) => `M[${word}]`, at = (step, word) => (word < 0 || word >= about.words ? -1 : Number(numberAt(step, wordBits(word), true)));
    facts.computer = { words: range(0, about.words).map((word) => [name(word), Array.from(wordBits(word)), true]) };
    facts.words = [];
    live.instruction = (step, address) => {
      const [a, b, c] = [0, 1, 2].map((more) => at(step, (address + more) % about.words));
      return { label: "", a: name(a), b: name(b), c, words: [a, b] };
    };
    element("image").value = this.image.join(" ");
    element("typing").hidden = !about.ports;
    submitted("typing", () => {
      this.buffer.push(...new TextEncoder().encode(`${element("line").value}\n`));
      element("line").value = "";
      this.goOn();
    });
    hear("no-more", "click", () => {
      this.isClosed = true;
      this.goOn();
    });
    submitted("image-form", () => live.restart());
  },

  /** Continues a run that waits for input. */
  goOn() {
    if (live.ended !== "wait") return;
    Object.assign(live, { ended: "", goesOn: true });
    player.toggle("run");
  },

  start() {
    const words = element("image").value.split(/[\s,]+/).filter(Boolean).map(Number), top = 2 ** about.width;
    const bad = words.findIndex((word) => !Number.isInteger(word) || word < -top / 2 || word >= top);
    if (bad >= 0) throw new RangeError(`Word ${bad + 1} of the program must be an integer of at most ${about.width} bits.`);
    if (words.length > about.words || !words.length) throw new RangeError(`A program must have between 1 and ${grouped(about.words)} words, got ${grouped(words.length)}.`);
    const state = new Uint8Array(facts.bits);
    words.forEach((word, at) => {
      const value = BigInt.asUintN(about.width, BigInt(word));
      wordBits(at).forEach((bit, place) => (state[bit] = Number((value >> BigInt(place)) & 1n)));
    });
    state[about.boundary] = 1;
    Object.assign(this, { output: [], buffer: [], isClosed: false });
    Object.assign(arrays, { instruction_step: [], instruction_address: [] });
    this.note(state, 0);
    return state;
  },

  /** Takes a step, serves the console and records where an instruction begins. */
  advance() {
    const { machine } = live, { halt, boundary } = about;
    if (machine.state[halt]) return "done";
    if (!this.answer(machine)) return "wait";
    machine.step();
    if (machine.state[boundary]) this.note(machine.state, machine.steps);
    return machine.state[halt] ? "done" : "on";
  },

  /** Serves a request of the machine; false if it must wait for input. */
  answer(machine) {
    const { ports } = about;
    if (!ports) return true;
    if (machine.state[ports.request]) {
      if (!this.buffer.length && !this.isClosed) return false;
      const byte = this.buffer.length ? this.buffer.shift() : -1;
      machine.turnOn([...ports.given.filter((_, place) => (byte === -1 ? 1 : (byte >> place) & 1)), ports.give]);
    } else if (machine.state[ports.offer]) {
      this.output.push(number(ports.shown, machine.state) & 255);
      machine.turnOn([ports.taken]);
    }
    return true;
  },

  note(state, step) {
    arrays.instruction_step.push(step);
    arrays.instruction_address.push(number(about.address, state));
  },

  made: () => `, ${plural(arrays.instruction_step.length - 1, "instruction")}; ${grouped(about.words)} words of ${about.width} bits, dialect ${about.dialect}`,

  result() {
    return JSON.stringify([live.ended, this.output, arrays.instruction_address.slice(-8)]) + memoryBits.map((bit) => live.machine.state[bit]).join("");
  },

  paint() {
    const text = new TextDecoder().decode(Uint8Array.from(this.output)), screen = element("screen");
    if (screen.textContent === text) return;
    screen.textContent = text;
    screen.scrollTop = screen.scrollHeight;
  },
};

const number = (bits, state) => Number(numberOf(bits, (bit) => state[bit]));
