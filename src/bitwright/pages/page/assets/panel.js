// The panel beside the trace: numbers, the machine, the chosen bit, and the engine's outputs.

const MOST_ROWS = 40, MOST_WORDS = 64; // of outputs, and of memory

function describeOnce() {
  const { real } = facts;
  const parts = live ? [] : [
    plural(facts.steps, "step"), plural(facts.bits, "bit"), plural(arrays.template_block.length, "template"), `engine ${facts.engine}`,
  ];
  if (facts.rounding) parts.push(`${facts.rounding} rounding`);
  if (!live) showAbout(facts.description, parts, real.wrong_steps);

  const least = real.least;
  const far = least && (least.deviations === null ? "" : `, or ${short(least.deviations)} standard deviations of one network`);
  element("overview-text").textContent = !least
    ? live ? "The whole run; the visible part is highlighted." : "The margin of each step. No step had a bit to decide."
    : `The margin of each step: its distance from a wrong bit. The smallest is ${short(least.margin)}${far}, at step ${grouped(least.step)}${least.margin < 0 ? ", where a bit is wrong" : ""}.`;
  element("least").hidden = !least;

  const scatter = `± is the standard deviation of one network${real.rounding === "calibrated" ? "'s estimate" : ""}.`;
  const source = real.cells ? "The sum G and the threshold T of the port that decided each bit. A bit is set if G exceeds T." : {
    "closed form": real.followed
      ? `The mean of infinitely wide networks, in closed form; ${scatter}`
      : `The rules decided the bits. The outputs are the mean of infinitely wide networks in the same states; ${scatter}`,
    all: "The engine's outputs, as recorded during the run.",
    nothing: "This run has more outputs than a page can hold.",
  }[real.stored];
  const rounding = real.rounding === "calibrated"
    ? "Calibrated rounding estimates how many matching templates write the bit, and sets it above ½."
    : "Sign rounding sets a bit if its output is above 0.";
  element("outputs-text").textContent = real.cells ? source : `${source} ${rounding}`;
  element("value-head").textContent = real.rounding === "calibrated" && !real.cells ? "estimate" : "threshold";
  element("deviation-head").hidden = !real.deviations;
  if (!live) element("footer").textContent = `program ${facts.program.slice(0, 16)} · K = ${grouped(real.examples)} examples · made by bitwright · this page works offline`;
}

function showStep() {
  if (facts.computer) showComputer();
  else showNumbers();
  const box = element("bit");
  box.replaceChildren(...(now.bit < 0 ? [make("p.soft", "Point at a bit, or tap it, to see its block and what it writes.")] : describe(now.bit, now.step)));
  showOutputs();
}

function wordList(words, before) {
  return make("dl.words", ...words.map(([name, bits, signed, role]) => {
    const value = String(numberAt(now.step, bits, signed)), shown = value.length > 24 ? `${value.slice(0, 10)}…${value.slice(-10)}` : value;
    const entry = make("div", { className: role || "" }, make("dt", name), make("dd", { title: value }, shown));
    if (name.length > 11 || value.length > 9) entry.classList.add(value.length > 20 ? "widest" : "wide");
    if (before !== undefined && value !== String(numberAt(before, bits, signed))) entry.classList.add("changed");
    return entry;
  }));
}

function showNumbers() {
  const list = wordList(facts.words.slice(0, 64), Math.max(0, now.step - 1));
  list.append(make("div", ...terms([["matches n", grouped(matchCount(now.step))]])));
  element("numbers").replaceChildren(list);
}

// The current instruction of a machine, its phase, and memory.
function showComputer() {
  const { instruction_step: begins, instruction_address: addresses, phase_step: steps = [], phase_kind: kinds } = arrays, { computer } = facts;
  const at = lastUpTo(begins, now.step), address = addresses[at], phase = lastUpTo(steps, now.step);
  const chip = element("phase"), code = at < 0 ? null : computer.instructions[address];
  chip.textContent = phase < 0 || !code ? "" : computer.phases[kinds[phase]];
  chip.className = phase < 0 ? "" : "phase";
  chip.style.background = phase < 0 ? "" : phaseTone(kinds[phase]);
  element("instructions").textContent = `of ${grouped(begins.length)}`;
  const line = element("executing");
  if (at < 0) line.textContent = "No instruction has started.";
  else if (!code) line.textContent = `Address ${address} is past the last instruction: the program has ended.`;
  else {
    line.replaceChildren(
      make("span.soft", `instruction ${grouped(at + 1)}, address ${address}${code.label ? ` (${code.label})` : ""}`),
      make("br"), make("code", `${code.b} −= ${code.a}; if negative go to ${code.c}`), make("span.soft", cameOf(at, code)));
  }
  const marked = computer.words.map((word, i) => [...word, code?.words[1] === i ? "target" : code?.words[0] === i ? "source" : ""]).filter((_, i) => i < MOST_WORDS || Math.abs(i - address) < 12 || code?.words.includes(i));
  element("memory").replaceChildren(wordList(marked, at >= 0 ? begins[at] : undefined));
  if (document.activeElement !== element("instruction")) element("instruction").value = Math.max(1, at + 1);
}

