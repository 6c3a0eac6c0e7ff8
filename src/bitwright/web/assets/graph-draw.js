// A graph as a drawing: nodes that can be chosen and dragged, edges, and the values that inputs give them.

import { element, shortened } from "./library/dom.mjs";
import { draw } from "./plot.js";

const UNIT = 60, RADIUS = 17, MARGIN = 34;
const sheet = element("graph");

// `labels` says of a node or an edge what is written there, and whether it is on.

export function drawGraph(graph, { chosen, from, labels, keepFrame }) {
  const focused = sheet.contains(document.activeElement);
  if (!keepFrame) frame(graph);
  const names = graph.nodes.length <= 120, point = (node) => [node.x * UNIT, node.y * UNIT];
  const notes = draw("g", { "aria-hidden": "true" });
  const lines = graph.edges.map(([one, other], at) => {
    const ends = [graph.nodes[one], graph.nodes[other]].map((node) => node.name).join(graph.directed ? " to " : " and ");
    const { words } = labels("port", at);
    const path = one === other ? loop(point(graph.nodes[one])) : straight(point(graph.nodes[one]), point(graph.nodes[other]), graph.directed);
    const made = draw("g", { class: `edge${chosen?.edge === at ? " chosen" : ""}`, "data-edge": at, role: "button", tabindex: -1, "aria-label": `edge between ${ends}${words ? `, ${words}` : ""}` },
      draw("path", { d: path.line, class: "hit" }), draw("path", { d: path.line, class: "line", ...(graph.directed ? { "marker-end": "url(#arrow)" } : {}) }));
    if (words && names) notes.append(draw("text", { x: path.middle[0].toFixed(1), y: (path.middle[1] - 5).toFixed(1), class: "value" }, shortened(words, 14)));
    return made;
  });
  const dots = graph.nodes.map((node, at) => {
    const [x, y] = point(node), { words, on } = labels("node", at);
    const around = graph.edges.filter((ends) => ends.includes(at)).length;
    const made = draw("g", {
      class: `node${chosen?.node === at ? " chosen" : ""}${from === at ? " from" : ""}${on ? " on" : ""}`, "data-node": at, role: "button", "aria-pressed": String(chosen?.node === at),
      tabindex: at === (chosen?.node ?? 0) ? 0 : -1, transform: `translate(${x.toFixed(1)} ${y.toFixed(1)})`, "aria-label": `node ${node.name}, ${around} edge${around === 1 ? "" : "s"}${words ? `, ${words}` : ""}`,
    }, draw("circle", { r: RADIUS }));
    if (names) made.append(draw("text", { dy: 4, class: "name" }, shortened(node.name, 5)));
    if (words && names && !on) made.append(draw("text", { dy: RADIUS + 12, class: "value" }, shortened(words, 14)));
    return made;
  });
  sheet.replaceChildren(arrow(), draw("g", {}, ...lines), draw("g", {}, ...dots), notes);
  if (focused) focusOn(chosen);
}

export const focusOn = (chosen) => sheet.querySelector(chosen?.edge === undefined ? `[data-node="${chosen?.node ?? 0}"]` : `[data-edge="${chosen.edge}"]`)?.focus({ preventScroll: true });

// Where a pointer is, in the units of nodes.

export function place(event) {
  const { x, y } = new DOMPoint(event.clientX, event.clientY).matrixTransform(sheet.getScreenCTM().inverse());
  return { x: x / UNIT, y: y / UNIT };
}

function frame({ nodes }) {
  const xs = nodes.map(({ x }) => x * UNIT), ys = nodes.map(({ y }) => y * UNIT);
  const left = Math.min(0, ...xs) - MARGIN, top = Math.min(0, ...ys) - MARGIN;
  const width = Math.max(3 * UNIT, ...xs) + MARGIN - left, height = Math.max(1.5 * UNIT, ...ys) + MARGIN - top;
  sheet.setAttribute("viewBox", [left, top, width, height].map((part) => part.toFixed(1)).join(" "));
}

function straight([x1, y1], [x2, y2], directed) {
  const length = Math.hypot(x2 - x1, y2 - y1) || 1, cut = directed ? RADIUS + 7 : 0;
  const to = [x2 - (x2 - x1) / length * cut, y2 - (y2 - y1) / length * cut];
  return { line: `M${x1.toFixed(1)} ${y1.toFixed(1)}L${to.map((part) => part.toFixed(1)).join(" ")}`, middle: [(x1 + x2) / 2, (y1 + y2) / 2] };
}

const loop = ([x, y]) => ({ line: `M${x} ${y}c-30 -46 30 -46 0 0`, middle: [x, y - 30] });

const arrow = () => draw("defs", {}, draw("marker", { id: "arrow", viewBox: "0 0 8 8", refX: 4, refY: 4, markerWidth: 7, markerHeight: 7, orient: "auto-start-reverse" }, draw("path", { d: "M0 0L8 4L0 8z", class: "tip" })));
