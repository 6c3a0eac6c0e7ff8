// The graph that a node program runs on: of a shape, or drawn by hand; with a pointer or with keys.

import { ask } from "./ask.js";
import { element, grouped, hear, make } from "./library/dom.mjs";
import { drawGraph, focusOn, place } from "./graph-draw.js";
import { items, placeKeys, renamed, textOf, valueAt, withValue } from "./library/values.mjs";
import { inputText, inputWords, setInput } from "./inputs.js";

const SIZES = { path: "6", ring: "8", star: "8", complete: "5", grid: "4x6", board: "4x6", torus: "6x6", random: "12,18" };
const NAME = /^[A-Za-z0-9_.]{1,20}$/;
let graph = null; // { shape, directed, nodes: [{ name, x, y }], edges: [[one, other]] }
let chosen = null, from = null, dragged = null, told = () => {}, asked = 0, most = { nodes: 2000, edges: 10000 };

export const graphState = () => graph && { shape: graph.shape, directed: graph.directed, nodes: graph.nodes.map(({ name, x, y }) => [name, round(x), round(y)]), edges: graph.edges };

const round = (number) => Math.round(1000 * number) / 1000;

export function graphSource() {
  if (!graph || graph.shape) return { shape: graph?.shape ?? "path:4" };
  return { nodes: graph.nodes.map(({ name }) => name), edges: graph.edges, directed: graph.directed };
}

export function setGraph({ shape = null, directed = false, nodes = [], edges = [] }) {
  graph = { shape, directed, nodes: nodes.map(([name, x, y]) => ({ name, x, y })), edges: edges.map(([one, other]) => [one, other]) };
  chosen = from = null;
  const [name, size] = (shape ?? ":").split(":");
  element("shape").value = name;
  element("shape-size").value = size;
  element("shape-size").disabled = !name;
  element("directed").checked = directed;
  if (shape && !nodes.length) layOut({ shape });
  else showGraph();
}

export function graphEditor(changed, limits) {
  told = changed;
  most = limits;
  hear("shape", "input", ({ target }) => {
    if (target.value) setGraph({ shape: `${target.value}:${SIZES[target.value]}` });
    else edited();
    told();
  });
  hear("shape-size", "change", ({ target }) => {
    const shape = `${element("shape").value}:${target.value.trim()}`;
    if (shape !== graph.shape) { setGraph({ shape }); told(); }
  });
  hear("directed", "input", ({ target }) => { graph.directed = target.checked; edited(); });
  hear("add-node", "click", () => addNode());
  hear("connect", "click", () => { from = from === null ? -1 : null; say(from === null ? "" : "choose two nodes to join or part"); showGraph(); });
  hear("remove", "click", remove);
  hear("tidy", "click", () => layOut(explicit()));
  hear("clear", "click", () => { for (const { name } of inputWords()) setInput(name, ""); setGraph({ nodes: [["a", 0, 0]] }); told(); });
  hear("use-edges", "click", useText);
  hear("graph-box", "keydown", (event) => { // Enter changes a field, and does not run
    if (event.key === "Enter" && event.target.matches("input") && !event.ctrlKey && !event.metaKey) { event.preventDefault(); event.target.dispatchEvent(new Event("change")); }
  });
  pointer();
  hear("graph", "keydown", keys);
}

const explicit = () => ({ nodes: graph.nodes.map(({ name }) => name), edges: graph.edges, directed: graph.directed });

// The server makes shapes, and finds places for nodes.

async function layOut(wanted) {
  const mine = ++asked;
  try {
    const found = (await ask("api/graph", { source: { kind: "nodes", graph: wanted } })).result;
    if (mine !== asked) return;
    graph.nodes = found.nodes.map((name, at) => ({ name, x: found.places[at][0], y: found.places[at][1] }));
    graph.edges = found.edges;
    say(found.nodes.length ? `${grouped(graph.nodes.length)} nodes, ${grouped(graph.edges.length)} edges` : `${grouped(found.count)} nodes are too many to be drawn here; it can be run`);
  } catch (error) {
    if (mine !== asked) return;
    graph.nodes = graph.edges = [];
    say(error.message);
  }
  keepNamed();
  showGraph();
}

// Inputs at nodes that are not there any longer go; the only one of its kind goes to the first node.

function keepNamed() {
  const names = graph.nodes.map(({ name }) => name), there = (key) => key === "*" || names.includes(key) || key.split("-").every((end) => names.includes(end));
  if (names.length) for (const word of inputWords().filter(({ place: own }) => own !== "whole")) {
    const text = inputText(word.name), found = items(text, names), left = new Map([...found].filter(([key]) => there(key)));
    if (left.size < found.size) setInput(word.name, textOf(left.size || !word.marks || word.place !== "node" ? left : new Map([[names[0], "1"]]), word));
  }
}

