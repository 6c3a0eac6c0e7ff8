// The controls of the trace page: step, play, point, search and zoom; and its start.

function go(step) {
  setStep(step);
  if (live) resize();
  reveal(now.step);
  changed();
}

function choose(bit) {
  now.bit = bit;
  reveal(now.step, bit);
  changed();
}

function spokenText() {
  let text = `Step ${now.step} of ${facts.steps}, ${matchCount(now.step)} matches.`;
  if (now.bit >= 0) {
    const block = rules.blockOf[now.bit], template = templateAt(now.step, block);
    text += ` ${nameOf(now.bit)} is ${on(now.step, now.bit)}. ${template < 0 ? "Its block matches no template." : `Its block matches: ${templateText(template, block)}.`}`;
  } else if (!facts.computer)
    text += ` ${facts.words.slice(0, 8).map(([name, bits, signed]) => `${name} is ${numberAt(now.step, bits, signed)}`).join(", ")}.`;
  if (facts.computer) text += ` ${element("executing").textContent}, ${element("phase").textContent}.`;
  return text;
}

const advance = (steps) => go(now.step + steps);

// The address: #step=12&bit=c[3]&by=block.

function addressParts() {
  const parts = [];
  if (now.bit >= 0) parts.push(`bit=${encodeURIComponent(nameOf(now.bit)).replace(/%5B/g, "[").replace(/%5D/g, "]").replace(/%2C/g, ",")}`);
  if (now.group !== "name") parts.push(`by=${now.group}`);
  if (now.query) parts.push(`find=${encodeURIComponent(now.query)}`);
  return parts;
}

function recall() {
  const given = address();
  now.group = groupings().find((one) => one === given.get("by")) || "name";
  now.query = given.get("find") || "";
  element("group").value = now.group;
  element("search").value = now.query;
  now.bit = bitOf(given.get("bit") || "");
  if (now.bit >= 0) for (const group of groups) if (group.bits.includes(now.bit)) now.folded.delete(group.number);
  rearrange();
  go(addressStep());
  reveal(now.step, now.bit);
}

function rearrange() {
  arrange();
  measure();
  const bits = rows.reduce((sum, entry) => sum + (entry >= 0), 0);
  element("found").textContent = now.query ? (bits ? `${grouped(bits)} of ${grouped(facts.bits)} bits` : "no such bit") : "";
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
  rest();
}

const groupings = () => (cells.length ? ["name", "block", "cell"] : ["name", "block"]);
const anyFolded = () => shownGroups().some((group) => now.folded.has(group.number));

function fold(all) { // the groups shown: cells or arrays
  for (const group of shownGroups()) {
    if (all && !group.flag) now.folded.add(group.number);
    else now.folded.delete(group.number);
  }
  rearrange();
}

function zoom(cell) {
  const least = Math.min(1, Math.max(fitting(), 0.05)); // keeps drawing fast
  const most = Math.min(Math.max(40, fitting()), 8e6 / (facts.steps - begin + 1)); // the widest element that browsers draw
  const centre = columnOf(now.step) - size.label;
  now.cell = Math.max(Math.min(cell, most), least);
  now.zoomed = true;
  if (now.cell > 2) now.cell = Math.round(now.cell);
  measure();
  scroller.scrollLeft = (now.step - begin) * now.cell - centre;
  redraw();
}

// Until the reader zooms, the whole run is shown if every step has a pixel; otherwise steps are wide enough to read.
function resize() {
  measure();
  if (now.zoomed || !size.width) return;
  const fits = fitting();
  now.cell = Math.min(fits >= 2 ? Math.floor(live?.goesOn ? Math.min(fits, 26) : fits) : fits >= 1 ? fits : facts.computer ? 9 : 7, 8e6 / (facts.steps - begin + 1));
  measure();
}

const fitting = () => (size.width - size.label - 8) / (facts.steps - begin + 1);

function point(event) {
  const { step, entry, x } = cellAt(event);
  const cell = step !== null && entry !== null ? { step, entry, bit: Math.max(entry, -1) } : null;
  canvas.style.cursor = entry !== null && entry < 0 && x < size.label ? "pointer" : "crosshair";
  if (event.pointerType === "touch") return;
  hover(event, cell, now.hover?.step === step && now.hover.entry === entry, () => (entry >= 0 ? describe(entry, step) : describeNumber(groups[-1 - entry], step)));
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

const instructionNow = () => lastUpTo(arrays.instruction_step, now.step);
const toLeast = () => {
  const { least } = facts.real;
  if (!least) return;
  if (least.bit >= 0 && facts.real.stored !== "closed form") now.bit = least.bit;
  go(least.step);
  if (now.bit >= 0) choose(now.bit);
};

const KEYS = [["↑ ↓", "previous or next bit"], ["[ ]", "previous or next instruction"], ["m", "the step with the smallest margin"], ["/", "find bits"], ["+ − 0", "widen steps, narrow them, show the whole run"],
  ["f", "fold or unfold arrays or cells"], ["g", "group by name, block or cell"]];
const keys = {
  ...stepKeys, ArrowUp: () => moveBit(-1), ArrowDown: () => moveBit(1),
  "+": () => zoom(now.cell * 1.4), "=": () => keys["+"](), "-": () => zoom(now.cell / 1.4), 0: () => zoom(fitting()),
  f: () => fold(!anyFolded()), m: toLeast,
  g: () => {
    element("group").value = groupings()[(groupings().indexOf(now.group) + 1) % groupings().length];
    element("group").dispatchEvent(new Event("change"));
  },
  "[": () => arrays.instruction_step && toInstruction(instructionNow() - (now.step > arrays.instruction_step[instructionNow()] ? 0 : 1)),
  "]": () => arrays.instruction_step && toInstruction(instructionNow() + 1),
};

function listenHere() {
  hear("instruction", "change", (e) => toInstruction(Number(e.target.value) - 1));
  hear("instruction-back", "click", keys["["]);
  hear("instruction-next", "click", keys["]"]);
  hear("least", "click", toLeast);
  hear("group", "change", (e) => { now.group = e.target.value; rearrange(); reveal(now.step, now.bit); rest(); });
  hear("fold", "click", () => fold(!anyFolded()));
  scroller.addEventListener("scroll", () => { leave(); redraw(); }, { passive: true });
  for (const kind of ["pointerdown", "pointermove"]) overview.addEventListener(kind, (event) => {
    if (event.buttons) go(begin + ((event.offsetX - 8) / (overview.clientWidth - 16)) * (facts.steps - begin));
  });
  new ResizeObserver(() => { resize(); showStep(); redraw(); }).observe(scroller);
}

// Opens the program in `facts` and `arrays`; on a page with a network it can change.
function openProgram() {
  prepare();
  makeGroups();
  const byCell = element("group").querySelector("[value=cell]");
  byCell.hidden = byCell.disabled = !cells.length;
  now.bit = -1;
  arrange();
  resize();
}

openPage(() => {
  openLive();
  openProgram();
  if (facts.computer) {
    element("numbers-box").hidden = true;
    element("computer").hidden = element("instruction-controls").hidden = false;
    element("instruction").max = arrays.instruction_step.length;
  }
  describeOnce();
  listenHere();
  // For pages that embed this one, and for tests; place() gives window pixels.
  window.trace = {
    go, choose: (name) => choose(bitOf(name)),
    place(step, name) {
      const bit = bitOf(name), box = canvas.getBoundingClientRect();
      reveal(step, bit);
      return { x: box.left + columnOf(step) + now.cell / 2, y: box.top + lineOf(rowOfBit.get(bit)) + size.row / 2 };
    },
  };
});
