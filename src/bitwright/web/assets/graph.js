// The graph that a node program runs on, given by a shape or a list of edges. Clicking a node sets the first input there.

import { ask } from "./ask.js";
import { oncePerFrame } from "./library/canvas.mjs";
import { element, grouped, hear, plural } from "./library/dom.mjs";
import { GraphDrawing } from "./library/graph.mjs";
import { palette, tone } from "./library/theme.mjs";
import { items, toggled, valueAt } from "./library/values.mjs";
import { inputText, inputWords, setInput } from "./inputs.js";

const SIZES = { path: "6", ring: "8", star: "8", complete: "5", grid: "4x6", board: "4x6", torus: "6x6", random: "12,18" };
const NAME = /^[A-Za-z0-9_.]{1,20}$/;
export const drawing = new GraphDrawing(element("graph"));
let nodes = [], timer = 0, requests = 0;

const shape = () => element("shape").value && `${element("shape").value}:${element("shape-size").value.trim()}`;
const marked = () => inputWords().find(({ place, marks }) => place === "node" && marks);

export const graphState = () => ({ shape: shape(), directed: element("directed").checked, edges: shape() ? "" : element("edges").value });

export function setGraph({ shape: wanted = "", directed = false, edges = "" }) {
  [element("shape").value, element("shape-size").value] = wanted.split(":").concat("");
  element("shape-size").disabled = !wanted;
  element("directed").checked = directed;
  element("edges").value = edges;
  layOut();
}

/** The graph in the form of a request; throws an Error for an invalid list of edges. */
export function graphSource() {
  if (shape()) return { shape: shape() };
  const names = new Map(), edges = [], number = (name) => names.get(name) ?? (names.set(name, names.size), names.size - 1);
  for (const line of element("edges").value.split("\n").map((one) => one.trim().split(/[\s,]+/)).filter(([first]) => first)) {
    if (line.length > 2 || !line.every((name) => NAME.test(name))) throw new Error(`a line must have one or two names made of letters, digits, _ and ., got “${line.join(" ").slice(0, 40)}”`);
    const ends = line.map(number);
    if (ends.length === 2) edges.push(ends);
  }
  return { nodes: [...names.keys()], edges, directed: element("directed").checked };
}

export function graphEditor(changed) {
  const own = () => { // takes the list of edges instead of a shape
    [element("shape").value, element("shape-size").value] = ["", ""];
    element("shape-size").disabled = true;
    clearTimeout(timer);
    timer = setTimeout(layOut, 250);
    changed();
  };
  const shaped = (size) => { setGraph({ shape: `${element("shape").value}:${size}` }); changed(); };
  hear("shape", "input", ({ target }) => (target.value ? shaped(SIZES[target.value]) : own()));
  hear("shape-size", "change", ({ target }) => shaped(target.value.trim()));
  hear("directed", "input", own);
  hear("edges", "input", own);
  hear("graph", "click", (event) => {
    const node = drawing.nodeAt(event), word = marked();
    if (node >= 0 && word) setInput(word.name, toggled(inputText(word.name), nodes, nodes[node], word));
  });
  new ResizeObserver(showGraph).observe(element("graph-field"));
}

// The server makes shapes and lays out nodes.
async function layOut() {
  const mine = ++requests;
  let graph = { nodes: [], edges: [], places: [] }, note = "";
  try {
    graph = (await ask("api/graph", { source: { kind: "nodes", graph: graphSource() } })).result;
    note = graph.nodes.length ? `${plural(graph.nodes.length, "node")}, ${plural(graph.edges.length, "edge")}` : `${grouped(graph.count)} nodes are too many to draw here, but the program can run on them`;
  } catch (error) { note = error.message; }
  if (mine !== requests) return;
  element("graph-note").textContent = note;
  nodes = graph.nodes;
  const joined = new Set(graph.edges.flat()), [from, to] = [0, 1].map((end) => graph.edges.map((ends) => ends[end]));
  if (shape()) element("edges").value = [...graph.edges.map((ends) => ends.map((end) => nodes[end]).join(" ")), ...nodes.filter((_, at) => !joined.has(at))].join("\n");
  element("directed").disabled = !nodes.length;
  element("graph-field").hidden = !nodes.length;
  if (nodes.length) drawing.use({ ...graph, x: graph.places.map(([x]) => x), y: graph.places.map(([, y]) => y), from, to });
  keepNamed();
  showGraph();
}

// Clears inputs at nodes or edges that no longer exist; a flag moves to the first node.
function keepNamed() {
  const exists = (key) => key === "*" || nodes.includes(key) || key.split("-").every((end) => nodes.includes(end));
  if (nodes.length) for (const { name, place } of inputWords()) {
    if (place !== "whole" && ![...items(inputText(name), nodes).keys()].every(exists)) setInput(name, name === marked()?.name ? nodes[0] : "");
  }
}

export const showGraph = oncePerFrame(() => {
  if (!nodes.length || !element("graph-field").clientWidth) return;
  drawing.resize(element("graph-field").clientWidth, 280);
  drawing.begin();
  if (!drawing.grid) drawing.lines(drawing.from.keys(), palette.edge, 1.5);
  const words = inputWords().filter(({ place }) => place === "node"), given = words.map(({ name }) => items(inputText(name), nodes));
  nodes.forEach((name, node) => {
    const values = words.map((word, at) => valueAt(given[at], [name], word)), number = words.findIndex(({ marks }) => !marks);
    const isOn = words.some(({ marks }, at) => marks && values[at] !== "0"), hue = isOn ? tone(0) : drawing.grid ? palette.well : palette.paper;
    drawing.node(node, hue, number < 0 ? { text: name.length < 5 ? name : "", name: name.length < 5 ? "" : name } : { text: values[number], name });
  });
});
