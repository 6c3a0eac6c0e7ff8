// The run: the bits of nodes, ports and the whole graph after every step, and the numbers they make.

// The view: the step, the chosen node, the colours and the edges.
const now = { step: 0, node: -1, hover: null, colour: facts.colour, mark: facts.mark };

const declared = facts.declared.map(([name, place, first, apart]) => ({ name, place, first, apart }));
let firstPort = null;

function prepare() {
  stride = Math.ceil(facts.bits / 8);
  states ??= arrays.states;
  firstPort = new Int32Array(facts.nodes + 1);
  for (const node of arrays.port_node) firstPort[node + 1]++;
  for (let node = 0; node < facts.nodes; node++) firstPort[node + 1] += firstPort[node];
}

const placeOf = (bit, at) => declared[bit].first + at * declared[bit].apart, on = (step, bit, at) => stateBit(step, placeOf(bit, at));
const portsOf = (node) => Array.from({ length: firstPort[node + 1] - firstPort[node] }, (_, i) => firstPort[node] + i);
const countOf = (place) => ({ node: facts.nodes, port: arrays.port_node.length, whole: 1 })[place];

const forgetRun = () => {};
const valueOf = (word, at, step) => wordValue(word, (bit) => on(step, bit, at));

function shadeOf(choice, node, step) {
  if (step === 0 && choice.first) return shadeOf(choice.first, node, 0); // the inputs: nothing was computed yet
  if (choice.group === "some port") {
    for (let port = firstPort[node]; port < firstPort[node + 1]; port++) if (valueOf(choice, port, step)) return 1;
    return 0;
  }
  if (choice.sort === "set")
    return choice.bits.reduce((sum, bit, i) => sum + ((on(step, bit, node) ^ (choice.inverted[i] ? 1 : 0)) << i), 0);
  return valueOf(choice, node, step);
}

const colouring = () => facts.colours[now.colour] || null;
const marking = () => facts.marks[now.mark] || null;

// Collects the numbers or sets of a colour that occur in a live run; a recorded run has them in its facts.
function lookThrough(choice) {
  if (!live || !choice || choice.sort === "flag") return;
  if (choice.run !== live.run) Object.assign(choice, { run: live.run, seen: begin - 1, range: null, occurring: [] });
  for (let step = choice.seen + 1; step <= facts.steps; step++) for (let node = 0; node < facts.nodes; node++) {
    const value = shadeOf(choice, node, step);
    if (value === null) continue;
    if (choice.sort === "number") choice.range = [Math.min(choice.range?.[0] ?? value, value), Math.max(choice.range?.[1] ?? value, value)];
    else if (!choice.occurring.includes(value)) choice.occurring = [...choice.occurring, value].sort((a, b) => a - b);
  }
  choice.seen = facts.steps;
}

// Whether a step changed a colour or a highlighted edge.
function changes(step) {
  if (step === 1 && colouring() && colouring().first) return true;
  for (const choice of [colouring(), marking()])
    for (const bit of choice ? [...choice.bits, choice.where] : []) {
      if (bit === null) continue;
      for (let at = countOf(declared[bit].place) - 1; at >= 0; at--) if (on(step, bit, at) !== on(step - 1, bit, at)) return true;
    }
  return false;
}

function nextChange(step, by) {
  for (let tried = 0; tried < 1000 || !live; tried++) { // a live run need not end
    step += by;
    live?.reach(step);
    if (step <= begin || (step >= facts.steps && !live?.goesOn) || changes(step)) break;
  }
  return Math.min(Math.max(begin, step), facts.steps);
}

// Rules whose condition holds at a node or port.
function rulesAt(place, at, step) {
  const found = [];
  for (const block of facts.rules) {
    if (block.place !== place) continue;
    const text = block.templates[block.bits.reduce((sum, bit, i) => sum + on(step, bit, at) * 2 ** i, 0)];
    if (text !== undefined) found.push(text);
  }
  return found;
}

// Bits at a node or port for display: flags, and arrays, highest bit first.
function bitsAt(place, at, step) {
  const found = [];
  for (const [name, where, shape, offset] of facts.fields) {
    if (where !== place) continue;
    const wide = shape.length ? shape[shape.length - 1] : 1, rows = shape.slice(0, -1).reduce((a, b) => a * b, 1);
    for (let row = 0; row < rows; row++) {
      const values = Array.from({ length: wide }, (_, i) => on(step, offset + row * wide + i, at));
      const label = rows > 1 ? declared[offset + row * wide].name.replace(/,\d+\]$/, "]") : name;
      found.push({ label, flag: !shape.length, values, any: values.includes(1) });
    }
  }
  return found;
}

// The bits that are on: `heard`, `level[3]`, `g[1–15]`.
function namesOn(place, at, step) {
  return bitsAt(place, at, step).filter(({ any }) => any).map(({ label, flag, values }) => {
    if (flag) return label;
    const runs = [];
    values.forEach((value, i) => {
      if (!value) return;
      if (i && values[i - 1]) runs[runs.length - 1][1] = i + 1;
      else runs.push([i + 1, i + 1]);
    });
    const index = runs.map(([from, to]) => (from === to ? `${from}` : `${from}–${to}`)).join(",");
    return label.endsWith("]") ? `${label.slice(0, -1)},${index}]` : `${label}[${index}]`;
  });
}