export function showGraph(keepFrame = false) {
  if (!graph) return;
  drawGraph(graph, { chosen, from, labels, keepFrame });
  element("connect").setAttribute("aria-pressed", String(from !== null));
  element("remove").disabled = chosen === null;
  for (const id of ["add-node", "connect", "tidy", "clear"]) element(id).disabled = graph.shape !== null && !graph.nodes.length && id !== "clear";
  if (document.activeElement !== element("edges")) element("edges").value = [...graph.edges.map((ends) => ends.map((end) => graph.nodes[end].name).join(" ")),
    ...graph.nodes.filter((_, at) => !graph.edges.some((ends) => ends.includes(at))).map(({ name }) => name)].join("\n");
  inspector();
}

function labels(where, at) {
  const words = inputWords().filter(({ place: own }) => own === where), names = graph.nodes.map(({ name }) => name);
  const found = words.map((word) => [word, valueAt(items(inputText(word.name), names), placeKeys(word, graph, at), word)]).filter(([word, value]) => value !== "" && !(word.marks && value === "0"));
  return { words: found.map(([word, value]) => (word.marks ? word.name : words.length > 1 ? `${word.name} ${value}` : value)).join(", "), on: found.some(([word]) => word.marks) };
}

// The fields of the node or the edge that is chosen.

function inspector() {
  const box = element("chosen");
  const where = chosen?.node === undefined ? "port" : "node", at = chosen?.node ?? chosen?.edge, of = `${where} ${at}`;
  if (box.contains(document.activeElement) && box.dataset.of === of) return; // somebody is typing there
  box.dataset.of = of;
  if (chosen === null) { box.replaceChildren(); return; }
  const title = where === "node" ? graph.nodes[at].name : graph.edges[at].map((end) => graph.nodes[end].name).join(graph.directed ? " → " : " – ");
  const fields = inputWords().filter(({ place: own }) => own === where).map((word) => {
    const value = valueAt(items(inputText(word.name), graph.nodes.map(({ name }) => name)), placeKeys(word, graph, at), word);
    const field = make("input", word.marks ? { type: "checkbox", checked: value !== "0" } : { value, inputMode: "numeric" });
    field.addEventListener("input", () => { put(word, at, word.marks ? (field.checked ? "1" : "0") : field.value.trim()); showGraph(true); });
    return word.marks ? make("label.tick", field, `${word.name} at ${title}`) : make("label", `${word.name} of ${title}`, field);
  });
  if (where === "node") {
    const name = make("input", { value: title, maxLength: 20, spellcheck: false });
    name.addEventListener("change", () => rename(at, name.value.trim()));
    fields.unshift(make("label", "Name", name));
  }
  box.replaceChildren(...fields);
}

function put(word, at, value) {
  let found = items(inputText(word.name), graph.nodes.map(({ name }) => name));
  if (word.one && value === "1") found = new Map();
  setInput(word.name, textOf(withValue(found, placeKeys(word, graph, at), value), word));
}

function forget(old, name = null) {
  for (const word of inputWords()) if (word.place !== "whole" && !["order", "name"].includes(inputText(word.name).trim())) setInput(word.name, textOf(renamed(items(inputText(word.name), []), old, name), word));
}

// Changes.

function edited(words = "") {
  asked++; // a layout that is still under way is of another graph
  graph.shape = null;
  element("shape").value = "";
  element("shape-size").value = "";
  element("shape-size").disabled = true;
  if (words) say(words);
  showGraph(true);
  told();
}

function addNode(at = null) {
  if (graph.nodes.length >= most.nodes) { say(`a graph has at most ${grouped(most.nodes)} nodes here`); return; }
  const names = new Set(graph.nodes.map(({ name }) => name)), near = graph.nodes[chosen?.node] ?? graph.nodes.at(-1);
  const name = [..."abcdefghijklmnopqrstuvwxyz"].find((letter) => !names.has(letter)) ?? Array.from({ length: names.size + 1 }, (_, number) => `n${number}`).find((one) => !names.has(one));
  const turn = 2.4 * graph.nodes.length;
  graph.nodes.push({ name, ...(at ?? (near ? { x: near.x + Math.cos(turn), y: near.y + Math.sin(turn) } : { x: 0, y: 0 })) });
  chosen = { node: graph.nodes.length - 1 };
  edited(`node ${name} added`);
  if (at === null) showGraph();
  focusOn(chosen);
}

function toggleEdge(one, other) {
  const same = ([a, b]) => (a === one && b === other) || (!graph.directed && a === other && b === one);
  const there = graph.edges.findIndex(same), ends = [one, other].map((end) => graph.nodes[end].name).join(" and ");
  if (there >= 0) graph.edges.splice(there, 1);
  else if (graph.edges.length < most.edges) graph.edges.push([one, other]);
  from = element("connect").getAttribute("aria-pressed") === "true" && from !== null ? -1 : null;
  chosen = { node: other };
  edited(`${ends} ${there >= 0 ? "are no longer joined" : "are joined"}`);
}

