// The controls of the graph page: step, play, point, choose and zoom; and its start.

function go(step) {
  setStep(step);
  if (!tip.hidden) tip.replaceChildren(...describe(now.hover));
  changed();
}

function advance(steps) {
  if (!element("changes").checked) { go(now.step + steps); return; }
  let step = now.step;
  for (let i = 0; i < steps && (live?.goesOn || step < facts.steps); i++) step = nextChange(step, 1);
  go(step);
}

function choose(node) {
  now.node = node;
  if (node >= 0 && drawing.outside(node)) {
    view.x += drawing.width / 2 - drawing.x(node);
    view.y += drawing.height / 2 - drawing.y(node);
  }
  changed();
}

function show(what, number) { // what: colour or mark
  now[what] = number;
  element(what).value = number;
  showStep();
  redraw();
  rest();
}

function spokenText() {
  const parts = [`Step ${now.step} of ${facts.steps}.`], lamps = namesOn("whole", 0, now.step);
  if (lamps.length) parts.push(`On: ${lamps.join(", ")}.`);
  if (now.node >= 0) {
    const choice = colouring(), bits = namesOn("node", now.node, now.step);
    const words = facts.outputs.filter((word) => word.place === "node").map((word) => `${word.name} is ${valueOf(word, now.node, now.step) ?? "none"}`);
    parts.push(`Node ${facts.names[now.node]}: ${[...words, choice && choice.group !== "outputs" ? `${titleOf(choice)} is ${shadeOf(choice, now.node, now.step)}` : ""].filter(Boolean).join(", ")}.`);
    parts.push(bits.length ? `Bits on: ${bits.join(", ")}.` : "No bit is on.");
  }
  return parts.join(" ");
}

// The address: #step=12&node=a&colour=level&edges=parent.

function addressParts() {
  const parts = [], add = (name, value) => parts.push(`${name}=${encodeURIComponent(value)}`);
  if (now.node >= 0) add("node", facts.names[now.node]);
  if (now.colour !== facts.colour) add("colour", titleOf(colouring()));
  if (now.mark !== facts.mark) add("edges", now.mark < 0 ? "" : marking().name);
  return parts;
}

function recall() {
  const given = address(), colour = facts.colours.findIndex((choice) => titleOf(choice) === given.get("colour"));
  const mark = facts.marks.findIndex((choice) => choice.name === given.get("edges"));
  show("colour", colour < 0 ? facts.colour : colour);
  show("mark", mark >= 0 || given.get("edges") === "" ? mark : facts.mark);
  choose(given.has("node") ? facts.names.indexOf(given.get("node")) : -1);
  go(addressStep());
}

function fill(select, choices, headings) {
  for (const [group, heading] of headings) {
    const own = choices.map((choice, number) => ({ choice, number })).filter(({ choice }) => choice.group === group);
    if (!own.length) continue;
    const section = make("optgroup");
    section.label = heading;
    for (const { choice, number } of own) section.append(new Option(choice.name, number));
    select.append(section);
  }
}

function fillChoices() {
  fill(element("colour"), facts.colours, [["outputs", "outputs"], ["bits", "bits"], ["some port", "bit of some port"]]);
  element("mark").append(new Option("all alike", -1));
  fill(element("mark"), facts.marks, [["outputs", "outputs of ports"], ["bits", "bits of ports"]]);
  element("mark-box").hidden = !facts.marks.length;
  if (facts.nodes <= 1000) element("suggested").append(...facts.names.map((name) => new Option(name, name)));
}

function find(text) {
  const query = text.trim(), exact = facts.names.indexOf(query);
  const node = exact >= 0 || !query ? exact : facts.names.findIndex((name) => name.toLowerCase().startsWith(query.toLowerCase()));
  element("found").textContent = query && node < 0 ? "no such node" : "";
  if (node >= 0) choose(node);
}

let drag = null;

