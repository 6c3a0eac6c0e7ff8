/* A program whose inputs and outputs are numbers. */

const spaced = (name) => name.replaceAll("_", " ");

const stage = {
  runs: true, // as soon as there are inputs
  compares: true,

  /** A box for each input. */
  open() {
    const boxes = [], wires = wiresOf(facts.wiring), changed = () => live.restart();
    this.words = wires.inputs.map(({ name }) => inputBox(boxes, spaced(name), { inputmode: "numeric", id: `input-${name}`, value: facts.values?.[name] ?? "0" }, changed, "input"));
    element("inputs").replaceChildren(...boxes);
    facts.words = [...wires.inputs, ...wires.outputs.filter((word) => !wires.inputs.some(({ name }) => name === word.name))].map(({ name, bits, signed }) => [name, bits, signed]);
    live.use(wires);
  },

  /** The first state, from the boxes; throws a RangeError for an invalid number. */
  start() {
    const { wires } = live.machine, state = new Uint8Array(wires.bits), values = {};
    for (const bit of wires.startBit) state[bit] = 1;
    wires.inputs.forEach(({ name, bits, signed }, at) => {
      const text = this.words[at].value.trim().replaceAll(/[\s,_]/g, ""), value = /^-?\d+$/.test(text) ? BigInt(text) : null;
      const fits = value !== null && (signed ? BigInt.asIntN : BigInt.asUintN)(bits.length, value) === value;
      this.words[at].setAttribute("aria-invalid", String(!fits));
      if (value === null) throw new RangeError(`${name} must be an integer in decimal digits.`);
      if (!fits) throw new RangeError(`${name} must fit in ${plural(bits.length, "bit")}.`);
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
