/* A program whose inputs and outputs are numbers, at any size. */

const MOST_BITS = 2e6;
const spaced = (name) => name.replaceAll("_", " ");

const stage = {
  runs: true, // as soon as there are inputs
  compares: true,
  size: facts.sizes.chosen,

  /** A box for each input, and one for the size if there are several sizes. */
  open() {
    const { sizes } = facts, boxes = [], changed = () => live.restart();
    const { inputs } = wiresOf(describedAt(sizes, this.size));
    this.words = inputs.map(({ name }) => inputBox(boxes, spaced(name), { inputmode: "numeric", id: `input-${name}`, value: facts.values?.[name] ?? "0" }, changed, "input"));
    if (sizes.formula || Object.keys(sizes.single).length > 1) {
      const least = Math.min(...Object.keys(sizes.single).map(Number), sizes.formula ? sizes.formula[0] : Infinity);
      this.sizeBox = inputBox(boxes, facts.sizeName, { type: "number", min: least, id: "size", value: this.size }, changed, "input");
    }
    element("inputs").replaceChildren(...boxes);
    this.build(this.size);
  },

  /** Builds the program at a size; throws a RangeError if this page cannot. */
  build(size) {
    const described = describedAt(facts.sizes, size);
    if (!described) throw new RangeError(`This page has no program of size ${size}; choose another size.`);
    const bits = bitsOf(described);
    if (bits > MOST_BITS) throw new RangeError(`Size ${grouped(size)} needs ${grouped(bits)} bits; this page takes at most ${grouped(MOST_BITS)}.`);
    const { single, compared } = facts.sizes, wires = wiresOf(described);
    const isKnown = Object.hasOwn(single, size) || compared.some(([from, to]) => from <= size && size <= to);
    live.doubt = isKnown ? "" : ` The wiring at ${facts.sizeName} ${grouped(size)} comes from a formula that was not compared with the program at this size.`;
    facts.words = [...wires.inputs, ...wires.outputs.filter((word) => !wires.inputs.some(({ name }) => name === word.name))].map(({ name, bits: own, signed }) => [name, own, signed]);
    live.use(wires);
    this.size = size;
  },

  /** The first state, from the boxes; throws a RangeError for an invalid number. */
  start() {
    const size = this.sizeBox ? Number(this.sizeBox.value) : this.size;
    if (!Number.isInteger(size) || size < 1) throw new RangeError(`${facts.sizeName} must be an integer of at least 1.`);
    if (size !== this.size) {
      this.build(size);
      openProgram();
    }
    const { wires } = live.machine, state = new Uint8Array(wires.bits), values = {};
    for (const bit of wires.startBit) state[bit] = 1;
    wires.inputs.forEach(({ name, bits, signed }, at) => {
      const text = this.words[at].value.trim().replaceAll(/[\s,_]/g, ""), value = /^-?\d+$/.test(text) ? BigInt(text) : null;
      const fits = value !== null && (signed ? BigInt.asIntN : BigInt.asUintN)(bits.length, value) === value;
      this.words[at].setAttribute("aria-invalid", String(!fits));
      if (value === null) throw new RangeError(`${name} must be an integer in decimal digits.`);
      if (!fits) throw new RangeError(`${name} must fit in ${plural(bits.length, "bit")}.${this.sizeBox && value > 0n ? ` Choose a larger value for ${facts.sizeName}.` : ""}`);
      values[name] = value;
    });
    loadWords(wires.inputs, values, state);
    return state;
  },

  result() {
    const { machine } = live, values = readWords(machine.wires.outputs, machine.state);
    return live.ended === "done" ? Object.entries(values).map(([name, value]) => `${spaced(name)} ${value}`).join(", ") : `none after ${plural(machine.steps, "step")}`;
  },

  /** The outputs at the step shown. A machine has no result before it halts, and no program has one at step 0. */
  paint() {
    const { outputs, ending } = live.machine.wires, early = now.step < facts.steps || live.ended !== "done";
    element("results").replaceChildren(...(live.stale ? [] : outputs).map(({ name, bits, signed }) => {
      const text = early && (ending !== "steps" || now.step === 0) ? "–" : String(numberAt(now.step, bits, signed));
      return make("div", { className: `${text.length > 20 ? "widest" : "wide"} ${early ? "soft" : ""}` }, make("dt", spaced(name)), make("dd", { "data-word": name }, text));
    }));
  },

  point: (bit) => choose(bit),
};
