/* Numbers of nodes, ports and the graph: into a state, and out of it. */

/** The state in which a run starts; `values` has for each input one number for every node, port, or for the graph. */
function graphStart(schema, graph, wires, values) {
  const { places } = wires, state = new Uint8Array(wires.bits);
  for (const bit of schema.start) for (let at = 0; at < places.counts[places.place[bit]]; at++) state[places.bit(bit, at)] = 1;
  for (const word of schema.inputs) {
    checkWord(word, values[word.name]);
    values[word.name].forEach((value, at) => {
      word.bits.forEach((bit, place) => {
        const on = word.way === "place" ? value === place + 1 : Math.floor(value / 2 ** place) % 2 === (word.way === "not" ? 0 : 1);
        if (on) state[places.bit(bit, at)] = 1;
      });
      if (value > 0) for (const target of word.also) for (const bit of reachedFrom(schema, graph, places, word.place, target, at)) state[bit] = 1;
    });
  }
  return state;
}

/** The smallest and the largest value of a number. */
function wordRange(word) {
  if (word.way === "place") return [1, word.bits.length];
  return [word.positive ? 1 : 0, 2 ** word.bits.length - 1];
}

function checkWord(word, values) {
  const [low, high] = wordRange(word);
  const wrong = values.findIndex((value) => !Number.isInteger(value) || value < low || value > high);
  if (wrong >= 0) throw new RangeError(`${word.name} must lie between ${grouped(low)} and ${grouped(high)}; at ${word.place} ${wrong} it is ${values[wrong]}.`);
  if (word.one && values.filter((value) => value).length !== 1) throw new RangeError(`${word.name} is one node.`);
  if (word.unique && new Set(values).size < values.length) throw new RangeError(`No two nodes may have the same ${word.name}.`);
}

/** What nodes, ports or the graph put out in a state: a number each, or null where there is none. */
function graphValues(word, { places }, state) {
  const values = range(0, places.counts[word.place]).map((at) => wordValue(word, (bit) => state[places.bit(bit, at)]));
  return values.map((value) => (value === null ? null : Number(value)));
}

/** `3.7.a`, `3.7→3.8.h[2]`: a bit by its place in the graph. */
function placeName(wires, bit, nodeName, graph) {
  const field = fieldOf(wires.fields, bit);
  if (field.place === "whole") return bitName(wires.fields, bit);
  const size = field.own.reduce((product, extent) => product * extent, 1), at = Math.floor((bit - field.offset) / size);
  const own = bitName([{ ...field, extents: field.own, offset: 0 }], (bit - field.offset) % size);
  if (field.place === "node") return `${nodeName(at)}.${own}`;
  const node = graph.portNode[at];
  return `${nodeName(node)}→${nodeName(graph.portFar[at])}.${own}`;
}