function cameOf(at, code) {
  const begins = arrays.instruction_step;
  if (at + 1 >= begins.length || !facts.computer.words[code.words[1]]) return "";
  const [, bits] = facts.computer.words[code.words[1]];
  const result = numberAt(begins[at + 1], bits, true), next = arrays.instruction_address[at + 1];
  return ` → ${result}${result < 0n ? `, go to ${next}` : ""}`;
}

// A bit in a step: its block, the matching template, and what the template writes.
function describe(bit, step) {
  const block = rules.blockOf[bit], template = templateAt(step, block), found = [], add = (...row) => found.push(row);
  add("block", make("span.bits", ...Array.from(bitsOfBlock(block), (other) => make("span", { className: on(step, other) ? "is-on" : "" }, `${nameOf(other)}=${on(step, other)}`))));
  if (template < 0) add("template", make("span.soft", "none matches"));
  else {
    add("template", make("code.template", templateText(template, block)));
    if (rules.text(template)) add("rule", make("code.rule", rules.text(template)));
    add("writes", make("span.writes", namesOf(rules.writes(template, block))));
  }
  const setters = settersOf(step, bit);
  if (step > begin && (on(step, bit) || setters.length)) {
    const by = setters.some(([one, at]) => one === template && at === block) ? make("span", "the same template") : make("code", setters.length ? templateText(...setters[0]) : "");
    if (setters.length) add("set by", by, make("span", setters.length > 1 ? ` and ${setters.length - 1} more` : ""));
    else add("set by", make("span.wrong", "no template; the engine was wrong here"));
  }
  if (step > begin && setters.length && !on(step, bit)) add("but", make("span.wrong", "the engine did not set it"));
  return [headOf(nameOf(bit), bit, ` = ${on(step, bit)}`, step), make("dl.facts", ...terms(found))];
}

function headOf(label, bit, value, step) {
  const name = make("strong", label);
  name.style.color = colour(bit);
  return make("p.bit-head", name, make("span", `${value} at step ${grouped(step)}`));
}

function describeNumber(group, step) {
  const ones = group.bits.filter((bit) => on(step, bit)), digits = Array.from(group.bits, (bit) => on(step, bit)).reverse().join("");
  if (group.cell) return [headOf(group.label, group.bits[0], "", step), make("p.soft", ones.length ? `on: ${namesOf(ones)}` : "all bits are off")];
  return [headOf(group.label, group.bits[0], ` = ${valueText(group, step)}`, step), make("p.soft", `${plural(group.bits.length, "bit")}, highest first: `, make("code", shortened(digits, 201)))];
}

function namesOf(bits) {
  const some = Array.from(bits.slice(0, 12), nameOf).join(" ");
  return bits.length > 12 ? `${some} and ${bits.length - 12} more` : some;
}

function showOutputs() {
  const body = element("outputs").tBodies[0], more = element("outputs-more"), outputs = outputsAt(now.step);
  element("outputs").hidden = !outputs;
  element("outputs-of").textContent = outputs ? `of step ${grouped(now.step)}, n = ${grouped(outputs.n)}` : "";
  if (!outputs) {
    body.replaceChildren();
    more.textContent = now.step >= facts.steps ? "The run ends here." : "";
    return;
  }
  const bits = range(0, facts.bits), shown = closest(outputs, bits, player.mode === "play" ? 12 : MOST_ROWS);
  if (now.bit >= 0) shown.unshift(now.bit);
  body.replaceChildren(...shown.map((bit) => outputRow(bit, outputs)));
  const left = bits.length - shown.length;
  more.textContent = left > 0 ? `The ${shown.length} outputs closest to their thresholds, of ${grouped(facts.bits)}. Choose any other bit to see its output here.` : "";
}

// The bits closest to their thresholds, without the chosen one; among equals, set bits come first.
function closest(outputs, bits, most) {
  const kept = [], before = (a, b) => a.margin - b.margin || b.value - a.value || a.bit - b.bit;
  for (const bit of bits) {
    if (bit === now.bit) continue;
    const entry = { bit, margin: outputs.margin(bit), value: outputs.value(bit) };
    if (kept.length === most && before(entry, kept[most - 1]) >= 0) continue;
    let at = kept.length;
    while (at > 0 && before(entry, kept[at - 1]) < 0) at--;
    kept.splice(at, 0, entry);
    if (kept.length > most) kept.pop();
  }
  return kept.map((entry) => entry.bit);
}

function outputRow(bit, outputs) {
  const number = (value) => make("td", { title: String(value) }, short(value)), margin = outputs.margin(bit);
  const next = now.step < facts.steps ? on(now.step + 1, bit) : Number(outputs.value(bit) > outputs.threshold), right = (matchesAt(now.step).counts[bit] > 0) === (next === 1);
  const made = row(nameOf(bit), number(outputs.output(bit)), number(outputs.limit ? outputs.limit(bit) : outputs.calibrated ? outputs.value(bit) : outputs.threshold), ...(facts.real.deviations ? [number(outputs.spread)] : []),
    margin === Infinity ? "–" : number(margin), make("td", { className: right ? (next ? "is-on" : "") : "wrong" }, String(next)));
  made.classList.toggle("chosen", bit === now.bit);
  made.dataset.bit = nameOf(bit);
  made.addEventListener("click", () => choose(bit));
  return made;
}
