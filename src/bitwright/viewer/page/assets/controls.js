// What people do: step, play, point, search, zoom, share; and how the page starts.

const slider = element("slider"), tip = element("tip");

function go(step) {
  now.step = Math.min(Math.max(0, Math.round(step) || 0), facts.steps);
  slider.value = now.step;
  slider.setAttribute("aria-valuetext", `step ${now.step} of ${facts.steps}`);
  if (document.activeElement !== element("step")) element("step").value = now.step;
  reveal(now.step);
  showStep();
  redraw();
  remember();
  speak();
}

function choose(bit) {
  now.bit = bit;
  reveal(now.step, bit);
  showStep();
  redraw();
  remember();
  speak();
}

let speaking = 0;

function speak() { // to screen readers, once things have come to rest
  clearTimeout(speaking);
  if (now.playing) return;
  speaking = setTimeout(() => {
    let text = `Step ${now.step} of ${facts.steps}, ${arrays.n[now.step]} matches.`;
    if (now.bit >= 0) {
      const template = templateAt(now.step, rules.blockOf[now.bit]);
      text += ` ${nameOf(now.bit)} is ${on(now.step, now.bit)}. ${template < 0 ? "Its block matches no template." : `Its block matches: ${templateText(template)}.`}`;
    } else if (!facts.computer)
      text += ` ${facts.words.slice(0, 8).map(([name, bits, signed]) => `${name} is ${numberAt(now.step, bits, signed)}`).join(", ")}.`;
    if (facts.computer) text += ` ${element("executing").textContent}, ${element("phase").textContent}.`;
    element("spoken").textContent = text;
  }, 250);
}

const advance = (steps) => go(now.step + steps);

// The address: #step=12&bit=c[3] and what else differs from the beginning.

let remembering = 0;

function remember() {
  clearTimeout(remembering);
  if (now.playing) return;
  remembering = setTimeout(() => {
    const parts = [`step=${now.step}`];
    if (now.bit >= 0) parts.push(`bit=${encodeURIComponent(nameOf(now.bit)).replace(/%5B/g, "[").replace(/%5D/g, "]").replace(/%2C/g, ",")}`);
    if (now.group !== "name") parts.push(`by=${now.group}`);
    if (now.query) parts.push(`find=${encodeURIComponent(now.query)}`);
    try { history.replaceState(null, "", `#${parts.join("&")}`); } catch { /* inside a frame without an address */ }
  }, 200);
}

function recall() {
  let asked;
  try { asked = new URLSearchParams(location.hash.slice(1)); } catch { return; }
  now.group = groupings().find((one) => one === asked.get("by")) || "name";
  now.query = asked.get("find") || "";
  element("group").value = now.group;
  element("search").value = now.query;
  now.bit = bitOf(asked.get("bit") || "");
  if (now.bit >= 0) for (const group of groups) if (group.bits.includes(now.bit)) now.folded.delete(group.number);
  rearrange();
  go(Number(asked.get("step")) || 0);
  reveal(now.step, now.bit);
}

// Rows and zoom.

function rearrange() {
  arrange();
  measure();
  const bits = rows.reduce((sum, entry) => sum + (entry >= 0), 0);
  element("found").textContent = now.query ? (bits ? `${whole(bits)} of ${whole(facts.bits)} bits` : "no such bit") : "";
  element("fold").textContent = anyFolded() ? "Unfold" : "Fold";
  element("fold").disabled = now.group === "block" || Boolean(now.query);
  redraw();
}

function find(query) {
  now.query = query.trim();
  rearrange();
  scroller.scrollTop = 0;
  if (now.query && rows.length) choose(rows[0]);
  else if (!now.query && now.bit >= 0) reveal(now.step, now.bit);
  remember();
}

const groupings = () => (cells.length ? ["name", "block", "cell"] : ["name", "block"]);
const anyFolded = () => shownGroups().some((group) => now.folded.has(group.number));

function fold(all) { // what is shown; arrays stay as they are while cells are folded
  for (const group of shownGroups()) {
    if (all && !group.flag) now.folded.add(group.number);
    else now.folded.delete(group.number);
  }
  rearrange();
}

