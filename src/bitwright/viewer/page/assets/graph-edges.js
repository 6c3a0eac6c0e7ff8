// Edges on paper: lines, bows where several join the same nodes, circles for loops; and arrows.

const edges = { from: null, to: null, ports: null }; // of each edge: its nodes, and the ports at its ends

function prepareEdges() {
  edges.from = new Int32Array(facts.edges);
  edges.to = new Int32Array(facts.edges);
  edges.ports = new Int32Array(2 * facts.edges).fill(-1);
  arrays.port_edge.forEach((edge, port) => {
    if (edges.ports[2 * edge] < 0) {
      edges.from[edge] = arrays.port_node[port];
      edges.to[edge] = arrays.port_far[port];
      edges.ports[2 * edge] = port;
    } else edges.ports[2 * edge + 1] = port;
  });
}

// The point in the middle by which a bow goes; null for a straight line.

function bow(edge) {
  const bend = arrays.bend[edge];
  if (!bend) return null;
  const low = Math.min(edges.from[edge], edges.to[edge]), high = Math.max(edges.from[edge], edges.to[edge]);
  const dx = placeX(high) - placeX(low), dy = placeY(high) - placeY(low), length = Math.hypot(dx, dy) || 1;
  const aside = bend * Math.min(34, 0.5 * length);
  return { x: (placeX(low) + placeX(high)) / 2 - (dy / length) * aside, y: (placeY(low) + placeY(high)) / 2 + (dx / length) * aside };
}

function trace(edge) {
  const a = edges.from[edge], b = edges.to[edge];
  if (a === b) {
    const r = loopRadius(edge);
    paint.moveTo(placeX(a) + r, placeY(a) - size.radius - r * 0.6);
    paint.arc(placeX(a), placeY(a) - size.radius - r * 0.6, r, 0, 2 * Math.PI);
    return;
  }
  if (facts.grid && torn(a, b)) { traceTorn(a, b); traceTorn(b, a); return; }
  paint.moveTo(placeX(a), placeY(a));
  const middle = bow(edge);
  if (middle) paint.quadraticCurveTo(middle.x, middle.y, placeX(b), placeY(b));
  else paint.lineTo(placeX(b), placeY(b));
}

const loopRadius = (edge) => Math.max(4, size.radius * 0.75) * (1 + 0.5 * arrays.bend[edge]);

// On a torus an edge over the border of the paper: half of it at either end.

const torn = (a, b) => Math.abs(arrays.x[a] - arrays.x[b]) > 1.5 || Math.abs(arrays.y[a] - arrays.y[b]) > 1.5;
const around = (d) => (Math.abs(d) > 1.5 ? -Math.sign(d) : d);

function traceTorn(a, b) {
  paint.moveTo(placeX(a), placeY(a));
  paint.lineTo(placeX(a) + 0.5 * around(arrays.x[b] - arrays.x[a]) * view.scale, placeY(a) + 0.5 * around(arrays.y[b] - arrays.y[a]) * view.scale);
}

// A point of an edge, and the direction there, as seen from one of its nodes; `way` is 0 at that node and 1 at the other.

function along(edge, back, way) {
  const a = back ? edges.to[edge] : edges.from[edge], b = back ? edges.from[edge] : edges.to[edge];
  if (a === b) {
    const r = loopRadius(edge);
    return { x: placeX(a) + (back ? -r : r), y: placeY(a) - size.radius - r * 0.6, dx: 0, dy: back ? 1 : -1 };
  }
  let bx = placeX(b), by = placeY(b);
  const ax = placeX(a), ay = placeY(a);
  if (facts.grid && torn(a, b)) {
    bx = ax + around(arrays.x[b] - arrays.x[a]) * view.scale;
    by = ay + around(arrays.y[b] - arrays.y[a]) * view.scale;
  }
  const m = bow(edge) || { x: (ax + bx) / 2, y: (ay + by) / 2 }, u = 1 - way;
  const dx = u * (m.x - ax) + way * (bx - m.x), dy = u * (m.y - ay) + way * (by - m.y), length = Math.hypot(dx, dy) || 1;
  return { x: u * u * ax + 2 * u * way * m.x + way * way * bx, y: u * u * ay + 2 * u * way * m.y + way * way * by, dx: dx / length, dy: dy / length };
}

function arrow({ x, y, dx, dy }, length) {
  const wide = length * 0.55;
  paint.beginPath();
  paint.moveTo(x, y);
  paint.lineTo(x - dx * length - dy * wide, y - dy * length + dx * wide);
  paint.lineTo(x - dx * length + dy * wide, y - dy * length - dx * wide);
  paint.fill();
}

// Where a directed edge meets the circle of its node.

function tipOf(edge) {
  const a = edges.from[edge], b = edges.to[edge];
  if (a === b) return along(edge, false, 0);
  const length = Math.hypot(placeX(b) - placeX(a), placeY(b) - placeY(a)) || 1;
  const end = along(edge, false, Math.max(0.5, 1 - (size.radius + 1) / length));
  return end;
}

function drawEdges() {
  paint.lineWidth = facts.edges > 3000 ? 0.6 : 1.1;
  paint.strokeStyle = paint.fillStyle = palette.soft;
  paint.globalAlpha = facts.edges > 3000 ? 0.35 : facts.edges > 400 ? 0.5 : 0.7;
  paint.beginPath();
  for (let edge = 0; edge < facts.edges; edge++) trace(edge);
  paint.stroke();
  if (facts.directed && size.radius >= 3) for (let edge = 0; edge < facts.edges; edge++) arrow(tipOf(edge), Math.max(5, Math.min(9, size.radius * 0.7)));
  paint.globalAlpha = 1;
}

// Edges with the chosen bit at one of their ends; an arrow leads away from the node whose port has it.

function drawMarks() {
  const mark = marking();
  if (!mark) return;
  paint.strokeStyle = paint.fillStyle = palette.fields[1];
  paint.lineWidth = Math.max(1.6, Math.min(3.2, size.radius * 0.3));
  const arrows = [];
  paint.beginPath();
  for (let edge = 0; edge < facts.edges; edge++) {
    const [here, there] = [0, 1].map((end) => edges.ports[2 * edge + end] >= 0 && Boolean(valueOf(mark, edges.ports[2 * edge + end], now.step)));
    if (!here && !there) continue;
    trace(edge);
    if (here !== there) arrows.push([edge, there]);
  }
  paint.stroke();
  const long = Math.max(5, Math.min(11, size.radius * 0.8));
  if (facts.directed || size.radius >= 3.5) for (const [edge, back] of arrows) {
    if (facts.directed) { arrow(tipOf(edge), long); continue; }
    const end = along(edge, back, 0.5);
    arrow({ ...end, x: end.x + (end.dx * long) / 2, y: end.y + (end.dy * long) / 2 }, long);
  }
}
