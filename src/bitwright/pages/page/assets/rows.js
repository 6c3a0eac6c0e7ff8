// The rows of the picture: arrays under a heading that shows them as a number, bits by block, or cells under a heading
// that shows all their bits in one row.

// Where the page is: the step, the chosen bit, and how things are shown.
const now = { step: 0, bit: -1, hover: null, group: "name", query: "", positions: false, cell: 14, folded: new Set(), zoomed: false };

const oneHot = new Set(facts.one_hot); // where arrays begin that never have more than one bit on
const groups = []; // one for each array of bits, or row of an array of higher rank; behind them, one for each cell
for (const field of fields) {
  const length = field.extents.length ? field.extents[field.extents.length - 1] : 1;
  for (let from = 0; from < field.size; from += length) {
    const bits = Array.from({ length }, (_, i) => field.offset + from + i);
    const heading = field.extents.length > 1 ? nameOf(bits[0]).replace(/,\d+\]$/, "]") : field.name;
    groups.push({ label: heading, bits, field, signed: false, flag: !field.extents.length, oneHot: oneHot.has(bits[0]) });
  }
}

// Words of a machine's memory have names of their own, and come first.

if (facts.computer) {
  const words = new Map(facts.computer.words.map(([name, bits]) => [bits[0], name]));
  for (const group of groups) {
    group.word = words.get(group.bits[0]);
    if (group.word === undefined || group.flag) continue;
    group.label = group.word;
    group.signed = true;
  }
  groups.sort((a, b) => (a.word === undefined) - (b.word === undefined));
}
groups.forEach((group, number) => { group.number = number; });
const arraysOfBits = groups.slice(), cells = [];

function groupCells() { // where blocks are grouped; called once, when the arrays are there
  const { cell_start: start, cell_blocks: blocks, cell_kind: kinds } = arrays;
  for (let cell = 0; start && cell + 1 < start.length; cell++) {
    const bits = Array.from(blocks.subarray(start[cell], start[cell + 1]), (block) => Array.from(blockBits(block))).flat();
    const kind = kinds[cell] < 0 ? "no rules" : `kind ${kinds[cell] + 1}`, label = `${nameOf(bits[0])} … (${kind})`;
    cells.push({ label, bits, field: fieldAt(bits[0]), number: groups.length, signed: false, flag: bits.length === 1, cell: true });
    groups.push(cells[cell]);
  }
}

const shownGroups = () => (now.group === "cell" ? cells : arraysOfBits);

let rows = []; // of a bit: its number; of a heading: -1 - the number of its group
let rowOfBit = new Map();

function arrange() {
  const wanted = search(now.query);
  if (wanted) rows = wanted;
  else if (now.group === "block") rows = Array.from(arrays.block_bits);
  else {
    rows = [];
    for (const group of shownGroups()) {
      if (!group.flag) rows.push(-1 - group.number);
      if (!group.flag && now.folded.has(group.number)) continue;
      if (group.cell) for (const bit of group.bits) rows.push(bit);
      else for (let i = group.bits.length; i-- > 0;) rows.push(group.bits[i]);
    }
  }
  rowOfBit = new Map(); // the bits of a folded array or cell are in the row of its heading
  rows.forEach((entry, row) => {
    if (entry >= 0) rowOfBit.set(entry, row);
    else if (now.folded.has(-1 - entry)) for (const bit of groups[-1 - entry].bits) rowOfBit.set(bit, row);
  });
}

// The bits whose names contain one of the words: `c`, `c[3]`, `p q`. null where nothing is asked for.

function search(query) {
  const words = query.toLowerCase().split(/\s+/).filter(Boolean);
  if (!words.length) return null;
  const found = [];
  for (const group of arraysOfBits) {
    for (let i = group.bits.length; i-- > 0;) {
      const name = nameOf(group.bits[i]).toLowerCase();
      if (words.some((word) => name.includes(word))) found.push(group.bits[i]);
    }
  }
  // A name given in full comes first, and alone where it is an array or flag.
  const exact = found.filter((bit) => words.includes(nameOf(bit).toLowerCase()) || words.includes(fieldAt(bit).name.toLowerCase()));
  return exact.length ? exact : found;
}

const colour = (bit) => `var(--tone-${fieldAt(bit).number % 7})`;