function zoom(cell) {
  const least = Math.min(1, Math.max(fitting(), 0.05)); // so that a frame is drawn in time
  const most = Math.min(40, 8e6 / (facts.steps + 1)); // browsers draw no wider elements
  const centre = columnOf(now.step) - size.label;
  now.cell = Math.max(Math.min(cell, most), least);
  now.zoomed = true;
  if (now.cell > 2) now.cell = Math.round(now.cell);
  measure();
  scroller.scrollLeft = now.step * now.cell - centre;
  redraw();
}

// Until someone chooses a width for the steps, it is one that shows the whole run or is easy to read.

function resize() {
  measure();
  if (now.zoomed || !size.width) return;
  now.cell = Math.min(36, Math.max(facts.computer ? 9 : 7, Math.floor(fitting())), 8e6 / (facts.steps + 1));
  measure();
}

const fitting = () => (size.width - size.label - 8) / (facts.steps + 1);

// Pointing.

function point(event) {
  const { step, entry, x } = cellAt(event);
  const cell = step !== null && entry !== null ? { step, entry, bit: Math.max(entry, -1) } : null;
  canvas.style.cursor = entry !== null && entry < 0 && x < size.label ? "pointer" : "crosshair";
  if (event.pointerType === "touch") return;
  if (!cell) { leave(); return; }
  if (!now.hover || now.hover.step !== cell.step || now.hover.entry !== cell.entry) {
    now.hover = cell;
    tip.replaceChildren(...(entry >= 0 ? describe(entry, step) : describeNumber(groups[-1 - entry], step)));
    tip.hidden = false;
    redraw();
  }
  const box = tip.getBoundingClientRect();
  const right = event.clientX + 18 + box.width > innerWidth;
  const under = event.clientY + 18 + box.height > innerHeight;
  tip.style.left = `${Math.max(4, right ? event.clientX - box.width - 14 : event.clientX + 18)}px`;
  tip.style.top = `${Math.max(4, under ? event.clientY - box.height - 14 : event.clientY + 18)}px`;
}

function leave() {
  if (!now.hover) return;
  now.hover = null;
  tip.hidden = true;
  redraw();
}

function press(event) {
  const { step, entry, x, y } = cellAt(event);
  if (entry !== null && entry < 0 && (x < size.label || step === null)) {
    const number = -1 - entry;
    if (!now.folded.delete(number)) now.folded.add(number);
    rearrange();
    return;
  }
  if (y >= size.ruler && entry !== null && entry >= 0) now.bit = entry;
  go(step === null ? now.step : step);
}

// Keys work everywhere but in fields that use them themselves.

function moveBit(by) {
  const bits = rows.filter((entry) => entry >= 0);
  if (!bits.length) return;
  const at = bits.indexOf(now.bit);
  choose(bits[at < 0 ? 0 : Math.min(Math.max(0, at + by), bits.length - 1)]);
}

function toInstruction(number) {
  const begins = arrays.instruction_step;
  if (begins && begins.length) go(begins[Math.min(Math.max(0, number), begins.length - 1)]);
}

const instructionNow = () => below(arrays.instruction_step, now.step);
const toLeast = () => {
  const { least } = facts.real;
  if (!least) return;
  if (least.bit >= 0 && facts.real.stored !== "closed form") now.bit = least.bit;
  go(least.step);
  if (now.bit >= 0) choose(now.bit);
};

const keys = {
  ArrowLeft: (e) => go(now.step - (e.shiftKey ? 10 : 1)), ArrowRight: (e) => go(now.step + (e.shiftKey ? 10 : 1)),
  Home: () => go(0), End: () => go(facts.steps), ArrowUp: () => moveBit(-1), ArrowDown: () => moveBit(1),
  " ": () => play(!now.playing), "/": () => element("search").focus(), "+": () => zoom(now.cell * 1.4), "=": () => zoom(now.cell * 1.4),
  "-": () => zoom(now.cell / 1.4), 0: () => zoom(fitting()), f: () => fold(!anyFolded()), t: toggleTheme, m: toLeast,
  g: () => {
    element("group").value = groupings()[(groupings().indexOf(now.group) + 1) % groupings().length];
    element("group").dispatchEvent(new Event("change"));
  },
  "[": () => arrays.instruction_step && toInstruction(instructionNow() - (now.step > arrays.instruction_step[instructionNow()] ? 0 : 1)),
  "]": () => arrays.instruction_step && toInstruction(instructionNow() + 1), "?": () => element("help").showModal(),
};

