/* A program that takes numbers and gives numbers, at any size that is typed. */

const MOST_BITS = 2e6;

class Stage extends BaseStage {
  constructor(app) {
    super(app);
    Object.assign(this, { size: facts.sizes.chosen, looksBack: true, following: true, trace: new TraceView(app) });
    this.form();
    this.build(this.size);
  }

  /** A box for each input, and one for the size where there is more than one. */
  form() {
    const { sizes } = facts, boxes = [], changed = () => this.again();
    const { inputs } = wiresOf(describedAt(sizes, this.size));
    this.words = inputs.map(({ name }) => inputBox(boxes, spaced(name), { inputmode: "numeric", id: `input-${name}`, value: facts.values?.[name] ?? "0" }, changed, "input"));
    if (sizes.formula || Object.keys(sizes.single).length > 1) {
      const least = Math.min(...Object.keys(sizes.single).map(Number), sizes.formula ? sizes.formula[0] : Infinity);
      this.sizeBox = inputBox(boxes, facts.sizeName, { type: "number", min: least, id: "size", value: this.size }, changed, "input");
    }
    element("inputs").replaceChildren(...boxes);
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
    this.app.use(new Machine(wiresOf(described)));
    this.size = size;
  }

  /** What is in the boxes, as a state; a RangeError names what is no number there. */
  start() {
    const size = this.sizeBox ? Number(this.sizeBox.value) : this.size;
    if (!Number.isInteger(size) || size < 1) throw new RangeError(`${facts.sizeName} must be an integer, 1 or more.`);
    if (size !== this.size) this.build(size);
    const { wires } = this.app.machine, state = new Uint8Array(wires.bits), values = {};
    for (const bit of wires.startBit) state[bit] = 1;
    wires.inputs.forEach(({ name, bits, signed }, at) => {
      const text = this.words[at].value.trim().replaceAll(/[\s,_]/g, ""), value = /^-?\d+$/.test(text) ? BigInt(text) : null;
      const fits = value !== null && (signed ? BigInt.asIntN : BigInt.asUintN)(bits.length, value) === value;
      this.words[at].setAttribute("aria-invalid", String(!fits));
      if (value === null) throw new RangeError(`${name} must be an integer in decimal digits.`);
      if (!fits) throw new RangeError(`${name} must fit in ${plural(bits.length, "bit")}.${this.sizeBox && value > 0n ? ` Give a larger number for ${facts.sizeName}.` : ""}`);
      values[name] = value;
    });
    loadWords(wires.inputs, values, state);
    return state;
  }

  result() {
    const { machine } = this.app, values = readWords(machine.wires.outputs, machine.state);
    return this.ended === "done" ? Object.entries(values).map(([name, value]) => `${spaced(name)} ${value}`).join(", ") : `none after ${plural(machine.steps, "step")}`;
  }

  /** Outputs of the state that is shown, and how the run stands. A computer has no result before it halts, no run one at step 0. */
  paint() {
    this.trace.draw();
    const { machine, shown, shownStep } = this.app, { outputs, ending, steps } = machine.wires, values = readWords(outputs, shown);
    const isLast = shownStep === machine.steps, early = !(isLast && this.ended === "done");
    element("outputs").replaceChildren(...(this.stale ? [] : outputs).map(({ name }) => {
      const text = early && (ending !== "steps" || shownStep === 0) ? "–" : String(values[name]);
      return make("div", { className: `${text.length > 40 ? "is-long" : ""} ${early ? "is-early" : ""}` }, make("dt", spaced(name)), make("dd", { "data-word": name }, text));
    }));
    this.say(this.stale ? "" : `Step ${grouped(shownStep)}${ending === "steps" ? ` of ${grouped(steps)}` : ""}. ${(isLast && ENDINGS[this.ended]) || ""}`);
  }
}

const spaced = (name) => name.replaceAll("_", " ");
