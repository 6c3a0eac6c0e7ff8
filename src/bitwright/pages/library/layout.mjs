/* Positions of nodes, about 1 apart: grids as grids, rings as rings, other graphs by springs. */

import { range } from "./dom.mjs";

export function layoutOf({ name, nodes, edges, columns }) {
  if (["grid", "board", "torus"].includes(name)) return range(0, nodes).map((at) => [at % columns, Math.floor(at / columns)]);
  if (name === "path") {
    const across = Math.ceil(Math.sqrt(nodes * 1.6)); // to and fro
    return range(0, nodes).map((at) => [Math.floor(at / across) % 2 ? across - 1 - (at % across) : at % across, Math.floor(at / across)]);
  }
  const circle = (count) => range(0, count).map((at) => [at * ((2 * Math.PI) / count) - Math.PI / 2, count / 5]).map(([angle, radius]) => [radius * Math.cos(angle), radius * Math.sin(angle)]);
  if (name === "star") return [[0, 0], ...circle(nodes - 1)];
  return nodes < 3 || name === "ring" || name === "complete" ? circle(nodes) : springs(circle(nodes), edges);
}

/** Force-directed: neighbours attract, all nodes repel, with smaller moves in each round. */
function springs(start, edges) {
  const size = Math.sqrt(start.length), at = start.map(([x, y]) => [x * (size / start.length) * 4, y * (size / start.length) * 2.5]);
  const turns = at.length > 120 ? 60 : 260;
  for (let turn = 0; turn < turns; turn++) {
    const move = at.map(() => [0, 0]);
    const push = (one, other, force) => {
      const dx = at[one][0] - at[other][0] || 1e-4 * (one - other), dy = at[one][1] - at[other][1] || 1e-4;
      const far = Math.hypot(dx, dy), by = force(far) / far;
      move[one][0] += dx * by;
      move[one][1] += dy * by;
      move[other][0] -= dx * by;
      move[other][1] -= dy * by;
    };
    for (let one = 0; one < at.length; one++) for (let other = one + 1; other < at.length; other++) push(one, other, (far) => 1 / far);
    for (const [one, other] of edges) if (one !== other) push(one, other, (far) => -far * far);
    const heat = size * (0.1 * (1 - turn / turns) + 0.001);
    at.forEach((place, node) => {
      const far = Math.hypot(...move[node]) || 1, by = Math.min(far, heat) / far;
      for (const axis of [0, 1]) place[axis] += move[node][axis] * by - place[axis] * (axis ? 0.016 : 0.006); // wider than high
    });
  }
  return at;
}
