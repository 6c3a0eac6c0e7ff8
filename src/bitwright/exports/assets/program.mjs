/* The program: its cells in order. cellBit has the bits that each looks at, block by block; port by port of all cells,
   wireStart says where the bits that it sets begin in wireBit. */
{% for name, values, kind in program_tables %}
const {{name}} = new {{kind or values|array_type}}([
{{values|numbers}}
]);
{% endfor %}
const ending = {{ending}};
const configurations = new Uint16Array({{most_blocks}});

/** The length of a state: an array of this many numbers, each 0 or 1. */
export const bits = {{bits}};

/** The maximum number of steps of a run. */
export const mostSteps = {{steps}};

/**
 * The inputs and outputs; bits are listed lowest first.
 * @type {ReadonlyArray<{name: string, signed: boolean, bits: number[]}>}
 */
export const inputs = {{inputs}};
/** @type {ReadonlyArray<{name: string, signed: boolean, bits: number[]}>} */
export const outputs = {{outputs}};

/**
 * Returns the start state of a run.
 * @param {Record<string, bigint | number | string>} values of all inputs
 * @returns {Uint8Array}
 */
export function load(values) {
  const state = new Uint8Array(bits);
  for (const bit of startBit) state[bit] = 1;
  loadWords(inputs, values, state);
  return state;
}

/**
 * Returns the outputs in a state.
 * @param {Uint8Array} state
 * @returns {Record<string, bigint>}
 */
export function read(state) {
  return readWords(outputs, state);
}

/**
 * Makes one step: evaluates the network in every cell and writes the next state.
 * @param {Uint8Array} state
 * @param {Uint8Array} next is written
 */
export function step(state, next) {
  let at = 0;
  let port = 0;
  next.fill(0);
  for (const kind of cellKind) {
    const from = kindBlock[kind];
    for (let block = from; block < kindBlock[kind + 1]; block++) {
      let value = 0;
      for (let i = 0; i < blockBits[block]; i++) if (state[cellBit[at++]]) value |= 1 << i;
      configurations[block - from] = value;
    }
    const matched = match(kind, configurations);
    if (matched.length > 0) {
      const ports = cell(kind, matched);
      for (let i = 0; i < ports.length; i++) {
        if (!ports[i]) continue;
        for (let wire = wireStart[port + i]; wire < wireStart[port + i + 1]; wire++) next[wireBit[wire]] = 1;
      }
    }
    port += kindPort[kind + 1] - kindPort[kind];
  }
}

/**
 * Runs a state to its end in place.
 * @param {Uint8Array} state
 * @returns {number} the number of steps, or -1 if it did not end within mostSteps
 */
export function run(state) {
  const next = new Uint8Array(bits);
  for (let steps = 0; ; steps++) {
    if (ending.how === "bit" && state[ending.bit]) return steps;
    if (ending.how !== "rest" && steps === mostSteps) return ending.how === "steps" ? steps : -1;
    step(state, next);
    if (ending.how === "rest") {
      if (next.every((bit, i) => bit === state[i])) return steps;
      if (steps === mostSteps) return -1;
    }
    state.set(next);
  }
}