function point(event) {
  if (drag && event.buttons) {
    const far = Math.hypot(event.clientX - drag.x, event.clientY - drag.y);
    if (far > 4 || drag.moved) {
      drag.moved = view.zoomed = true;
      view.x += event.clientX - drag.lastX;
      view.y += event.clientY - drag.lastY;
      drag.lastX = event.clientX;
      drag.lastY = event.clientY;
      leave();
      redraw();
    }
    return;
  }
  if (event.pointerType === "touch") return;
  const node = drawing.nodeAt(event);
  canvas.style.cursor = node >= 0 ? "pointer" : "grab";
  hover(event, node < 0 ? null : node, now.hover === node, () => describe(node));
}

function grab(event) {
  const { clientX: x, clientY: y } = event;
  if (event.pointerType === "touch" && !view.zoomed) { drag = null; return; } // the finger scrolls the page
  drag = { x, y, lastX: x, lastY: y, moved: false };
  canvas.setPointerCapture(event.pointerId);
}

function press(event) {
  const moved = drag && drag.moved;
  drag = null;
  if (moved) return;
  choose(drawing.nodeAt(event));
  live?.press(now.node);
}

function wheel(event) {
  if (!event.ctrlKey && document.documentElement.scrollHeight > innerHeight + 4) return; // the wheel scrolls the page
  event.preventDefault();
  const { x, y } = pointOn(canvas, event);
  zoom(Math.exp(-event.deltaY * (event.ctrlKey ? 0.01 : 0.0015)), x, y);
}

const zoom = (...how) => { drawing.zoom(...how); redraw(); };
const wholeGraph = () => { drawing.fit(); redraw(); };
const moveNode = (by) => choose(now.node < 0 ? (by > 0 ? 0 : facts.nodes - 1) : Math.min(Math.max(0, now.node + by), facts.nodes - 1));
const KEYS = [["[ ]", "previous or next change"], ["↑ ↓", "previous or next node"], ["Esc", "clear the selection"], ["c e", "next colouring, next edges"], ["/", "find a node"],
  ["+ − 0", "zoom in, zoom out, show the whole graph"]];
const keys = {
  ...stepKeys, ArrowUp: () => moveNode(-1), ArrowDown: () => moveNode(1), "+": () => zoom(1.3), "=": () => zoom(1.3), "-": () => zoom(1 / 1.3),
  0: wholeGraph, "[": () => go(nextChange(now.step, -1)), "]": () => go(nextChange(now.step, 1)), Escape: () => choose(-1),
  c: () => facts.colours.length && show("colour", (now.colour + 1) % facts.colours.length),
  e: () => show("mark", now.mark + 1 < facts.marks.length ? now.mark + 1 : -1),
};

function listenHere() {
  for (const what of ["colour", "mark"]) hear(what, "change", (e) => show(what, Number(e.target.value)));
  hear("ports", "click", (e) => { const chosen = e.target.closest("tr[data-node]"); if (chosen) choose(Number(chosen.dataset.node)); });
  canvas.addEventListener("pointerdown", grab);
  canvas.addEventListener("wheel", wheel, { passive: false });
  new ResizeObserver(() => { measure(); redraw(); }).observe(field);
}

openPage(() => {
  openLive();
  prepare();
  prepareDrawing();
  element("changes").checked = facts.grid;
  element("speed").value = 4;
  measure();
  describeOnce();
  fillChoices();
  listenHere();
  // For pages that embed this one, and for tests; place() gives window pixels.
  window.graph = {
    go, choose: (name) => choose(facts.names.indexOf(name)),
    place(name) {
      const node = facts.names.indexOf(name), frame = canvas.getBoundingClientRect();
      return { x: frame.left + drawing.x(node), y: frame.top + drawing.y(node) };
    },
    colour: (name) => { const choice = colouring(), node = facts.names.indexOf(name); return hueOf(choice, choice ? shadeOf(choice, node, now.step) : 0); },
  };
});
