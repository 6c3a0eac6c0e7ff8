/* Graphs that have a name, as `bitwright run --graph` has them; random ones by a generator of this page. */

const SHAPES = {
  path: (n) => range(1, n).map((at) => [at - 1, at]),
  ring: (n) => (n > 2 ? range(0, n).map((at) => [at, (at + 1) % n]) : SHAPES.path(n)),
  star: (n) => range(1, n).map((at) => [0, at]),
  complete: (n) => range(0, n).flatMap((one) => range(one + 1, n).map((other) => [one, other])),
  grid: (rows, columns) => nearEdges(rows, columns, false, false),
  board: (rows, columns) => nearEdges(rows, columns, false, true),
  torus: (rows, columns) => nearEdges(rows, columns, true, true),
  random: (nodes, edges, seed) => randomEdges(nodes, edges, seed),
};

/** Up to four neighbours at each node, or eight with diagonals; a round board has no border. */
function nearEdges(rows, columns, isRound, hasDiagonals) {
  const found = [];
  for (const [down, right] of hasDiagonals ? [[0, 1], [1, 0], [1, 1], [1, -1]] : [[0, 1], [1, 0]]) {
    for (let row = 0; row < rows; row++) {
      for (let column = 0; column < columns; column++) {
        if (!isRound && (row + down >= rows || column + right >= columns || column + right < 0)) continue;
        const to = ((row + down) % rows) * columns + ((column + right + columns) % columns);
        found.push([row * columns + column, to]);
      }
    }
  }
  return found;
}

/** A connected graph: a random tree, and more edges while there are some to add. */
function randomEdges(nodes, edges, seed) {
  let state = seed * 2654435761 + 12345;
  const below = (most) => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return Math.floor((state / 2 ** 32) * most);
  };
  const found = range(1, nodes).map((node) => [below(node), node]);
  const known = new Set(found.map(([one, other]) => `${one} ${other}`));
  const most = Math.min(edges, (nodes * (nodes - 1)) / 2);
  while (found.length < most) {
    const [one, other] = [below(nodes), below(nodes)].sort((a, b) => a - b);
    if (one === other || known.has(`${one} ${other}`)) continue;
    known.add(`${one} ${other}`);
    found.push([one, other]);
  }
  return found;
}

/** `torus:20x30` as nodes, edges and how the shape is laid out; a RangeError says what is wrong. */
function shapeOf(text) {
  const match = /^([a-z]+):(\d+)(?:[x,](\d+))?(?:,(\d+))?$/.exec(text.trim());
  if (!match || !SHAPES[match[1]]) throw new RangeError(`A shape is given as ${Object.keys(SHAPES).join(", ")} with a size, such as ring:12 or grid:4x6.`);
  const [, name, first, second, third] = match, flat = ["grid", "board", "torus"].includes(name);
  if ((flat || name === "random") !== (second !== undefined) || Number(first) < 1 || (flat && Number(second) < 1)) {
    throw new RangeError(`Give it as ${flat ? `${name}:4x6` : name === "random" ? "random:NODES,EDGES" : `${name}:12`}.`);
  }
  const nodes = flat ? first * second : Number(first);
  if (nodes > 1e6 || (name === "random" && second > 1e6)) throw new RangeError("That is more nodes or edges than this page takes.");
  if (name === "complete" && nodes > 300) throw new RangeError("A complete graph may have 300 nodes here.");
  const edges = SHAPES[name](Number(first), Number(second), Number(third ?? 0));
  return { name, nodes, edges, columns: flat ? Number(second) : nodes };
}
