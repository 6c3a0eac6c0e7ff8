// Which program: a shipped one or a text, checked while it changes, and fields for its inputs.

import { ask, element, make, sentence, whole } from "./ask.js";
import { editor, mark, read, write } from "./editor.js";

const DEFAULTS = { addition: { p: "719", q: "483" }, multiplication: { multiplicand: "719", multiplier: "483" }, permutation: { p: "10110" } };
const texts = { rules: "", sbn: "" }, chosen = { rules: "", sbn: "" };
const values = {}; // what was typed, by kind and name
let examples = [], limits = {}, shown = "addition", asking = null, timer = 0, checking = Promise.resolve(), about = null, described = () => {};

export const kind = () => document.querySelector("input[name=kind]:checked").value;
export const isText = (which) => which === "rules" || which === "sbn";

export function program(known, kept, told) {
  ({ examples, limits } = known);
  described = told;
  editor(() => { texts[kind()] = read(); chosen[kind()] = ""; element("example").value = ""; soon(); });
  for (const which of ["rules", "sbn"]) choose(which, examples.find((example) => example.kind === which).name);
  recall(kept);
  for (const radio of document.querySelectorAll("input[name=kind]")) radio.addEventListener("change", show);
  element("example").addEventListener("change", (event) => {
    if (event.target.value) { choose(kind(), event.target.value); show(); }
  });
  for (const id of ["bits", "order", "counter", "machine"]) element(id).addEventListener("input", () => soon());
  show();
}

function choose(which, name) {
  const example = examples.find((candidate) => candidate.name === name);
  texts[which] = example.text;
  chosen[which] = name;
  values[which] = { ...example.inputs };
}

function show() {
  shown = kind();
  for (const part of document.querySelectorAll("[data-for]")) part.hidden = !part.dataset.for.split(" ").includes(shown);
  if (isText(shown)) {
    const own = make("option", { value: "", textContent: "your own" });
    const offered = examples.filter((example) => example.kind === shown);
    element("example").replaceChildren(own, ...offered.map(({ name, title }) => make("option", { value: name, textContent: title })));
    element("example").value = chosen[shown];
    write(texts[shown]);
  } else mark([]);
  about = null;
  element("verdict").textContent = "";
  element("inputs-box").hidden = true;
  element("inputs").replaceChildren();
  delete element("inputs").dataset.names;
  described();
  now();
}

// Why this server does not run the program with that engine, as far as is known.

export const refused = (engine, rounding) => about?.engines[engine]?.[rounding] ?? null;

// What the server is asked about.

export function source() {
  const which = kind();
  if (which === "permutation") return { kind: which, order: element("order").value.split(",").map((part, _, all) => wholeNumber(part, "each place of the order", 1, all.length)) };
  const name = (chosen[which] || "program").replace(/\..*/, "");
  if (which === "rules") return { kind: which, text: read(), name };
  if (which === "sbn") return { kind: which, text: read(), name, machine: element("machine").value };
  const bits = wholeNumber(element("bits").value, "the number of bits", 1, limits.bits);
  return which === "addition" ? { kind: which, bits, counter: element("counter").checked } : { kind: which, bits };
}

export function wholeNumber(text, what, least, most) {
  const number = Number(text.trim() || NaN);
  if (!Number.isSafeInteger(number) || number < least || number > most)
    throw new Error(`${what} must be a whole number between ${whole(least)} and ${whole(most)}, got “${text.trim().slice(0, 30)}”`);
  return number;
}

// Checking, a moment after the last key.

function soon() {
  clearTimeout(timer);
  timer = setTimeout(now, 250);
}

function now() {
  clearTimeout(timer);
  timer = 0;
  checking = check();
}

// When what is on the page has been checked, so that its inputs are there.

export function settled() {
  if (timer) now();
  return checking;
}

async function check() {
  asking?.abort();
  const mine = asking = new AbortController();
  try {
    const answer = await ask("POST", "/api/check", { source: source() }, { signal: mine.signal });
    if (mine !== asking) return;
    about = answer.about;
    described();
    if (isText(shown)) mark(answer.problems, answer.count);
    else mark([]);
    if (answer.ok) { say(summary(about)); inputs(); }
    else if (isText(shown)) say(`${whole(answer.count)} problem${answer.count === 1 ? "" : "s"}`, true);
    else say(answer.problems[0].message, true);
  } catch (error) {
    if (error.name === "AbortError" || mine !== asking) return;
    mark([]);
    say(error.message, true);
  }
}

function say(text, wrong = false) {
  element("verdict").textContent = sentence(text);
  element("verdict").classList.toggle("wrong", wrong);
  document.documentElement.dataset.checked = wrong ? "wrong" : "right";
}

function summary({ bits, blocks, templates, steps, machine }) {
  const sizes = [[templates, "template"], [bits, "bit"], [blocks, "block"]];
  const counted = sizes.map(([count, what]) => `${whole(count)} ${what}${count === 1 ? "" : "s"}`).join(", ");
  return `No problems: ${counted}${steps === null ? "" : `, at most ${whole(steps)} step${steps === 1 ? "" : "s"}`}${machine ? `; ${machine}` : ""}`;
}

// Inputs: one field for each, which keeps what was typed.

function inputs() {
  const known = values[shown] ??= { ...DEFAULTS[shown] };
  element("inputs-box").hidden = about.inputs.length === 0;
  const names = about.inputs.map(({ name, bits }) => `${name} ${bits}`).join();
  if (element("inputs").dataset.names === `${shown} ${names}`) return;
  element("inputs").dataset.names = `${shown} ${names}`;
  element("inputs").replaceChildren(...about.inputs.map(({ name, bits, signed }) => {
    const string = shown === "permutation";
    const field = make("input", { value: known[name] ?? "0", name, inputMode: signed ? "text" : "numeric", spellcheck: false });
    field.addEventListener("input", () => { known[name] = field.value; });
    known[name] = field.value;
    const hint = string ? `${bits} bits, such as 101` : range(bits, signed);
    return make("label", { className: string || bits > 40 ? "wide" : "" }, make("span", {}, make("code", { textContent: name }), make("small", { textContent: ` ${hint}` })), field);
  }));
}

function range(bits, signed) {
  if (bits > 24) return `${whole(bits)} bits`;
  return signed ? `${-(2 ** (bits - 1))} to ${2 ** (bits - 1) - 1}` : `0 to ${whole(2 ** bits - 1)}`;
}

export function inputValues() {
  const given = {};
  for (const field of document.querySelectorAll("#inputs input")) {
    if (kind() === "permutation" && !/^[01]+$/.test(field.value.trim())) throw new Error(`${field.name} must be written in 0s and 1s, such as 10110`);
    given[field.name] = kind() === "permutation" ? `0b${field.value.trim()}` : field.value;
  }
  return given;
}

// What a reload finds again.

export const keep = () => ({ kind: kind(), texts, chosen, values, bits: element("bits").value, order: element("order").value, machine: element("machine").value });

function recall(kept) {
  if (!kept) return;
  for (const which of ["rules", "sbn"]) {
    if (typeof kept.texts?.[which] === "string" && kept.texts[which]) {
      texts[which] = kept.texts[which];
      chosen[which] = examples.find((example) => example.text === texts[which])?.name ?? "";
    }
  }
  Object.assign(values, kept.values);
  for (const id of ["bits", "order", "machine"]) if (kept[id]) element(id).value = kept[id];
  const radio = document.querySelector(`input[name=kind][value="${CSS.escape(kept.kind ?? "")}"]`);
  if (radio) radio.checked = true;
}
