// The program: a shipped one or a text, which is checked while it changes.

import { ask } from "./ask.js";
import { element, grouped, hear, make, plural, sentence } from "./library/dom.mjs";
import { editor, mark, read, write } from "./editor.js";
import { graphSource, graphState, setGraph, showGraph } from "./graph.js";
import { inputValues, inputs, noInputs, showInputs } from "./inputs.js";

const DEFAULTS = { addition: { p: "719", q: "483" }, multiplication: { multiplicand: "719", multiplier: "483" }, permutation: { p: "10110" } };
const TEXTS = ["rules", "nodes", "sbn", "subleq assembly", "subleq image"];
const FIELDS = ["bits", "order", "machine", "language", "words", "word-width", "dialect"];
const SETTINGS = ["engine", "rounding", "networks", "seed", "width", "max-steps", "max-instructions"];
const texts = {}, chosen = {}, values = {}, consoles = {}; // by kind and language; values by name too
let examples = [], limits = {}, shown = "addition", timer = 0, checking = null, again = false, about = null, described = () => {}, changed = () => {};

export const kind = () => document.querySelector("input[name=kind]:checked").value;
const slot = (which = kind()) => (which === "subleq" ? `${which} ${element("language").value}` : which);
const isText = (which) => TEXTS.includes(slot(which));

export function program(known, onDescription, onChange) {
  limits = known.limits;
  examples = known.examples.map((example) => ({ inputs: {}, console: "", ...example, name: example.file.split("/").at(-1) }));
  described = onDescription;
  changed = onChange;
  inputs(() => { if (shown === "nodes") showGraph(); });
  editor(() => { texts[slot()] = read(); chosen[slot()] = ""; element("example").value = ""; soon(); });
  for (const which of TEXTS) {
    texts[which] = "";
    const first = examples.find((example) => slotOf(example) === which);
    if (first) choose(which, first.name);
  }
  texts["subleq image"] = "# prints a letter and halts: M[6] goes to the port at -1\n6 -1 3\n7 7 -1\n65 0\n";
  for (const radio of document.querySelectorAll("input[name=kind]")) radio.addEventListener("change", show);
  hear("example", "change", (event) => {
    if (event.target.value) { choose(slot(), event.target.value); useGraph(); show(); }
  });
  hear("language", "change", show);
  hear("console-in", "input", (event) => { consoles[slot()] = event.target.value; });
  for (const id of [...FIELDS, "counter"]) if (id !== "language") element(id).addEventListener("input", () => soon());
  show();
}

const slotOf = ({ kind: which }) => (which === "subleq" ? "subleq assembly" : which);

function choose(which, name) {
  const example = examples.find((candidate) => candidate.name === name);
  texts[which] = example.text;
  chosen[which] = name;
  values[which] = { ...example.inputs };
  consoles[which] = example.console;
}

function useGraph() {
  if (kind() !== "nodes") return;
  const example = examples.find(({ name }) => name === chosen.nodes);
  setGraph({ shape: example?.graph ?? "path:4" });
}

function show() {
  shown = kind();
  for (const part of document.querySelectorAll("[data-for]")) part.hidden = !part.dataset.for.split(" ").includes(shown);
  for (const part of document.querySelectorAll("[data-not]")) part.hidden = part.dataset.not.split(" ").includes(shown);
  if (isText(shown)) {
    const own = make("option", { value: "", textContent: "your own text" });
    const offered = examples.filter((example) => slotOf(example) === slot());
    element("example").replaceChildren(own, ...offered.map(({ name, title }) => make("option", { value: name, textContent: title })));
    element("example").value = chosen[slot()] ?? "";
    write(texts[slot()], slot());
  } else mark([]);
  element("console-in").value = consoles[slot()] ?? "";
  element("shape-box").open = slot() === "subleq image";
  about = null;
  element("verdict").textContent = "";
  noInputs();
  changed();
  described();
  if (shown === "nodes" && !graphState().shape && !graphState().edges) useGraph();
  now();
}

// Why this page cannot run or train the program with that engine; null if it can, or if that is unknown yet.
export function refused(engine, rounding, tile = 1) {
  const cells = engine === "network" && tile !== "all";
  const most = { network: limits.network }[engine], examples = about?.examples[cells ? "cells" : rounding];
  return examples > most ? `the engine ${engine} takes at most ${grouped(most)} examples here; ${cells ? "the cells of this program have" : "this program has"} ${grouped(examples)}` : null;
}

