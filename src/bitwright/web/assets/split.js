// The line between the program and its results can be dragged, or moved by arrow keys; its place is kept.

import { element } from "./library/dom.mjs";

const LEAST = 320, STORE = "bitwright-width";
const line = element("split");
let wanted = usual();

export function split() {
  set(Number(read()) || wanted);
  line.addEventListener("pointerdown", (event) => {
    event.preventDefault();
    line.setPointerCapture(event.pointerId);
    line.classList.add("moving");
  });
  line.addEventListener("pointermove", (event) => { if (line.hasPointerCapture(event.pointerId)) set(event.clientX); });
  line.addEventListener("lostpointercapture", () => { line.classList.remove("moving"); keep(); });
  line.addEventListener("keydown", (event) => {
    const change = { ArrowLeft: -24, ArrowRight: 24, Home: -Infinity, End: Infinity }[event.key];
    if (change === undefined) return;
    event.preventDefault();
    set(now() + change);
    keep();
  });
  line.addEventListener("dblclick", () => { set(usual()); keep(); });
  addEventListener("resize", () => fit());
}

function usual() { return Math.min(600, Math.max(430, Math.round(0.38 * innerWidth))); }

const now = () => Number(line.getAttribute("aria-valuenow"));

function set(width) {
  wanted = width;
  wanted = fit();
}

function fit() {
  const most = Math.max(LEAST, innerWidth - LEAST), chosen = Math.round(Math.min(most, Math.max(LEAST, wanted)));
  document.documentElement.style.setProperty("--setup", `${chosen}px`);
  line.setAttribute("aria-valuenow", chosen);
  line.setAttribute("aria-valuemin", LEAST);
  line.setAttribute("aria-valuemax", most);
  return chosen;
}

function keep() {
  try { localStorage.setItem(STORE, String(now())); } catch { /* a browser that keeps nothing */ }
}

function read() {
  try { return localStorage.getItem(STORE); } catch { return null; }
}
