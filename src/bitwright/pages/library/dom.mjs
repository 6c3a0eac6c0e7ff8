/* DOM helpers and number formatting. */

export const element = (id) => document.getElementById(id);
export const hear = (id, kind, action) => element(id).addEventListener(kind, action);

/** Calls `action` when a form is submitted, instead of sending it. */
export const submitted = (id, action) => hear(id, "submit", (event) => { event.preventDefault(); action(); });

/** `make("p.soft", { title }, ...children)`; the properties may be omitted. Names that are not DOM properties become attributes. */
export function make(tag, properties = {}, ...children) {
  const [name, ...classes] = tag.split("."), made = document.createElement(name);
  if (classes.length) made.className = classes.join(" ");
  if (Object(properties) !== properties || properties instanceof Node) children.unshift(properties);
  else for (const [key, value] of Object.entries(properties)) {
    if (key in made && key !== "list") made[key] = value;
    else made.setAttribute(key, value);
  }
  made.append(...children);
  return made;
}

/** The children of a <dl>, from rows of a term and its description. */
export const terms = (rows) => rows.flatMap(([term, ...description]) => [make("dt", term), make("dd", ...description)]);

/** A table row with a heading. */
export const row = (heading, ...cells) => make("tr", make("th", { scope: "row" }, heading), ...cells.map((cell) => (cell instanceof Node ? cell : make("td", cell))));
export const headRow = (...names) => make("tr", ...names.map((name) => make("th", { scope: "col" }, name)));

/** Shows a message, or hides it if the text is empty. */
export function notice(text = "", id = "notice") {
  element(id).textContent = text;
  element(id).hidden = !text;
}

export const sentence = (text) => text && text[0].toUpperCase() + text.slice(1);
export const range = (from, to) => Array.from({ length: Math.max(0, to - from) }, (_, at) => from + at);

/** A number such as 12,345. Beyond the safe integers, digits are lost, so only the magnitude is shown. */
export function grouped(given) {
  const number = Number(given);
  if (number <= Number.MAX_SAFE_INTEGER) return number.toLocaleString("en-US");
  return Number.isFinite(number) ? `about 10^${Math.floor(Math.log10(number))}` : "more than 10^308";
}

export const plural = (count, one, many = `${one}s`) => `${grouped(count)} ${count === 1 ? one : many}`;

/** A real number with a few digits. */
export function short(number) {
  if (!Number.isFinite(number)) return number > 0 ? "∞" : "–";
  if (Number.isInteger(number)) return grouped(number).replace("-", "−");
  const size = Math.abs(number);
  return (size < 1e-3 || size >= 1e6 ? number.toExponential(1) : number.toFixed(size < 0.1 ? 4 : 3)).replaceAll("-", "−");
}

/** The smallest of 1, 2, 5, 10, 20, ... that is at least `least`, for the ticks of an axis. */
export function niceStep(least) {
  const power = 10 ** Math.floor(Math.log10(Math.max(least, 1)));
  return [1, 2, 5, 10].map((factor) => factor * power).find((step) => step >= least);
}

export const shortened = (text, most) => (text.length > most ? `${text.slice(0, most - 1)}…` : text);

/** Bytes from base64. */
export const decoded = (text) => Uint8Array.from(atob(text), (sign) => sign.charCodeAt(0));
