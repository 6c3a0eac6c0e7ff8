// The program and its run: names of bits, matches, and the engine's outputs.

const on = stateBit;
let fields = [];
const fieldAt = (bit) => fieldOf(fields, bit), nameOf = (bit) => bitName(fields, bit);

function bitOf(name) {
  const found = /^\s*([A-Za-z_]\w*)\s*(?:\[([\d,\s]+)\])?\s*$/.exec(name);
  const field = found && fields.find((f) => f.name === found[1]);
  if (!field) return -1;
  const index = found[2] ? found[2].split(",").map(Number) : [];
  if (index.length !== field.extents.length) return -1;
  let at = 0;
  for (let axis = 0; axis < index.length; axis++) {
    if (!(index[axis] >= 1 && index[axis] <= field.extents[axis])) return -1;
    at = at * field.extents[axis] + index[axis] - 1;
  }
  return field.offset + at;
}

const numberAt = (step, bits, signed) => numberOf(bits, (bit) => on(step, bit), signed);

// The templates of each block are a range of `configs`, ascending; `writes` and `text` give the bits a template writes and its rule.
const rules = { blockOf: null, writers: null, configs: null, range: null, writes: null, text: null };

function prepare() {
  stride = Math.ceil(facts.bits / 8);
  fields = [];
  for (const [name, extents] of facts.fields) {
    const before = fields.at(-1);
    fields.push({ name, extents, offset: before ? before.offset + before.size : 0, size: extents.reduce((a, b) => a * b, 1), number: fields.length });
  }
  const { block_start: start, block_bits: members } = arrays;
  rules.blockOf = new Int32Array(facts.bits);
  for (let b = 0; b + 1 < start.length; b++)
    for (let i = start[b]; i < start[b + 1]; i++) rules.blockOf[members[i]] = b;
  if (arrays.template_block) recordedRules(arrays);
}

function recordedRules({ block_start, template_block, template_config, template_rule, write_start, write_bits, states: recorded }) {
  const first = new Int32Array(block_start.length); // templates are sorted by block, and inside by configuration
  for (const block of template_block) first[block + 1]++;
  for (let b = 1; b < first.length; b++) first[b] += first[b - 1];
  states = recorded;
  rules.writers = new Int32Array(facts.bits); // c
  for (const bit of write_bits) rules.writers[bit]++;
  Object.assign(rules, {
    configs: template_config, range: (block) => [first[block], first[block + 1]],
    writes: (template) => write_bits.subarray(write_start[template], write_start[template + 1]),
    text: (template) => facts.rules[template_rule[template]] || "",
  });
}

const bitsOfBlock = (block) => arrays.block_bits.subarray(arrays.block_start[block], arrays.block_start[block + 1]);

function templateAt(step, block) {
  const [begins, ends] = rules.range(block), from = arrays.block_start[block], to = arrays.block_start[block + 1];
  if (begins === ends) return -1;
  let config = 0;
  for (let i = from; i < to; i++) config |= on(step, arrays.block_bits[i]) << (i - from);
  const found = lastUpTo(rules.configs, config, begins, ends);
  return found >= begins && rules.configs[found] === config ? found : -1;
}

function templateText(template, block) {
  const config = rules.configs[template];
  const when = Array.from(bitsOfBlock(block), (bit, i) => `${nameOf(bit)}=${(config >> i) & 1}`);
  return `when ${when.join(" ")} write ${Array.from(rules.writes(template, block), nameOf).join(" ")}`;
}

// All matches of a state, as pairs of a template and its block, and for every bit the number of them that write it (m); cached for the last few steps.
const known = new Map(), forgetRun = () => known.clear();

function matchesAt(step) {
  if (known.has(step)) return known.get(step);
  const matches = [], counts = new Int32Array(facts.bits);
  for (let block = 0; block + 1 < arrays.block_start.length; block++) {
    const template = templateAt(step, block);
    if (template < 0) continue;
    matches.push([template, block]);
    for (const bit of rules.writes(template, block)) counts[bit]++;
  }
  if (known.size > 64) known.delete(known.keys().next().value);
  known.set(step, { matches, counts });
  return known.get(step);
}

const matchCount = (step) => (arrays.n ? arrays.n[step] : matchesAt(step).matches.length);

function settersOf(step, bit) {
  return step === begin ? [] : matchesAt(step - 1).matches.filter((match) => rules.writes(...match).includes(bit));
}

// The engine's outputs F in the state of a step, and the values that rounding compares with a threshold:
// calibrated rounding compares the estimate (F - c w0)/(w1 - w0) of m with 1/2, sign rounding compares F with 0.
function weightsAt(step) {
  const n = arrays.n[step], at = lastUpTo(arrays.table_n, n), gap = arrays.table_gap[at], deviation = arrays.table_deviation[at];
  return { n, w0: arrays.table_w0[at], gap, deviation, spread: facts.real.rounding === "calibrated" ? deviation / (gap || 1) : deviation }; // spread of the compared value
}

function outputsAt(step) {
  const { real } = facts;
  if (live) return live.outputs(step);
  if (step >= facts.steps || real.stored === "nothing") return null;
  const w = weightsAt(step), calibrated = real.rounding === "calibrated", threshold = calibrated ? 0.5 : 0;
  const place = (bit) => step * facts.bits + bit, counts = real.stored === "closed form" && matchesAt(step).counts;
  const output = counts ? (bit) => w.w0 * rules.writers[bit] + w.gap * counts[bit] : (bit) => arrays.outputs[place(bit)];
  if (real.cells) return { ...w, ...comparisons((bit) => arrays.signed[place(bit)], output, (bit) => arrays.thresholds[place(bit)]) };
  const exact = calibrated && real.stored === "closed form" && w.n > 0; // the estimate is m itself
  const value = (bit) =>
    exact ? matchesAt(step).counts[bit] : calibrated ? (output(bit) - w.w0 * rules.writers[bit]) / (w.gap || 1) : output(bit);
  const decided = (bit) => (calibrated ? w.n > 0 : w.n > 1 && rules.writers[bit] > 0); // whether any match can write the bit
  const margin = (bit) => (decided(bit) ? Math.abs(value(bit) - threshold) : Infinity);
  return { ...w, threshold, calibrated, output, value, margin };
}

// For a network of cells: the sum G, the threshold T and the margin of each bit; the margin is negative if the bit was not set.
const comparisons = (signed, output, limit) => ({ threshold: 0, calibrated: false, value: signed, margin: (bit) => Math.abs(signed(bit)), output, limit });
