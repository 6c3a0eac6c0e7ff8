// A link that holds the program and its inputs in its fragment, which no server sees; and what such a link brings.

import { element, hear } from "./library/dom.mjs";
import { knowsLanguage, load, shared } from "./program.js";

const LONGEST = 60_000, MOST = 400_000; // characters of a fragment, and of what is packed in it
const KINDS = ["addition", "multiplication", "permutation", "rules", "sbn", "subleq", "nodes"];
const TEXTS = ["text", "language", "console", "bits", "order", "machine", "words", "word-width", "dialect"];
const CHOICES = ["engine", "rounding", "networks", "seed", "width", "max-steps", "max-instructions"];
const PREFIX = "#program=";

export function share(failed) {
  hear("share", "click", async () => {
    const open = element("shared").hidden;
    element("shared").hidden = !open;
    element("share").setAttribute("aria-expanded", String(open));
    if (open) await make();
  });
  addEventListener("keydown", (event) => { if (event.key === "Escape" && !element("shared").hidden) { element("share").click(); element("share").focus(); } });
  addEventListener("hashchange", () => openLink(failed));
}

export const state = () => ({ v: 1, ...shared(), settings: Object.fromEntries(CHOICES.map((id) => [id, element(id).value])) });

export function restore(found) {
  const link = checked(found);
  for (const id of CHOICES) element(id).value = link.settings[id];
  load(link);
}

async function make() {
  const fragment = await pack(state());
  const note = element("link-note");
  element("link").value = "";
  if (fragment.length > LONGEST) { note.textContent = "This program is too long for a link; download it instead."; return; }
  element("link").value = `${location.origin}${location.pathname}${PREFIX}${fragment}`;
  element("link").select();
  try {
    await navigator.clipboard.writeText(element("link").value);
    note.textContent = "Copied. For another server, put the part from # behind its address.";
  } catch { note.textContent = "Copy it. For another server, put the part from # behind its address."; }
}

// Opens what the address holds; a fragment that no link of ours has is refused with a line.

export async function openLink(failed) {
  if (!location.hash.startsWith(PREFIX)) return;
  const fragment = location.hash.slice(PREFIX.length);
  history.replaceState(null, "", location.pathname);
  try {
    restore(await unpack(fragment));
  } catch (error) {
    failed(`this link cannot be opened: ${error.message}`);
  }
}

async function pack(document) {
  const stream = new Blob([JSON.stringify(document)]).stream().pipeThrough(new CompressionStream("deflate-raw"));
  const bytes = new Uint8Array(await new Response(stream).arrayBuffer());
  return btoa(Array.from(bytes, (byte) => String.fromCharCode(byte)).join("")).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
}

async function unpack(fragment) {
  if (fragment.length > LONGEST) throw new Error("it is too long");
  if (!/^[A-Za-z0-9_-]+$/.test(fragment)) throw new Error("it is damaged");
  try {
    const bytes = Uint8Array.from(atob(fragment.replaceAll("-", "+").replaceAll("_", "/")), (sign) => sign.charCodeAt(0));
    const reader = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate-raw")).pipeThrough(new TextDecoderStream("utf-8", { fatal: true })).getReader();
    let text = "";
    for (let part = await reader.read(); !part.done; part = await reader.read()) {
      text += part.value;
      if (text.length > MOST) { await reader.cancel(); break; } // a little that unpacks to much
    }
    if (text.length <= MOST) return JSON.parse(text);
  } catch { throw new Error("it is damaged"); }
  throw new Error("it holds too much");
}

// Every field is what it must be; what else is in there is not looked at.

function checked(link) {
  const need = (right, what) => { if (!right) throw new Error(`its ${what} is not one that this page knows`); };
  need(link !== null && typeof link === "object" && link.v === 1, "version");
  need(KINDS.includes(link.kind), "kind of program");
  for (const name of TEXTS) need(typeof link[name] === "string" && link[name].length <= 65_536, name);
  need(knowsLanguage(link.kind, link.language), "language");
  need(typeof link.counter === "boolean", "counter");
  need(isTexts(link.inputs), "inputs");
  need(isTexts(link.settings) && CHOICES.every((id) => id in link.settings), "settings");
  need(link.graph === null ? link.kind !== "nodes" : isGraph(link.graph), "graph");
  for (const id of ["machine", "dialect"]) need([...element(id).options].some(({ value }) => value === link[id]), id);
  for (const id of ["engine", "rounding"]) need([...element(id).options].some(({ value }) => value === link.settings[id]), id);
  return link;
}

const isTexts = (found) => found !== null && typeof found === "object" && !Array.isArray(found) && Object.keys(found).length <= 1000 && Object.values(found).every((value) => typeof value === "string");

function isGraph({ shape, directed, nodes, edges }) {
  const names = new Set(Array.isArray(nodes) ? nodes.map((node) => node?.[0]) : []);
  return (shape === null || (typeof shape === "string" && shape.length <= 60)) && typeof directed === "boolean" && Array.isArray(nodes) && nodes.length <= 2000 && names.size === nodes.length
    && nodes.every((node) => Array.isArray(node) && node.length === 3 && typeof node[0] === "string" && /^[A-Za-z0-9_.]{1,20}$/.test(node[0]) && node.slice(1).every((at) => Number.isFinite(at) && Math.abs(at) < 1e6))
    && Array.isArray(edges) && edges.length <= 10000 && edges.every((ends) => Array.isArray(ends) && ends.length === 2 && ends.every((end) => Number.isInteger(end) && end >= 0 && end < nodes.length));
}
