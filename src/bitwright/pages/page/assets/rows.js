// The rows of the picture: arrays under a heading with their number, bits by block, or cells under a heading with all their bits.

// The view: the step, the chosen bit, the grouping and the zoom.
const now = { step: 0, bit: -1, hover: null, group: "name", query: "", cell: 14, folded: new Set(), zoomed: false };

let groups = [], arraysOfBits = [], cells = []; // one for each array of bits, or row of an array of higher rank; then one for each cell

function makeGroups() {
  const words = new Map((facts.computer?.words ?? []).map(([name, bits]) => [bits[0], name]));
  groups = fields.flatMap((field) => {
    const length = field.extents.at(-1) ?? 1;
    return range(0, field.size / length).map((row) => {
      const bits = range(field.offset + row * length, field.offset + (row + 1) * length), word = words.get(bits[0]), flag = !field.extents.length;
      const heading = field.extents.length > 1 ? nameOf(bits[0]).replace(/,\d+\]$/, "]") : field.name, isWord = word !== undefined && !flag;
      return { label: isWord ? word : heading, bits, field, word, signed: isWord, flag };
    });
  });
  if (facts.computer) groups.sort((a, b) => (a.word === undefined) - (b.word === undefined)); // memory comes first
  arraysOfBits = groups.slice();
  const { cell_start: start, cell_blocks: blocks, cell_kind: kinds } = arrays;
  cells = range(0, start ? start.length - 1 : 0).map((cell) => {
    const bits = Array.from(blocks.subarray(start[cell], start[cell + 1]), (block) => Array.from(bitsOfBlock(block))).flat();
    const kind = kinds[cell] < 0 ? "no rules" : `kind ${kinds[cell] + 1}`;
    return { label: `${nameOf(bits[0])} … (${kind})`, bits, field: fieldAt(bits[0]), signed: false, flag: bits.length === 1, cell: true };
  });
  groups.push(...cells);
  groups.forEach((group, number) => { group.number = number; });
  const many = facts.bits > 160 && arraysOfBits.length > 5; // folds arrays
  now.folded = new Set(many ? groups.filter((group) => !group.flag && group.bits.length > 1).map((group) => group.number) : []);
}

const shownGroups = () => (now.group === "cell" ? cells : arraysOfBits);

let rows = []; // the number of a bit, or -1 - the number of a group for its heading
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
  rowOfBit = new Map(); // bits of a folded array or cell are in the row of its heading
  rows.forEach((entry, row) => {
    if (entry >= 0) rowOfBit.set(entry, row);
    else if (now.folded.has(-1 - entry)) for (const bit of groups[-1 - entry].bits) rowOfBit.set(bit, row);
  });
}

// The bits whose names contain one of the words, such as `c`, `c[3]` or `p q`; null for an empty query.
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
  // If names are given in full, only their bits are shown.
  const exact = found.filter((bit) => words.includes(nameOf(bit).toLowerCase()) || words.includes(fieldAt(bit).name.toLowerCase()));
  return exact.length ? exact : found;
}

const colour = (bit) => `var(--tone-${fieldAt(bit).number % 7})`;
