// What machine V printed, while it runs and afterwards, and what is in its memory then.

import { element, grouped, headRow, make, row } from "./library/dom.mjs";
import { facts } from "./network.js";

const SHOWN = 4096; // words

export function liveConsole(text) {
  element("panel-console").replaceChildren(screen(text));
}

export function showConsole(result) {
  const at = new Map(Object.entries(result.labels).map(([name, address]) => [address, name]));
  const rows = result.memory.slice(0, SHOWN).map((word, address) => {
    const found = row(address, at.get(address) ?? "", make("td.number", word));
    found.classList.toggle("here", address === result.pc);
    return found;
  });
  element("panel-console").replaceChildren(
    screen(result.console),
    facts([["machine", result.shape], ["did", `${grouped(result.instructions)} instructions in ${grouped(result.steps)} steps; read ${grouped(result.bytes_in)} and printed ${grouped(result.bytes_out)} bytes`],
      ["stands at", result.pc === null ? "in the midst of an instruction" : `address ${grouped(result.pc)}`]]),
    make("details", make("summary", `Memory, ${grouped(result.memory.length)} words`),
      make("table", { id: "memory" }, make("thead", headRow("address", "label", "word")), make("tbody", ...rows))),
  );
}

function screen(text) {
  return make("pre.screen", { tabIndex: 0, role: "region", "aria-label": "What the program printed" }, text || make("span.soft", "nothing printed"));
}
