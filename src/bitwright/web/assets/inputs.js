// Input fields, which keep what was typed. On graphs a field holds text as on the command line: a,b or a:3,b:5.

import { element, grouped, make } from "./library/dom.mjs";

let words = [], changed = () => {};

export const inputWords = () => words;

export function inputs(onChange) { changed = onChange; }

// While a text has problems its inputs are unknown, and inputs of another program must not remain.
export function noInputs(why = "") {
  words = [];
  element("inputs").replaceChildren();
  delete element("inputs").dataset.names;
  element("inputs-note").hidden = !why;
  element("inputs-note").textContent = why;
  element("inputs-box").hidden = !why;
}

export function showInputs(kind, found, known) {
  words = found;
  element("inputs-note").hidden = true;
  element("inputs-box").hidden = found.length === 0;
  const names = `${kind} ${found.map(({ name, bits }) => `${name} ${bits}`).join()}`;
  if (element("inputs").dataset.names === names) return;
  element("inputs").dataset.names = names;
  element("inputs").replaceChildren(...found.map((word) => {
    const { name, bits, signed, place } = word;
    const field = make("input", { value: fitting(kind, word, known[name]), name, inputMode: signed || place ? "text" : "numeric", spellcheck: false });
    field.addEventListener("input", () => { known[name] = field.value; changed(); });
    known[name] = field.value;
    const wide = kind === "permutation" || place || bits > 40;
    return make("label", { className: wide ? "wide" : "" }, make("span", make("code", name), make("small", ` ${hint(kind, word)}`)), field);
  }));
}

// The earlier text if it fits this input, otherwise the default.
function fitting(kind, word, text) {
  const { bits, signed, place } = word;
  if (text === undefined || place !== undefined) return text ?? usual(word);
  if (kind === "permutation") return text.slice(0, bits).padEnd(bits, "0");
  let number = null;
  try { number = BigInt(text.trim()); } catch { return usual(word); }
  const [low, high] = signed ? [-(2n ** BigInt(bits - 1)), 2n ** BigInt(bits - 1)] : [0n, 2n ** BigInt(bits)];
  return number >= low && number < high ? text : usual(word);
}

const usual = ({ place, unique, marks, least }) => (!place ? "0" : place === "whole" ? least : unique ? "order" : marks ? "" : `*:${least}`);

function hint(kind, { bits, signed, place, marks, unique, one, least, most }) {
  if (kind === "permutation") return `${bits} bits, such as 101`;
  if (place === undefined) return range(bits, signed);
  if (one) return "one node";
  if (marks) return place === "port" ? "edges that have it, such as a-b,b-c" : "nodes that have it, such as a,b";
  if (place === "whole") return `${least} to ${most}`;
  return `${least} to ${most} at each ${place === "port" ? "edge, such as *:1 or a-b:3" : unique ? "node, all different, such as order" : "node, such as *:1 or a:3,b:5"}`;
}

function range(bits, signed) {
  if (bits > 24) return `${grouped(bits)} bits`;
  return signed ? `${-(2 ** (bits - 1))} to ${2 ** (bits - 1) - 1}` : `0 to ${grouped(2 ** bits - 1)}`;
}

const field = (name) => [...document.querySelectorAll("#inputs input")].find((one) => one.name === name);

export const inputText = (name) => field(name)?.value ?? "";

export function setInput(name, text) {
  const found = field(name);
  if (!found || found.value === text) return;
  found.value = text;
  found.dispatchEvent(new Event("input"));
}

export function inputValues(kind) {
  const given = {};
  for (const { name, value } of document.querySelectorAll("#inputs input")) {
    if (kind === "permutation" && !/^[01]+$/.test(value.trim())) throw new Error(`${name} must be written in 0s and 1s, such as 10110`);
    given[name] = kind === "permutation" ? `0b${value.trim()}` : value;
  }
  return given;
}
