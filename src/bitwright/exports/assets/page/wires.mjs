/* The wiring of a program at a size, from its description: progressions of cells, bits and wires. */

// The numbers of bits and ports of a cell, by kind.
const kindSizes = range(0, kinds).map((kind) => blockBits.slice(kindBlock[kind], kindBlock[kind + 1]).reduce((sum, size) => sum + size, 0));
const kindPorts = kindSizes.map((_, kind) => kindPort[kind + 1] - kindPort[kind]);

/** The numbers of a formula at its first size plus `beyond`. */
function termsAt(terms, beyond) {
  const pairs = (beyond * (beyond - 1)) / 2;
  return terms.map((term) => (typeof term === "number" ? term : term[0] + term[1] * beyond + (term[2] || 0) * pairs));
}

/** The description of a size, its shape and numbers; null if there is none. */
function describedAt(sizes, size) {
  if (Object.hasOwn(sizes.single, size)) {
    const [shape, numbers] = sizes.single[size];
    return { shape, numbers };
  }
  if (!sizes.formula || size < sizes.formula[0]) return null;
  const [begin, shape, terms] = sizes.formula;
  return { shape, numbers: termsAt(terms, size - begin) };
}

/** The number of bits of a state. */
function bitsOf({ shape, numbers }) {
  let at = 2, bits = 0;
  for (const [, rank] of shape.fields) {
    let size = 1;
    for (let i = 0; i < rank; i++) size *= numbers[at++];
    bits += size;
  }
  return bits;
}

/** The tables of a program: its words, how it ends, and the kind, bits and wires of each cell. */
function wiresOf({ shape, numbers }) {
  let at = 0;
  const next = () => numbers[at++];
  const progressions = (count) => {
    const found = [];
    for (let i = 0; i < count; i++) {
      const first = next(), step = next(), many = next();
      for (let j = 0; j < many; j++) found.push(first + step * j);
    }
    return found;
  };
  const [steps, haltBit] = [next(), next()];
  let bits = 0;
  const fields = shape.fields.map(([name, rank]) => {
    const extents = Array.from({ length: rank }, next), size = extents.reduce((product, extent) => product * extent, 1);
    bits += size;
    return { name, extents, size, offset: bits - size };
  });
  const words = (given) => given.map(([name, signed, count]) => ({ name, signed: !!signed, bits: progressions(count) }));
  const inputs = words(shape.inputs), outputs = words(shape.outputs), startBit = progressions(shape.start);
  const cellKind = [], cellBit = [], wireStart = [0], wireBit = [];
  for (const [kind, segments] of shape.kinds) {
    for (const form of segments) {
      const length = kindSizes[kind] + 3 * form.reduce((sum, count) => sum + count, 0), cells = next();
      const [first, growth] = [numbers.slice(at, at + length), numbers.slice(at + length, at + 2 * length)];
      at += 2 * length;
      for (let cell = 0; cell < cells; cell++) {
        cellKind.push(kind);
        let place = 0;
        const value = () => first[place] + growth[place++] * cell;
        while (place < kindSizes[kind]) cellBit.push(value());
        for (let port = 0; port < kindPorts[kind]; port++) {
          for (let i = 0; i < form[port]; i++) {
            const from = value(), step = value(), many = value();
            for (let j = 0; j < many; j++) wireBit.push(from + step * j);
          }
          wireStart.push(wireBit.length);
        }
      }
    }
  }
  return {
    bits, fields, inputs, outputs, startBit, steps, ending: shape.ending, haltBit,
    cellKind: Uint16Array.from(cellKind), cellBit: Int32Array.from(cellBit),
    wireStart: Int32Array.from(wireStart), wireBit: Int32Array.from(wireBit),
  };
}
