/* A node program on a graph: its cells at every node and port, their wires along the paths of its targets. */

/** Nodes, and a port for every end of an edge; the ports of a node stand in the order of its edges. */
function topologyOf(nodes, edges) {
  const ends = edges.flatMap(([one, other], edge) => [
    { owner: one, far: other, edge, end: 2 * edge },
    { owner: other, far: one, edge, end: 2 * edge + 1 },
  ]);
  ends.sort((one, other) => one.owner - other.owner || one.end - other.end);
  const place = new Int32Array(ends.length);
  ends.forEach(({ end }, at) => (place[end] = at));
  const firstPort = new Int32Array(nodes + 1);
  for (const { owner } of ends) firstPort[owner + 1]++;
  for (let node = 0; node < nodes; node++) firstPort[node + 1] += firstPort[node];
  return {
    nodes, ports: ends.length, firstPort,
    portNode: ends.map(({ owner }) => owner), portFar: ends.map(({ far }) => far), portEdge: ends.map(({ edge }) => edge),
    opposite: ends.map(({ end }) => place[end ^ 1]),
  };
}

/** The schema for this many nodes. */
function schemaFor(nodes) {
  return facts.node.schemas.filter(([from]) => from <= nodes).at(-1)[1];
}

/** Where the bits of a schema are on a graph: `bit(declared, at)`, at a node, a port or the whole. */
function placesOf(schema, graph) {
  const counts = { node: graph.nodes, port: graph.ports, whole: 1 }, base = [], stride = [], place = [], fields = [];
  let bits = 0;
  for (const [name, where, extents] of schema.fields) {
    const size = extents.reduce((product, extent) => product * extent, 1);
    for (let at = 0; at < size; at++) {
      base.push(bits + at);
      stride.push(where === "whole" ? 0 : size);
      place.push(where);
    }
    const total = size * counts[where];
    if (total) fields.push({ name, extents: where === "whole" ? extents : [counts[where], ...extents], size: total, offset: bits, place: where, own: extents });
    bits += total;
  }
  return { counts, bits, fields, place, bit: (declared, at) => base[declared] + at * stride[declared] };
}

/** The bits that a target is, seen from one node or port. */
function reachedFrom(schema, graph, places, start, target, at) {
  const own = places.place.length, [path, bit] = target >= own ? schema.targets[target - own] : ["", target];
  const end = places.place[bit];
  const found = endsOf(graph, places.counts, start, path, end, at).map((there) => places.bit(bit, there));
  const chained = schema.chains.find(([link]) => link === bit);
  if (path === "next" && chained) {
    const node = start === "node" ? at : graph.portNode[at];
    const isLast = start === "node" ? graph.firstPort[node + 1] === graph.firstPort[node] : at + 1 === graph.firstPort[node + 1];
    if (isLast) found.push(places.bit(chained[1], node));
  }
  return found;
}

function endsOf(graph, counts, start, path, end, at) {
  const portsOf = (node) => range(graph.firstPort[node], graph.firstPort[node + 1]);
  if (end === "whole") return [0];
  if (path === "every") return range(0, counts[end]);
  const node = start === "node";
  switch (path) {
    case "": return [start === "port" && end === "node" ? graph.portNode[at] : at];
    case "far": {
      const ports = node ? portsOf(at) : [at];
      return ports.map((port) => (end === "node" ? graph.portFar : graph.opposite)[port]);
    }
    case "all": return portsOf(node ? at : graph.portNode[at]);
    case "far.all": return (node ? portsOf(at) : [at]).flatMap((port) => portsOf(graph.portFar[port]));
    case "next": {
      const next = node ? graph.firstPort[at] : at + 1;
      return next < graph.firstPort[(node ? at : graph.portNode[at]) + 1] ? [next] : [];
    }
  }
  throw new Error(`there is no path ${path}`);
}

/** The tables of a node program on a graph. */
function graphWires(schema, graph) {
  const places = placesOf(schema, graph), cellKind = [], cellBit = [];
  const cellPlace = []; // where each cell is: node, port or whole, and its number
  const wireStart = [0], wireBit = [];
  for (const [where, kind, bits, wires] of schema.cells) {
    for (let at = 0; at < places.counts[where]; at++) {
      cellKind.push(kind);
      cellPlace.push([where, at]);
      for (const bit of bits) cellBit.push(places.bit(bit, at));
      const ports = Array.from({ length: kindPorts[kind] }, () => new Set());
      for (const [port, target] of wires) {
        for (const bit of reachedFrom(schema, graph, places, where, target, at)) ports[port].add(bit);
      }
      for (const own of ports) {
        for (const bit of [...own].sort((one, other) => one - other)) wireBit.push(bit);
        wireStart.push(wireBit.length);
      }
    }
  }
  return {
    bits: places.bits, fields: places.fields, inputs: [], outputs: [], startBit: [], places, cellPlace,
    steps: schema.steps, ending: schema.ending, haltBit: schema.ending === "bit" ? places.bit(schema.halt, 0) : 0,
    cellKind: Uint16Array.from(cellKind), cellBit: Int32Array.from(cellBit),
    wireStart: Int32Array.from(wireStart), wireBit: Int32Array.from(wireBit),
  };
}
