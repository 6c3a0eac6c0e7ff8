// What machine V printed, while it runs and afterwards, and what is in its memory then.

import { element, make, whole } from "./ask.js";
import { facts } from "./network.js";

const SHOWN = 4096; // words

export function liveConsole(text) {
  element("panel-console").replaceChildren(screen(text));
}

export function showConsole(result) {
  const at = new Map(Object.entries(result.labels).map(([name, address]) => [address, name]));
  const rows = result.memory.slice(0, SHOWN).map((word, address) => make("tr", { className: address === result.pc ? "here" : "" },
    make("th", { scope: "row", textContent: address }), make("td", { textContent: at.get(address) ?? "" }), make("td", { className: "number", textContent: word })));
  const head = make("tr", {}, ...["address", "label", "word"].map((name) => make("th", { scope: "col", textContent: name })));
  element("panel-console").replaceChildren(
    screen(result.console),
    facts([["machine", result.machine], ["did", `${whole(result.instructions)} instructions in ${whole(result.steps)} steps; read ${whole(result.read)} and printed ${whole(result.printed)} bytes`],
      ["stands at", result.pc === null ? "in the midst of an instruction" : `address ${whole(result.pc)}`]]),
    make("details", {}, make("summary", { textContent: `Memory, ${whole(result.memory.length)} words` }),
      make("table", { id: "memory" }, make("thead", {}, head), make("tbody", {}, ...rows))),
  );
}

function screen(text) {
  const shown = make("pre", { className: "screen", tabIndex: 0, textContent: text || "" });
  shown.setAttribute("aria-label", "What the program printed");
  shown.setAttribute("role", "region");
  if (!text) shown.append(make("span", { className: "soft", textContent: "nothing printed" }));
  return shown;
}
