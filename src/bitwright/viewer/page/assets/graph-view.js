// The picture: nodes in their colours, their names and values, and the bits of ports around one node.

const field = element("field"), canvas = element("graph"), paint = canvas.getContext("2d");
const size = { width: 0, height: 0, radius: 8 };
const view = { scale: 1, x: 0, y: 0, zoomed: false }; // from the plane of the layout to pixels
const box = { left: 0, right: 1, top: 0, bottom: 1 };

const placeX = (node) => arrays.x[node] * view.scale + view.x;
const placeY = (node) => arrays.y[node] * view.scale + view.y;

function preparePlaces() {
  const least = (values) => values.reduce((a, b) => Math.min(a, b)), most = (values) => values.reduce((a, b) => Math.max(a, b));
  const half = facts.grid ? 0.5 : 0;
  Object.assign(box, { left: least(arrays.x) - half, right: most(arrays.x) + half, top: least(arrays.y) - half, bottom: most(arrays.y) + half });
}

function fit() {
  const margin = facts.grid ? 10 : 34, wide = box.right - box.left, high = box.bottom - box.top;
  const most = facts.grid ? 60 : 110;
  view.scale = Math.max(0.05, Math.min(most, (size.width - 2 * margin) / (wide || 1e-9), (size.height - 2 * margin) / (high || 1e-9)));
  view.x = size.width / 2 - ((box.left + box.right) / 2) * view.scale;
  view.y = size.height / 2 - ((box.top + box.bottom) / 2) * view.scale;
  view.zoomed = false;
  canvas.style.touchAction = "pan-x pan-y";
  scaled();
}

function scaled() {
  size.radius = facts.grid ? view.scale / 2 : Math.max(1.6, Math.min(17, facts.spacing * view.scale * 0.36));
}

function measure() {
  size.width = field.clientWidth;
  size.height = field.clientHeight;
  if (!view.zoomed) fit();
}

function zoom(by, x = size.width / 2, y = size.height / 2) {
  const scale = Math.max(0.2, Math.min(400, view.scale * by)), ratio = scale / view.scale;
  view.x = x - (x - view.x) * ratio;
  view.y = y - (y - view.y) * ratio;
  view.scale = scale;
  view.zoomed = true;
  canvas.style.touchAction = "none";
  scaled();
  redraw();
}

// Colours.

function mixed(share) {
  const place = Math.min(Math.max(share, 0), 1) * (facts.scale.length - 1), low = Math.min(Math.floor(place), facts.scale.length - 2);
  const parts = (colour) => [1, 3, 5].map((at) => parseInt(colour.slice(at, at + 2), 16));
  const one = parts(facts.scale[low]), other = parts(facts.scale[low + 1]);
  return `#${one.map((part, i) => Math.round(part + (other[i] - part) * (place - low)).toString(16).padStart(2, "0")).join("")}`;
}

function shareOf(choice, value) {
  const [low, high] = choice.range || [0, 1];
  return high > low ? (Number(value) - low) / (high - low) : 0.5;
}

const empty = () => (facts.grid ? palette.well : palette.paper);

function hueOf(choice, value) {
  if (!choice) return empty();
  if (value === null) return palette.line;
  if (choice.sort === "number") return mixed(shareOf(choice, value));
  if (!value) return empty();
  return choice.sort === "set" ? facts.sets[choice.occurring.filter((set) => set).indexOf(value)] : palette.fields[0];
}

function inkOn(colour) {
  const [red, green, blue] = [1, 3, 5].map((at) => parseInt(colour.slice(at, at + 2), 16));
  return 0.299 * red + 0.587 * green + 0.114 * blue > 140 ? "#111111" : "#ffffff";
}

// One drawing.

function draw() {
  sharp(canvas, paint, size.width, size.height);
  paint.fillStyle = palette.paper;
  paint.fillRect(0, 0, size.width, size.height);
  if (!facts.grid) { drawEdges(); drawMarks(); drawNodes(); }
  else { drawCells(); drawMarks(); }
  drawGiven();
  drawFocus();
}

const MOST_NAMED = 8;

/** A ring around the nodes that were given a flag, such as the source of a search, and its name where there are few. */
function drawGiven() {
  for (const [name, nodes] of facts.given) for (const node of nodes) {
    const x = placeX(node), y = placeY(node);
    if (!visible(x, y)) continue;
    outline(node, palette.text, 2.5);
    if (nodes.length <= MOST_NAMED && size.radius >= 7) label(name, x, y - size.radius - 11, true);
  }
}

const visible = (x, y) => x > -40 && y > -40 && x < size.width + 40 && y < size.height + 40;

function drawCells() {
  const choice = colouring(), gap = view.scale >= 7 ? 1 : 0;
  const texts = choice && choice.sort === "number" && view.scale >= 22, aside = marking() ? size.radius * 0.5 : 0;
  for (let node = 0; node < facts.nodes; node++) {
    const x = placeX(node), y = placeY(node);
    if (!visible(x, y)) continue;
    const value = choice ? shadeOf(choice, node, now.step) : 0, hue = hueOf(choice, value);
    const left = Math.round(x - size.radius), top = Math.round(y - size.radius);
    paint.fillStyle = hue;
    paint.fillRect(left, top, Math.round(x + size.radius) - left - gap, Math.round(y + size.radius) - top - gap);
    if (texts && value !== null) inside(String(value), x - aside, y - aside, hue);
  }
}

