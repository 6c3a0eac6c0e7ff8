/* A program that takes numbers and gives numbers, at any size that is typed. */

const MOST_BITS = 2e6;

class Stage {
  constructor(app) {
    this.app = app;
    this.size = facts.sizes.chosen;
    this.following = true;
    this.trace = new TraceView(app);
    this.form();
    this.build(this.size);
  }

  /** A box for each input, and one for the size where there is more than one. */
  form() {
    const { sizes } = facts;
    const wires = wiresOf(describedAt(sizes, this.size), kindSizes, kindPorts);
    const boxes = [];
    this.words = wires.inputs.map(({ name }) => {
      const input = made("input", { inputmode: "numeric", spellcheck: "false", id: `input-${name}`, value: facts.values?.[name] ?? "0" });
      input.addEventListener("input", () => this.changed());
      boxes.push(made("label", {}, name.replaceAll("_", " "), input));
      return input;
    });
    if (sizes.formula || Object.keys(sizes.single).length > 1) {
      const least = Math.min(...Object.keys(sizes.single).map(Number), sizes.formula ? sizes.formula[0] : Infinity);
      this.sizeBox = made("input", { type: "number", min: least, id: "size", value: this.size });
      this.sizeBox.addEventListener("input", () => this.changed());
      boxes.push(made("label", {}, facts.sizeName, this.sizeBox));
    }
    byId("inputs").replaceChildren(...boxes);
  }

  changed() {
    this.stale = true;
    this.app.player?.stop();
    this.reset();
    this.draw();
  }

  /** The program at a size; a RangeError says why there is none. */
  build(size) {
    const described = describedAt(facts.sizes, size);
    if (!described) throw new RangeError(`There is no program of size ${size} here; take another one.`);
    const bits = bitsOf(described);
    if (bits > MOST_BITS) throw new RangeError(`Size ${grouped(size)} needs ${grouped(bits)} bits, and this page takes up to ${grouped(MOST_BITS)}.`);
    const { single, compared } = facts.sizes;
    const known = Object.hasOwn(single, size) || compared.some(([first, last]) => first <= size && size <= last);
    this.app.doubt = known ? "" : ` The wiring at ${facts.sizeName} ${grouped(size)} comes from a formula that was not compared with the program at this size.`;
    this.app.use(new Machine(wiresOf(described, kindSizes, kindPorts)));
    this.size = size;
  }

  /** To the start, with what is in the boxes; false where that is no number. */
  reset() {
    notice();
    try {
      const size = this.sizeBox ? Number(this.sizeBox.value) : this.size;
      if (!Number.isInteger(size) || size < 1) throw new RangeError(`${facts.sizeName} must be a whole number, 1 or more.`);
      if (size !== this.size) this.build(size);
      const { wires } = this.app.machine;
      const state = new Uint8Array(wires.bits);
      for (const bit of wires.startBit) state[bit] = 1;
      const values = {};
      wires.inputs.forEach((word, at) => {
        this.words[at].setAttribute("aria-invalid", "false");
        const text = this.words[at].value.trim().replaceAll(/[\s,_]/g, "");
        if (!/^-?\d+$/.test(text)) {
          this.words[at].setAttribute("aria-invalid", "true");
          throw new RangeError(`${word.name} must be a whole number in decimal digits.`);
        }
        const value = BigInt(text);
        const [low, high] = word.signed ? [-(1n << BigInt(word.bits.length - 1)), (1n << BigInt(word.bits.length - 1)) - 1n] : [0n, (1n << BigInt(word.bits.length)) - 1n];
        if (value < low || value > high) {
          this.words[at].setAttribute("aria-invalid", "true");
          const more = this.sizeBox && value > high ? ` Give a larger number for ${facts.sizeName}.` : "";
          throw new RangeError(`${word.name} must fit in ${plural(word.bits.length, "bit")}.${more}`);
        }
        values[word.name] = value;
      });
      loadWords(wires.inputs, values, state);
      this.app.begin(state);
      this.ended = "";
      this.stale = false;
      this.following = true;
      return true;
    } catch (error) {
      if (!(error instanceof RangeError)) throw error;
      notice(error.message);
      this.stale = true;
      return false;
    }
  }

  advance() {
    const { machine } = this.app;
    const before = machine.steps;
    const how = machine.advance();
    this.following = true;
    if (machine.steps > before) this.app.keep();
    return how;
  }

  draw() {
    this.app.draw();
  }

  /** What came of the run. */
  result() {
    const { machine } = this.app;
    const values = readWords(machine.wires.outputs, machine.state);
    return this.ended === "done" ? Object.entries(values).map(([name, value]) => `${name.replaceAll("_", " ")} ${value}`).join(", ") : `none after ${plural(machine.steps, "step")}`;
  }

  /** Outputs of the state that is shown, and how the run stands. */
  paint() {
    this.trace.draw();
    const { machine, shown, shownStep } = this.app;
    const early = !(this.ended === "done" && shownStep === machine.steps);
    const values = readWords(machine.wires.outputs, shown);
    byId("outputs").replaceChildren(
      ...(this.stale ? [] : machine.wires.outputs.map(({ name }) => {
        const text = early && machine.wires.ending !== "steps" ? "\u2013" : String(values[name]); // a computer has no result before it halts
        const classes = [text.length > 40 ? "is-long" : "", early ? "is-early" : ""].join(" ").trim();
        return made("div", { class: classes }, made("dt", {}, name.replaceAll("_", " ")), made("dd", { "data-word": name }, text));
      })),
    );
    const total = machine.wires.ending === "steps" ? ` of ${grouped(machine.wires.steps)}` : "";
    const end = { done: "The run has ended.", limit: "The run did not end within its limit." }[shownStep === machine.steps ? this.ended : ""] ?? "";
    byId("status").replaceChildren(
      this.stale ? "" : `Step ${grouped(shownStep)}${total}. ${end}`,
      this.app.wrongNote(),
    );
  }
}