function key(event) {
  if (event.ctrlKey || event.metaKey || event.altKey || element("help").open) return;
  const target = event.target, field = target.matches("input, select, textarea");
  if (target.id === "search" && event.key === "Escape") { target.value = ""; find(""); canvas.focus(); return; }
  if (target.id === "search" && event.key === "Enter") { canvas.focus(); return; }
  if (field && !(target === slider && event.key !== " " && !event.key.startsWith("Arrow") && event.key !== "Home" && event.key !== "End")) return;
  if (event.key === " " && target.matches("button")) return;
  const action = keys[event.key];
  if (!action) return;
  event.preventDefault();
  action(event);
}

function listen() {
  const on_ = (id, kind, action) => element(id).addEventListener(kind, action);
  on_("first", "click", () => go(0));
  on_("back", "click", () => go(now.step - 1));
  on_("next", "click", () => go(now.step + 1));
  on_("last", "click", () => go(facts.steps));
  on_("play", "click", () => play(!now.playing));
  on_("step", "change", (e) => go(Number(e.target.value)));
  on_("slider", "input", () => go(Number(slider.value)));
  on_("instruction", "change", (e) => toInstruction(Number(e.target.value) - 1));
  on_("instruction-back", "click", keys["["]);
  on_("instruction-next", "click", keys["]"]);
  on_("least", "click", toLeast);
  on_("search", "input", (e) => find(e.target.value));
  on_("group", "change", (e) => { now.group = e.target.value; rearrange(); reveal(now.step, now.bit); remember(); });
  on_("fold", "click", () => fold(!anyFolded()));
  on_("narrower", "click", keys["-"]);
  on_("wider", "click", keys["+"]);
  on_("fit", "click", keys[0]);
  on_("theme", "click", toggleTheme);
  on_("help-button", "click", keys["?"]);
  scroller.addEventListener("scroll", () => { leave(); redraw(); }, { passive: true });
  canvas.addEventListener("pointermove", point);
  canvas.addEventListener("pointerleave", leave);
  canvas.addEventListener("click", press);
  for (const kind of ["pointerdown", "pointermove"]) overview.addEventListener(kind, (event) => {
    if (event.buttons) go(((event.offsetX - 8) / (overview.clientWidth - 16)) * facts.steps);
  });
  document.addEventListener("keydown", key);
  window.addEventListener("hashchange", recall);
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => theme());
  new ResizeObserver(() => { resize(); showStep(); redraw(); }).observe(scroller);
}

async function start() {
  if (typeof DecompressionStream === "undefined")
    throw new Error("This browser is too old for this page; it needs Chrome 99, Firefox 113, Safari 16.4 or later.");
  await decode();
  prepare();
  groupCells();
  const byCell = element("group").querySelector("[value=cell]");
  byCell.hidden = byCell.disabled = !cells.length;
  slider.max = element("step").max = facts.steps;
  element("steps").textContent = `of ${whole(facts.steps)}`;
  if (facts.computer) {
    element("numbers-box").hidden = true;
    element("computer").hidden = element("instruction-controls").hidden = false;
    element("instruction").max = arrays.instruction_step.length;
    element("instructions").textContent = `of ${whole(arrays.instruction_step.length)}`;
  }
  readPalette();
  if (facts.bits > 160 && arraysOfBits.length > 5) now.folded = new Set(groups.filter((g) => !g.flag && g.bits.length > 1).map((g) => g.number));
  arrange();
  resize();
  describeOnce();
  listen();
  recall();
  // For pages that embed this one, and for tests: where a cell is, in pixels of the window.
  window.trace = {
    go, choose: (name) => choose(bitOf(name)),
    place(step, name) {
      const bit = bitOf(name), box = canvas.getBoundingClientRect();
      reveal(step, bit);
      return { x: box.left + columnOf(step) + now.cell / 2, y: box.top + lineOf(rowOfBit.get(bit)) + size.row / 2 };
    },
  };
  document.documentElement.dataset.ready = "true";
}

start().catch((error) => {
  element("notice").textContent = error.message;
  element("notice").hidden = false;
});
