// The text of a program: line numbers, and every problem at its line.

import { element, make, whole } from "./ask.js";

const text = element("text"), gutter = element("gutter"), marks = element("marks"), list = element("problems");
const LINE = 20, TAB = 4, SHOWN = 100;
let problems = [];

export function editor(changed) {
  text.addEventListener("input", () => { number(); mark([]); changed(); });
  text.addEventListener("scroll", follow);
  number();
}

export const read = () => text.value;

export function write(value) {
  text.value = value;
  text.scrollTop = text.scrollLeft = 0;
  mark([]);
  number();
}

// At the line: a mark in the margin, and the message behind the text. Below: all of them, as a list to choose from.

export function mark(found, count = found.length) {
  problems = found;
  const lines = text.value.split("\n"), first = new Map();
  for (const problem of problems) if (problem.line && !first.has(problem.line)) first.set(problem.line, problem);
  marks.replaceChildren(...[...first.values()].slice(0, SHOWN).map((problem) => {
    const band = make("div", { className: "mark" });
    const words = make("span", { textContent: problem.message });
    words.style.left = `${columns(lines[problem.line - 1] ?? "") + 2}ch`;
    band.style.top = `${(problem.line - 1) * LINE}px`;
    band.append(words);
    return band;
  }));
  list.replaceChildren(...problems.slice(0, SHOWN).map((problem) => {
    const where = problem.line ? `${problem.line}:${problem.column}` : "";
    const button = make("button", { type: "button" }, make("code", { textContent: where }), ` ${problem.message}`);
    button.addEventListener("click", () => go(problem));
    return make("li", {}, button);
  }));
  if (count > SHOWN) list.append(make("li", { textContent: `and ${whole(count - SHOWN)} more` }));
  number();
}

function number() {
  const count = text.value.split("\n").length, wrong = new Set(problems.map((problem) => problem.line));
  const pieces = [];
  let plain = "";
  for (let line = 1; line <= count; line++) {
    if (wrong.has(line)) {
      pieces.push(plain, make("b", { textContent: line }));
      plain = "\n";
    } else plain += `${line}\n`;
  }
  gutter.replaceChildren(make("pre", {}, ...pieces, plain));
  follow();
}

function go(problem) {
  if (!problem.line) return;
  const lines = text.value.split("\n");
  const start = lines.slice(0, problem.line - 1).reduce((sum, line) => sum + line.length + 1, 0);
  const at = start + Math.min(problem.column - 1, (lines[problem.line - 1] ?? "").length);
  text.focus();
  text.setSelectionRange(at, at);
  text.scrollTop = Math.max(0, (problem.line - 4) * LINE);
}

function follow() {
  gutter.firstChild?.style.setProperty("transform", `translateY(${-text.scrollTop}px)`);
  marks.style.transform = `translate(${-text.scrollLeft}px, ${-text.scrollTop}px)`;
}

function columns(line) {
  let width = 0;
  for (const sign of line) width = sign === "\t" ? (Math.floor(width / TAB) + 1) * TAB : width + 1;
  return width;
}
