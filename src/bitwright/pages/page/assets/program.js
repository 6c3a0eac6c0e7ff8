// The program and its run: names of bits, matches, and what the engine said in a step.

const stride = Math.ceil(facts.bits / 8); // bytes of a state
let states = null;
const on = (step, bit) => bitIn(states, bit, step * stride);

const fields = [];
for (const [name, extents] of facts.fields) {
  const before = fields.at(-1);
  fields.push({ name, extents, offset: before ? before.offset + before.size : 0, size: extents.reduce((a, b) => a * b, 1), number: fields.length });
}
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

// Blocks and templates.

const rules = {};

function prepare() {
  states = arrays.states;
  const { block_start: start, block_bits: members, template_block: block } = arrays;
  rules.blockOf = new Int32Array(facts.bits);
  for (let b = 0; b + 1 < start.length; b++)
    for (let i = start[b]; i < start[b + 1]; i++) rules.blockOf[members[i]] = b;
  rules.first = new Int32Array(start.length); // templates are sorted by block, and inside by configuration
  for (let t = 0; t < block.length; t++) rules.first[block[t] + 1]++;
  for (let b = 1; b < rules.first.length; b++) rules.first[b] += rules.first[b - 1];
  rules.writers = new Int32Array(facts.bits); // c
  for (const bit of arrays.write_bits) rules.writers[bit]++;
}

const blockBits = (block) => arrays.block_bits.subarray(arrays.block_start[block], arrays.block_start[block + 1]);
const writesOf = (template) => arrays.write_bits.subarray(arrays.write_start[template], arrays.write_start[template + 1]);

function templateAt(step, block) {
  const begin = rules.first[block], end = rules.first[block + 1], from = arrays.block_start[block], to = arrays.block_start[block + 1];
  if (begin === end) return -1;
  let config = 0;
  for (let i = from; i < to; i++) config |= on(step, arrays.block_bits[i]) << (i - from);
  const found = lastUpTo(arrays.template_config, config, begin, end);
  return found >= begin && arrays.template_config[found] === config ? found : -1;
}

function templateText(template) {
  const config = arrays.template_config[template];
  const when = Array.from(blockBits(arrays.template_block[template]), (bit, i) => `${nameOf(bit)}=${(config >> i) & 1}`);
  return `when ${when.join(" ")} write ${Array.from(writesOf(template), nameOf).join(" ")}`;
}

const ruleText = (template) => facts.rules[arrays.template_rule[template]] || "";

// All matches of a state, and for every bit how many of them write it (m); the last few steps are kept.

const known = new Map();

function matchesAt(step) {
  if (known.has(step)) return known.get(step);
  const templates = [], counts = new Int32Array(facts.bits);
  for (let block = 0; block + 1 < arrays.block_start.length; block++) {
    const template = templateAt(step, block);
    if (template < 0) continue;
    templates.push(template);
    for (const bit of writesOf(template)) counts[bit]++;
  }
  if (known.size > 64) known.delete(known.keys().next().value);
  known.set(step, { templates, counts });
  return known.get(step);
}

function settersOf(step, bit) {
  return step === 0 || every > 1 ? [] : matchesAt(step - 1).templates.filter((t) => writesOf(t).includes(bit));
}

// What the engine said about the state of a step: outputs F, and the value that rounding compares with a threshold:
// calibrated, the estimate (F - c w0)/(w1 - w0) of m, with 1/2; sign, F itself, with 0.

function weightsAt(step) {
  const n = arrays.n[step], at = lastUpTo(arrays.table_n, n), gap = arrays.table_gap[at], deviation = arrays.table_deviation[at];
  return { n, w0: arrays.table_w0[at], gap, deviation, spread: facts.real.rounding === "calibrated" ? deviation / (gap || 1) : deviation }; // spread of the value that is compared
}

function saidAt(step) {
  const { real } = facts, w = weightsAt(step);
  if (step >= facts.steps || real.stored === "nothing") return null;
  const calibrated = real.rounding === "calibrated", threshold = calibrated ? 0.5 : 0;
  let bits = null, output, place;
  if (real.stored === "closed form") {
    const { counts } = matchesAt(step);
    output = (bit) => w.w0 * rules.writers[bit] + w.gap * counts[bit];
  } else if (real.stored === "all") {
    place = (bit) => step * facts.bits + bit;
  } else {
    const from = step * real.closest;
    bits = arrays.chosen.subarray(from, from + real.closest);
    const at = new Map(Array.from(bits, (bit, i) => [bit, from + i]));
    place = (bit) => at.get(bit);
  }
  output ||= (bit) => arrays.outputs[place(bit)] ?? NaN;
  if (real.cells) { // the margin is stored, with a minus where the bit was not set
    const signed = (bit) => arrays.signed[place(bit)] ?? NaN;
    return {
      ...w, threshold, calibrated, bits, output, value: (bit) => threshold + signed(bit), margin: (bit) => Math.abs(signed(bit)),
      limit: (bit) => arrays.thresholds[place(bit)] ?? NaN,
    };
  }
  const exact = calibrated && real.stored === "closed form" && w.n > 0; // then the estimate is m itself
  const value = (bit) =>
    exact ? matchesAt(step).counts[bit] : calibrated ? (output(bit) - w.w0 * rules.writers[bit]) / (w.gap || 1) : output(bit);
  const decided = (bit) => (calibrated ? w.n > 0 : w.n > 1 && rules.writers[bit] > 0); // is anything at stake?
  const margin = (bit) => (decided(bit) ? Math.abs(value(bit) - threshold) : Infinity);
  return { ...w, threshold, calibrated, bits, output, value, margin };
}
