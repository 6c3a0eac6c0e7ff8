/* Light and dark themes. Canvases take their colours from the style sheet. */

import { element } from "./dom.mjs";

const NAMES = ["paper", "well", "line", "text", "soft", "off", "edge", "accent", "wrong", "wrong-well", "now", "chosen"];
export const palette = { tones: [] };
export const tone = (number) => palette.tones[number % palette.tones.length];

function readPalette() {
  const style = getComputedStyle(document.documentElement), read = (name) => style.getPropertyValue(`--${name}`).trim();
  for (const name of NAMES) palette[name] = read(name);
  palette.tones = Array.from({ length: 7 }, (_, at) => read(`tone-${at}`));
}

/** Follows the system theme until the button is used; prints are light. `changed` redraws the page. Returns a function that switches the theme. */
export function followTheme(changed) {
  const system = matchMedia("(prefers-color-scheme: dark)");
  const given = document.documentElement.dataset.theme; // set by the page around a frame
  let own = given ? given === "dark" : null, printing = false;
  const apply = () => {
    const dark = !printing && (own ?? system.matches);
    element("dark").media = own === null && !printing ? "screen and (prefers-color-scheme: dark)" : dark ? "all" : "not all";
    document.documentElement.dataset.theme = dark ? "dark" : "light";
    readPalette();
    changed();
  };
  const toggle = () => { own = !(own ?? system.matches); apply(); };
  system.addEventListener("change", apply);
  element("theme")?.addEventListener("click", toggle);
  for (const [event, begins] of [["beforeprint", true], ["afterprint", false]]) addEventListener(event, () => { printing = begins; apply(); });
  readPalette();
  apply();
  return toggle;
}

// The colour scale of nodes, and a readable text colour, as in graph/view.py.
const parts = (colour) => [1, 3, 5].map((at) => parseInt(colour.slice(at, at + 2), 16));

export function mixed(scale, share) {
  const place = Math.min(Math.max(share, 0), 1) * (scale.length - 1), low = Math.min(Math.floor(place), scale.length - 2);
  const one = parts(scale[low]), other = parts(scale[low + 1]);
  return `#${one.map((part, i) => Math.round(part + (other[i] - part) * (place - low)).toString(16).padStart(2, "0")).join("")}`;
}

export function inkOn(colour) {
  const [red, green, blue] = parts(colour);
  return 0.299 * red + 0.587 * green + 0.114 * blue > 140 ? "#111111" : "#ffffff";
}