export function source() {
  const which = kind();
  if (which === "permutation") return { kind: which, order: element("order").value.split(",").map((part, _, all) => integer(part, "each position in the order", 1, all.length)) };
  const name = (chosen[slot()] || "program").replace(/\..*/, ""), text = isText(which) ? read() : "";
  if (which === "rules") return { kind: which, text, name };
  if (which === "sbn") return { kind: which, text, name, machine: element("machine").value };
  if (which === "nodes") return { kind: which, text, name, graph: graphSource() };
  if (which === "subleq") {
    return { kind: which, text, name, language: element("language").value, words: number("words", "the number of words", 3, 2 ** 24),
      width: number("word-width", "the number of bits per word", 2, 64), dialect: element("dialect").value || null };
  }
  const bits = integer(element("bits").value, "the number of bits", 1, limits.bits);
  return which === "addition" ? { kind: which, bits, counter: element("counter").checked } : { kind: which, bits };
}

export const given = () => ({ source: source(), inputs: inputValues(kind()), ...(kind() === "subleq" ? { console: element("console-in").value } : {}) });

/** The integer in a field; null if it is empty. */
export const number = (id, what, least, most) => (element(id).value.trim() ? integer(element(id).value, what, least, most) : null);

function integer(text, what, least, most) {
  const number = Number(text.trim() || NaN);
  if (!Number.isSafeInteger(number) || number < least || number > most)
    throw new Error(`${what} must be an integer between ${grouped(least)} and ${grouped(most)}, got “${text.trim().slice(0, 30)}”`);
  return number;
}

// Checks the program a moment after the last key; one text at a time, since the worker does one job after the other.
export function soon() {
  changed();
  document.documentElement.dataset.checked = "";
  clearTimeout(timer);
  timer = setTimeout(now, 250);
}

function now() {
  document.documentElement.dataset.checked = "";
  clearTimeout(timer);
  timer = 0;
  again = true;
  checking ??= check().finally(() => { checking = null; });
}

// Resolves when the program has been checked, so that its inputs are known.
export function settled() {
  if (timer) now();
  return checking;
}

async function check() {
  while (again) {
    again = false;
    let answer = null, failure = "";
    try { answer = (await ask("api/check", { source: source() })).result; } catch (error) { failure = error.message; }
    if (!again) take(answer, failure);
  }
}

function take(answer, failure) {
  about = answer?.about ?? null;
  described();
  mark(answer && isText(shown) ? answer.problems : [], answer?.count);
  if (about) {
    showInputs(slot(), about.inputs, values[slot()] ??= { ...DEFAULTS[shown] });
    if (shown === "nodes") showGraph();
    say(summary(about));
  } else if (answer && isText(shown)) {
    noInputs("Inputs appear once the text has no problems.");
    say(plural(answer.count, "problem"), true);
  } else {
    noInputs();
    say(failure || answer.problems[0].message, true);
  }
}

function say(text, wrong = false) {
  element("verdict").textContent = sentence(text);
  element("verdict").classList.toggle("wrong", wrong);
  document.documentElement.dataset.checked = wrong ? "wrong" : "right";
}

function summary({ bits, blocks, templates, steps, machine, notes }) {
  const sizes = [[templates, "template"], [bits, "bit"], [blocks, "block"]];
  const counted = sizes.map(([count, what]) => plural(count, what)).join(", ");
  return [`No problems: ${counted}${steps === null ? "" : `, at most ${plural(steps, "step")}`}${machine ? `; ${machine}` : ""}`, ...notes].join(". Note: ");
}

/** What was typed, for a reload or the next visit. */
export const entries = () => ({
  kind: kind(), text: isText(kind()) ? read() : "", inputs: { ...values[slot()] }, console: element("console-in").value,
  graph: kind() === "nodes" ? graphState() : null, counter: element("counter").checked, fields: Object.fromEntries([...FIELDS, ...SETTINGS].map((id) => [id, element(id).value])),
});

export function restore(kept) {
  document.querySelector(`input[name=kind][value="${kept.kind}"]`).checked = true;
  for (const [id, value] of Object.entries(kept.fields)) element(id).value = value;
  if (isText(kept.kind)) {
    texts[slot()] = kept.text;
    chosen[slot()] = examples.find((example) => slotOf(example) === slot() && example.text === kept.text)?.name ?? "";
  }
  values[slot()] = { ...kept.inputs };
  consoles[slot()] = kept.console;
  element("counter").checked = kept.counter;
  if (kept.graph) setGraph(kept.graph);
  show();
}