function remove() {
  if (chosen === null) return;
  if (chosen.edge !== undefined) {
    const ends = graph.edges.splice(chosen.edge, 1)[0].map((end) => graph.nodes[end].name).join(" and ");
    chosen = null;
    edited(`the edge between ${ends} is gone`);
    return;
  }
  const at = chosen.node, [{ name }] = graph.nodes.splice(at, 1);
  graph.edges = graph.edges.filter((ends) => !ends.includes(at)).map((ends) => ends.map((end) => end - (end > at)));
  chosen = graph.nodes.length ? { node: Math.max(0, at - 1) } : null;
  from = null;
  forget(name);
  edited(`node ${name} is gone`);
  focusOn(chosen);
}

function rename(at, name) {
  const old = graph.nodes[at].name;
  if (name === old) return;
  if (!NAME.test(name) || graph.nodes.some((node) => node.name === name)) { say(`a name has 1 to 20 letters, digits, _ and ., and no other node has it; got “${name.slice(0, 30)}”`); return; }
  graph.nodes[at].name = name;
  forget(old, name);
  edited(`${old} is called ${name} now`);
}

function useText() {
  const names = new Map(), edges = [];
  const number = (name) => names.get(name) ?? (names.set(name, names.size), names.size - 1);
  for (const line of element("edges").value.split("\n").map((one) => one.trim().split(/[\s,]+/)).filter(([first]) => first)) {
    if (line.length > 2 || !line.every((name) => NAME.test(name))) { say(`a line has one or two names of letters, digits, _ and ., got “${line.join(" ").slice(0, 40)}”`); return; }
    const ends = line.map(number);
    if (ends.length === 2) edges.push(ends);
  }
  if (!names.size) { say("write at least one node"); return; }
  graph = { ...graph, shape: null, nodes: [...names.keys()].map((name, at) => ({ name, x: at, y: 0 })), edges };
  chosen = from = null;
  edited();
  layOut(explicit());
}

const say = (words) => { element("graph-note").textContent = words; };

// With a pointer.

function pointer() {
  const sheet = element("graph"), hit = (event, what) => { const found = event.target.closest?.(`[data-${what}]`); return found ? Number(found.dataset[what]) : null; };
  sheet.addEventListener("pointerdown", (event) => {
    const node = hit(event, "node"), edge = hit(event, "edge");
    if (event.button !== 0 || (node === null && edge === null)) return;
    event.preventDefault();
    if (node === null) { chosen = { edge }; showGraph(true); focusOn(chosen); return; }
    if (from === -1) { from = node; chosen = { node }; say("choose the other node"); showGraph(true); return; }
    if (from !== null) { toggleEdge(from, node); return; }
    chosen = { node };
    dragged = { node, start: place(event), moved: false };
    sheet.setPointerCapture(event.pointerId);
    showGraph(true);
    focusOn(chosen);
  });
  sheet.addEventListener("pointermove", (event) => {
    if (!dragged) return;
    const at = place(event);
    if (!dragged.moved && Math.hypot(at.x - dragged.start.x, at.y - dragged.start.y) < 0.08) return;
    dragged.moved = true;
    Object.assign(graph.nodes[dragged.node], at);
    showGraph(true);
  });
  sheet.addEventListener("lostpointercapture", () => {
    if (dragged?.moved) showGraph();
    dragged = null;
  });
  sheet.addEventListener("dblclick", (event) => { if (hit(event, "node") === null && graph.nodes.length + (graph.shape === null) > 0) addNode(place(event)); });
}

// With keys.

const ARROWS = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };

function keys(event) {
  const focused = document.activeElement?.dataset, node = focused?.node === undefined ? null : Number(focused.node);
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  const does = { Delete: remove, Backspace: remove, n: () => addNode(), N: () => addNode(), Escape: () => { from = null; say(""); showGraph(true); } }[event.key];
  if (does) { event.preventDefault(); if (node !== null) chosen = { node }; does(); return; }
  if (node === null) return;
  if (event.key in ARROWS) {
    event.preventDefault();
    const [right, down] = ARROWS[event.key];
    if (event.shiftKey) { graph.nodes[node].x += right / 4; graph.nodes[node].y += down / 4; chosen = { node }; showGraph(); return; }
    chosen = { node: towards(node, right, down) };
    showGraph(true);
    focusOn(chosen);
  } else if (event.key.toLowerCase() === "e") {
    event.preventDefault();
    if (from !== null && from >= 0) toggleEdge(from, node);
    else { from = node; chosen = { node }; say(`from ${graph.nodes[node].name}: go to the other node and press E`); showGraph(true); }
  } else if (event.key === "Enter" || event.key === " ") {
    event.preventDefault();
    chosen = { node };
    const word = inputWords().find(({ place: own, marks }) => own === "node" && marks);
    if (word) put(word, node, labels("node", node).on ? "0" : "1");
    showGraph(true);
    if (!word) element("chosen").querySelector("input")?.focus();
  }
}

// The nearest node in a direction, sideways counting double.

function towards(at, right, down) {
  let best = at, least = Infinity;
  graph.nodes.forEach(({ x, y }, other) => {
    const dx = x - graph.nodes[at].x, dy = y - graph.nodes[at].y, along = dx * right + dy * down;
    const far = along + 2 * Math.abs(dx * down + dy * right);
    if (other !== at && along > 0.05 && far < least) { best = other; least = far; }
  });
  return best;
}
