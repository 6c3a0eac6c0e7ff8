/* Where nodes are drawn, in a unit square: grids as grids, rings as rings, others by springs. */

function layoutOf({ name, nodes, edges, rows, columns }) {
  if (name === "grid" || name === "torus") {
    const across = Math.max(rows, columns, 2) - 1;
    return range(0, nodes).map((at) => [((at % columns) + (across - columns + 1) / 2) / across, (Math.floor(at / columns) + (across - rows + 1) / 2) / across]);
  }
  const round = range(0, nodes).map((at) => {
    const angle = (2 * Math.PI * at) / nodes - Math.PI / 2;
    return [0.5 + 0.5 * Math.cos(angle), 0.5 + 0.5 * Math.sin(angle)];
  });
  if (nodes < 3 || name === "ring" || name === "complete") return nodes === 1 ? [[0.5, 0.5]] : round;
  if (name === "star") return [[0.5, 0.5], ...range(0, nodes - 1).map((at) => {
    const angle = (2 * Math.PI * at) / (nodes - 1) - Math.PI / 2;
    return [0.5 + 0.5 * Math.cos(angle), 0.5 + 0.5 * Math.sin(angle)];
  })];
  if (name === "path") {
    const across = Math.ceil(Math.sqrt(nodes * 1.6));
    const down = Math.ceil(nodes / across);
    return range(0, nodes).map((at) => {
      const row = Math.floor(at / across);
      const column = row % 2 ? across - 1 - (at % across) : at % across;
      return [column / Math.max(1, across - 1), down === 1 ? 0.5 : row / (down - 1)];
    });
  }
  return springs(round, edges);
}

/** Neighbours attract, all others repel, a little less each time. */
function springs(start, edges) {
  const at = start.map(([x, y]) => [x, y]);
  const count = at.length;
  const near = 0.9 / Math.sqrt(count);
  const turns = count > 120 ? 60 : 260;
  for (let turn = 0; turn < turns; turn++) {
    const move = at.map(() => [0, 0]);
    const push = (one, other, force) => {
      const [dx, dy] = [at[one][0] - at[other][0] || 1e-4 * (one - other), at[one][1] - at[other][1] || 1e-4];
      const far = Math.hypot(dx, dy);
      const by = force(far) / far;
      move[one][0] += dx * by;
      move[one][1] += dy * by;
      move[other][0] -= dx * by;
      move[other][1] -= dy * by;
    };
    for (let one = 0; one < count; one++) for (let other = one + 1; other < count; other++) push(one, other, (far) => (near * near) / far);
    for (const [one, other] of edges) if (one !== other) push(one, other, (far) => (-far * far) / near);
    const heat = 0.1 * (1 - turn / turns) + 0.001;
    at.forEach((place, node) => {
      const [dx, dy] = move[node];
      const far = Math.hypot(dx, dy) || 1;
      const by = Math.min(far, heat) / far;
      place[0] += dx * by + (0.5 - place[0]) * 0.01;
      place[1] += dy * by + (0.5 - place[1]) * 0.01;
    });
  }
  const bounds = [0, 1].map((axis) => [Math.min(...at.map((place) => place[axis])), Math.max(...at.map((place) => place[axis]))]);
  return at.map((place) => place.map((value, axis) => (value - bounds[axis][0]) / (bounds[axis][1] - bounds[axis][0] || 1)));
}
