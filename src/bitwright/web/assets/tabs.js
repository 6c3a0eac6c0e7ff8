// The tabs of the results: a result shows its own tabs, one of which is open.

import { element, make } from "./library/dom.mjs";

const NAMES = { trace: "Trace", console: "Console", nodes: "Nodes", network: "Network", certificate: "Certificate", size: "Ensemble size", files: "Downloads" };
const bar = document.querySelector(".tabs");
let shown = [];

export function tabs() {
  bar.replaceChildren(...Object.entries(NAMES).map(([tab, name]) => {
    const button = make("button", { id: `tab-${tab}`, type: "button", role: "tab", "aria-controls": `panel-${tab}` }, name);
    button.addEventListener("click", () => turn(tab));
    return button;
  }));
  element("panel-trace").after(...Object.keys(NAMES).filter((tab) => tab !== "trace").map((tab) =>
    make("div.reading", { id: `panel-${tab}`, role: "tabpanel", tabIndex: 0, "aria-labelledby": `tab-${tab}` })));
  bar.addEventListener("keydown", (event) => {
    const now = shown.findIndex((tab) => element(`tab-${tab}`).getAttribute("aria-selected") === "true");
    const next = { ArrowRight: now + 1, ArrowLeft: now + shown.length - 1, Home: 0, End: shown.length - 1 }[event.key];
    if (next === undefined) return;
    event.preventDefault();
    turn(shown[next % shown.length]);
    element(`tab-${shown[next % shown.length]}`).focus();
  });
}

// Shows these tabs and opens the first.
export function offer(...names) {
  shown = names;
  for (const tab of Object.keys(NAMES)) element(`tab-${tab}`).hidden = !names.includes(tab);
  element("tab-trace").textContent = names.includes("nodes") ? "Graph" : NAMES.trace;
  turn(names[0]);
}

function turn(chosen) {
  for (const tab of Object.keys(NAMES)) {
    element(`tab-${tab}`).setAttribute("aria-selected", String(tab === chosen));
    element(`tab-${tab}`).tabIndex = tab === chosen ? 0 : -1;
    element(`panel-${tab}`).hidden = tab !== chosen;
  }
}