function drawNodes() {
  const choice = colouring(), values = choice && choice.sort === "number";
  const named = facts.spacing * view.scale >= 20;
  const line = size.radius >= 4 ? 1.2 : 0.5;
  for (let node = 0; node < facts.nodes; node++) {
    const x = placeX(node), y = placeY(node);
    if (!visible(x, y)) continue;
    const value = choice ? shadeOf(choice, node, now.step) : 0, hue = hueOf(choice, value);
    paint.beginPath();
    paint.arc(x, y, size.radius, 0, 2 * Math.PI);
    paint.fillStyle = hue;
    paint.fill();
    paint.strokeStyle = palette.soft;
    paint.lineWidth = line;
    paint.stroke();
    const name = facts.names[node], short = name.length <= 3;
    if (values && value !== null && size.radius >= 7) inside(String(value), x, y, hue);
    else if (!values && named && short && size.radius >= 8) inside(name, x, y, hue);
    if (named && (values || !short || size.radius < 8)) label(name.length > 12 ? `${name.slice(0, 11)}…` : name, x, y + size.radius + 8);
  }
}

function inside(text, x, y, hue) {
  const letters = Math.min(13, Math.max(8, size.radius * 0.95), (size.radius * 3.1) / text.length);
  if (letters < 6.5) return;
  paint.font = `600 ${letters}px system-ui, sans-serif`;
  paint.textAlign = "center";
  paint.textBaseline = "middle";
  paint.fillStyle = hue.length === 7 ? inkOn(hue) : palette.text;
  paint.fillText(text, x, y + 0.5);
}

function label(text, x, y, strong) {
  paint.font = `${strong ? "600 12px" : "10.5px"} system-ui, sans-serif`;
  paint.textAlign = "center";
  paint.textBaseline = "middle";
  paint.lineJoin = "round";
  paint.strokeStyle = palette.paper;
  paint.lineWidth = 3;
  paint.strokeText(text, x, y);
  paint.fillStyle = strong ? palette.text : palette.soft;
  paint.fillText(text, x, y);
}

// The node in question: a ring, its name, and what is on at the ends of its edges.

const MOST_ENDS = 16;

function drawFocus() {
  for (const node of new Set([now.node, now.hover])) if (node >= 0) ring(node);
  const node = now.hover >= 0 ? now.hover : now.node;
  if (node < 0) return;
  const x = placeX(node), y = placeY(node), ports = portsOf(node);
  if (ports.length <= MOST_ENDS && (!facts.grid || view.scale >= 48)) for (const port of ports) {
    const edge = arrays.port_edge[port], other = arrays.opposite ? arrays.opposite[port] : -1;
    const back = edges.ports[2 * edge] !== port;
    const both = other >= 0 && ports.length <= 4; // of many edges only the ends here
    ends(edge, back, namesOn("port", port, now.step), both ? 0.28 : 0.42);
    if (both) ends(edge, !back, namesOn("port", other, now.step), 0.28);
  }
  if (facts.spacing * view.scale < 20 || facts.grid) label(facts.names[node], x, y - size.radius - 10, true);
}

function ring(node) {
  outline(node, node === now.node ? palette.accent : palette.text, node === now.node ? 3 : 1.5);
}

function outline(node, colour, wide) {
  paint.beginPath();
  if (facts.grid) paint.rect(placeX(node) - size.radius, placeY(node) - size.radius, 2 * size.radius, 2 * size.radius);
  else paint.arc(placeX(node), placeY(node), size.radius + 3, 0, 2 * Math.PI);
  paint.strokeStyle = colour;
  paint.lineWidth = wide;
  paint.stroke();
}

function ends(edge, back, names, most) {
  if (!names.length) return;
  const a = back ? edges.to[edge] : edges.from[edge], b = back ? edges.from[edge] : edges.to[edge];
  const length = Math.hypot(placeX(b) - placeX(a), placeY(b) - placeY(a)) || 1;
  const { x, y } = along(edge, back, Math.min(most, (size.radius + 26) / length));
  const text = names.length > 3 ? `${names.slice(0, 3).join(" ")} +${names.length - 3}` : names.join(" ");
  paint.font = "600 10.5px ui-monospace, SFMono-Regular, Menlo, Consolas, monospace";
  paint.textAlign = "center";
  paint.textBaseline = "middle";
  const half = paint.measureText(text).width / 2 + 4;
  paint.fillStyle = palette.text;
  paint.globalAlpha = 0.9;
  paint.beginPath();
  paint.roundRect(x - half, y - 8, 2 * half, 16, 5);
  paint.fill();
  paint.globalAlpha = 1;
  paint.fillStyle = palette.paper;
  paint.fillText(text, x, y + 0.5);
}

// Which node is under the pointer.

function nodeAt(event) {
  const frame = canvas.getBoundingClientRect(), x = event.clientX - frame.left, y = event.clientY - frame.top;
  const reach = facts.grid ? size.radius : Math.max(size.radius + 3, event.pointerType === "touch" ? 16 : 7);
  let best = -1, least = Infinity;
  for (let node = 0; node < facts.nodes; node++) {
    const dx = Math.abs(placeX(node) - x), dy = Math.abs(placeY(node) - y), far = facts.grid ? Math.max(dx, dy) : Math.hypot(dx, dy);
    if (far <= reach && far < least) { best = node; least = far; }
  }
  return best;
}
