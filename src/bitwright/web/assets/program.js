// Which program: a shipped one or a text, checked while it changes.

import { ask } from "./ask.js";
import { element, grouped, hear, make, plural, sentence } from "./library/dom.mjs";
import { editor, mark, read, write } from "./editor.js";
import { graphSource, graphState, setGraph, showGraph } from "./graph.js";
import { inputValues, inputs, noInputs, showInputs } from "./inputs.js";

const DEFAULTS = { addition: { p: "719", q: "483" }, multiplication: { multiplicand: "719", multiplier: "483" }, permutation: { p: "10110" } };
const LANGUAGES = {
  sbn: { assembly: "assembly" },
  subleq: { assembly: "assembly", image: "image" },
};
const TEXTS = ["rules", "nodes", ...Object.keys(LANGUAGES).flatMap((kind) => Object.keys(LANGUAGES[kind]).map((language) => `${kind} ${language}`))];
const FIELDS = ["bits", "order", "machine", "words", "word-width", "dialect"];
const texts = {}, chosen = {}, values = {}, consoles = {}; // by kind and language; values by name too
const languages = { sbn: "assembly", subleq: "assembly" };
let examples = [], limits = {}, shown = "addition", timer = 0, checking = null, again = false, about = null, described = () => {}, changed = () => {};

export const kind = () => document.querySelector("input[name=kind]:checked").value;
const slot = (which = kind()) => (which in LANGUAGES ? `${which} ${languages[which]}` : which);
export const isText = (which) => TEXTS.includes(slot(which));

export function program(known, told, altered) {
  limits = known.limits;
  examples = known.examples.map((one) => ({ inputs: {}, console: "", ...one, name: one.file.split("/").at(-1), language: "assembly" }));
  described = told;
  changed = altered;
  inputs(() => { if (shown === "nodes") showGraph(); });
  editor(() => { texts[slot()] = read(); chosen[slot()] = ""; element("example").value = ""; soon(); });
  for (const which of TEXTS) {
    texts[which] = "";
    const first = examples.find((example) => slotOf(example) === which);
    if (first) choose(which, first.name);
  }
  texts["subleq image"] = "# prints a word, and halts: M[6] goes to the port at -1\n6 -1 3\n7 7 -1\n65 0\n";
  for (const radio of document.querySelectorAll("input[name=kind]")) radio.addEventListener("change", show);
  hear("example", "change", (event) => {
    if (event.target.value) { choose(slot(), event.target.value); useGraph(); show(); }
  });
  hear("language", "change", (event) => { languages[kind()] = event.target.value; show(); });
  hear("console-in", "input", (event) => { consoles[slot()] = event.target.value; });
  for (const id of [...FIELDS, "counter"]) element(id).addEventListener("input", () => soon());
  show();
}

const slotOf = ({ kind: which, language }) => (which in LANGUAGES ? `${which} ${language}` : which);

function choose(which, name) {
  const example = examples.find((candidate) => candidate.name === name);
  texts[which] = example.text;
  chosen[which] = name;
  values[which] = { ...example.inputs };
  consoles[which] = example.console;
}

// An example of a node program brings its graph along.

function useGraph() {
  if (kind() !== "nodes") return;
  const example = examples.find(({ name }) => name === chosen.nodes);
  setGraph({ shape: example?.graph ?? "path:4" });
}

export function show() {
  shown = kind();
  for (const part of document.querySelectorAll("[data-for]")) part.hidden = !part.dataset.for.split(" ").includes(shown);
  for (const part of document.querySelectorAll("[data-not]")) part.hidden = part.dataset.not.split(" ").includes(shown);
  if (shown in LANGUAGES) {
    element("language").replaceChildren(...Object.entries(LANGUAGES[shown]).map(([value, textContent]) => make("option", { value, textContent })));
    element("language").value = languages[shown];
  }
  if (isText(shown)) {
    const own = make("option", { value: "", textContent: "your own" });
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

// Why the program is not run or trained with that engine here; null if it is, or if that is not known yet.

export function refused(engine, rounding, tile = 1) {
  const cells = engine === "network" && rounding === "calibrated" && tile !== "all";
  const most = { kernel: limits.kernel, network: limits.network }[engine], examples = about?.examples[cells ? "cells" : rounding];
  return examples > most ? `the engine ${engine} takes at most ${grouped(most)} examples here, ${cells ? "the cells of this program have" : "this program has"} ${grouped(examples)}` : null;
}

// The program as the server reads it.

export function source() {
  const which = kind();
  if (which === "permutation") return { kind: which, order: element("order").value.split(",").map((part, _, all) => integer(part, "each place of the order", 1, all.length)) };
  const name = (chosen[slot()] || "program").replace(/\..*/, ""), text = isText(which) ? read() : "";
  if (which === "rules") return { kind: which, text, name };
  if (which === "sbn") return { kind: which, text, name, machine: element("machine").value };
  if (which === "nodes") return { kind: which, text, name, graph: graphSource() };
  if (which === "subleq") {
    return { kind: which, text, name, language: languages.subleq, words: number("words", "the number of words", 3, 2 ** 24),
      width: number("word-width", "the bits of a word", 2, 64), dialect: element("dialect").value || null };
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

// Checking, a moment after the last key; one text at a time, since the worker does one job after the other.

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
    noInputs("They are known once the text has no problems.");
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

// What a reload finds again.

export const shared = () => ({
  kind: kind(), language: languages[kind()] ?? "", text: isText(kind()) ? read() : "", inputs: { ...values[slot()] },
  console: element("console-in").value, graph: kind() === "nodes" ? graphState() : null, counter: element("counter").checked, ...Object.fromEntries(FIELDS.map((id) => [id, element(id).value])),
});

export function load(link) {
  document.querySelector(`input[name=kind][value="${link.kind}"]`).checked = true;
  if (link.kind in LANGUAGES) languages[link.kind] = link.language;
  if (isText(link.kind)) {
    texts[slot()] = link.text;
    chosen[slot()] = examples.find((example) => slotOf(example) === slot() && example.text === link.text)?.name ?? "";
  }
  values[slot()] = { ...link.inputs };
  consoles[slot()] = link.console;
  for (const id of FIELDS) element(id).value = link[id];
  element("counter").checked = link.counter;
  if (link.graph) setGraph(link.graph);
  show();
}
