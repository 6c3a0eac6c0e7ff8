// The picture: nodes with their colours, names and values, and edges.

const field = element("field"), canvas = element("graph"), drawing = new GraphDrawing(canvas), { view } = drawing;
let edgePorts = null, everyEdge = []; // the ports at the two ends of each edge

function prepareDrawing() {
  const from = new Int32Array(facts.edges), to = new Int32Array(facts.edges);
  edgePorts = new Int32Array(2 * facts.edges).fill(-1);
  everyEdge = Array.from(from.keys());
  arrays.port_edge.forEach((edge, port) => {
    if (edgePorts[2 * edge] < 0) {
      from[edge] = arrays.port_node[port];
      to[edge] = arrays.port_far[port];
      edgePorts[2 * edge] = port;
    } else edgePorts[2 * edge + 1] = port;
  });
  drawing.use({ x: arrays.x, y: arrays.y, from, to, bend: arrays.bend, directed: facts.directed, grid: facts.grid, spacing: facts.spacing });
}

const measure = () => drawing.resize(field.clientWidth, field.clientHeight);

function shareOf(choice, value) {
  const [low, high] = choice.range || [0, 1];
  return high > low ? (Number(value) - low) / (high - low) : 0.5;
}

const empty = () => (facts.grid ? palette.well : palette.paper);

function hueOf(choice, value) {
  if (!choice) return empty();
  if (value === null) return palette.line;
  if (choice.sort === "number") return mixed(facts.scale, shareOf(choice, value));
  if (!value) return empty();
  return choice.sort === "set" ? facts.sets[choice.occurring.filter((set) => set).indexOf(value)] : tone(0);
}

function draw() {
  drawing.begin();
  const many = facts.edges > 3000;
  if (!facts.grid) drawing.lines(everyEdge, palette.soft, many ? 0.6 : 1.1, many ? 0.35 : facts.edges > 400 ? 0.5 : 0.7);
  else drawNodes();
  drawMarks();
  if (!facts.grid) drawNodes();
  for (const [name, nodes] of facts.given) drawing.given(name, nodes);
  for (const node of live?.wrongNodes() ?? []) drawing.ring(node, palette.wrong, 3);
  drawFocus();
}

// Highlights edges with the chosen bit at one of their ends; an arrow starts at the node whose port has it.
function drawMarks() {
  const mark = marking();
  if (!mark) return;
  const has = (edge, end) => edgePorts[2 * edge + end] >= 0 && Boolean(valueOf(mark, edgePorts[2 * edge + end], now.step));
  const strong = everyEdge.filter((edge) => has(edge, 0) || has(edge, 1));
  drawing.lines(strong, tone(1), Math.max(1.6, Math.min(3.2, drawing.radius * 0.3)));
  if (facts.directed || drawing.radius < 3.5) return;
  for (const edge of strong) if (has(edge, 0) !== has(edge, 1)) drawing.middleArrow(edge, has(edge, 1), Math.max(5, Math.min(11, drawing.radius * 0.8)));
}

function drawNodes() {
  const choice = colouring(), values = choice && choice.sort === "number", { radius } = drawing;
  const named = !facts.grid && facts.spacing * view.scale >= 20, aside = facts.grid && marking() ? radius * 0.5 : 0;
  for (let node = 0; node < facts.nodes; node++) {
    const value = choice ? shadeOf(choice, node, now.step) : 0, name = facts.names[node], fits = name.length <= 3 && radius >= 8;
    const text = values ? (value !== null && radius >= (facts.grid ? 11 : 7) ? String(value) : "") : named && fits ? name : "";
    drawing.node(node, hueOf(choice, value), { text, name: named && (values || !fits) ? name : "", aside });
  }
}

// Rings the chosen node and the node under the pointer, and names one of them.
function drawFocus() {
  for (const node of new Set([now.node, now.hover ?? -1]))
    if (node >= 0) drawing.ring(node, node === now.node ? palette.accent : palette.text, node === now.node ? 3 : 1.5);
  const node = now.hover ?? now.node;
  if (node < 0) return;
  if (facts.spacing * view.scale < 20 || facts.grid) drawing.label(facts.names[node], drawing.x(node), drawing.y(node) - drawing.radius - 10, true);
}
