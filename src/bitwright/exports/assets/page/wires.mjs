/* The wiring of the program of this page: its words, how it ends, and the kind, bits and wires of each cell. */

// The numbers of bits and ports of a cell, by kind.
const kindSizes = range(0, kinds).map((kind) => blockBits.slice(kindBlock[kind], kindBlock[kind + 1]).reduce((sum, size) => sum + size, 0));
const kindPorts = kindSizes.map((_, kind) => kindPort[kind + 1] - kindPort[kind]);

function wiresOf(program) {
  let bits = 0;
  const fields = program.fields.map(([name, extents]) => {
    const size = extents.reduce((product, extent) => product * extent, 1);
    bits += size;
    return { name, extents, size, offset: bits - size };
  });
  const words = (given) => given.map(([name, signed, own]) => ({ name, signed, bits: own }));
  const tables = Object.fromEntries(Object.entries(program.tables).map(([name, table]) => [name, arrayFrom(table)]));
  const { startBit, steps, ending, haltBit } = program;
  return { bits, fields, inputs: words(program.inputs), outputs: words(program.outputs), startBit, steps, ending, haltBit, ...tables };
}
