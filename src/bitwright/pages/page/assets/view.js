// The picture: one canvas that stays in place while its container scrolls, and shows only the visible part.

const scroller = element("scroller"), spacer = element("spacer"), canvas = element("cells"), overview = element("overview");
const paint = canvas.getContext("2d"), strip = overview.getContext("2d");
const size = { width: 0, height: 0, label: 90, ruler: 24, row: 16 };
let strong = null;

function measure() {
  size.width = scroller.clientWidth;
  size.height = scroller.clientHeight;
  size.ruler = arrays.phase_step ? 40 : 24;
  const room = (size.height - size.ruler - 6) / Math.max(1, rows.length); // shows all rows if they stay readable
  size.row = room < 13 ? 17 : Math.min(34, Math.floor(room));
  let longest = 5;
  const some = Math.max(1, Math.floor(rows.length / 3000));
  for (let row = 0; row < rows.length; row += some) longest = Math.max(longest, labelOf(rows[row]).length);
  size.label = Math.min(Math.max(56, longest * 7.3 + 30), Math.max(110, size.width * 0.3));
  spacer.style.width = `${size.label + (facts.steps - begin + 1) * now.cell + 8}px`;
  spacer.style.height = `${size.ruler + rows.length * size.row + 4}px`;
}

const labelOf = (entry) => (entry < 0 ? groups[-1 - entry].label : nameOf(entry));
const columnOf = (step) => size.label + (step - begin) * now.cell - scroller.scrollLeft;
const lineOf = (row) => size.ruler + row * size.row - scroller.scrollTop;

function draw() {
  sheet(canvas, size.width, size.height);
  const first = begin + Math.max(0, Math.floor(scroller.scrollLeft / now.cell));
  const last = Math.min(facts.steps, begin + Math.floor((scroller.scrollLeft + size.width - size.label) / now.cell));
  const top = Math.max(0, Math.floor(scroller.scrollTop / size.row));
  const bottom = Math.min(rows.length - 1, Math.floor((scroller.scrollTop + size.height - size.ruler) / size.row));
  within(size.label, size.ruler, () => {
    drawBands(top, bottom, first, last);
    for (let row = top; row <= bottom; row++) {
      const group = rows[row] < 0 ? groups[-1 - rows[row]] : null;
      if (group) (group.cell ? drawSmall : drawNumber)(group, row, first, last);
      else drawBit(rows[row], row, first, last);
    }
    drawWrong(top, bottom, first, last);
    drawFocus();
  });
  fillBox(paint, palette.paper, 0, size.ruler, size.label, size.height);
  fillBox(paint, palette.line, size.label - 1, 0, 1, size.height);
  within(0, size.ruler, () => drawLabels(top, bottom));
  drawRuler(first, last);
  drawOverview(first, last);
}

// Draws only to the right of and below a point.
function within(left, top, drawInside) {
  paint.save();
  paint.beginPath();
  paint.rect(left, top, size.width, size.height);
  paint.clip();
  drawInside();
  paint.restore();
}

function drawBands(top, bottom, first, last) {
  const right = columnOf(last + 1);
  for (let row = top; row <= bottom; row++) {
    const entry = rows[row];
    if (entry < 0) continue;
    const odd = now.group === "block" && !now.query && rules.blockOf[entry] % 2;
    fillBox(paint, odd ? palette.line : palette.well, size.label, lineOf(row), right - size.label, size.row - (now.group === "block" ? 0 : 1));
  }
  fillBox(paint, palette.now, columnOf(now.step), size.ruler, Math.max(now.cell, 2), size.height);
  const row = rowOfBit.get(now.bit);
  if (row >= 0) fillBox(paint, palette.chosen, size.label, lineOf(row), size.width, size.row);
}

function drawBit(bit, row, first, last) {
  const gap = now.cell >= 7 ? 1 : 0, y = lineOf(row) + 2, height = size.row - (size.row < 15 ? 4 : 5);
  paint.fillStyle = tone(fieldAt(bit).number);
  drawBars(paint, (step) => on(step, bit), first, last, columnOf, now.cell, y, height, gap);
}

// Draws an array as a number over time, in one piece while its value stays the same.
function drawNumber(group, row, first, last) {
  const y = lineOf(row), middle = y + size.row / 2, hue = tone(group.field.number);
  for (let step = first; step <= last;) {
    const from = step;
    while (step <= last && same(group.bits, from, step)) step++;
    const x = columnOf(from), w = (step - from) * now.cell, zero = group.bits.every((bit) => !on(from, bit));
    if (zero) {
      paint.globalAlpha = 0.35;
      drawLine(paint, hue, 1, [x, middle + 0.5], [x + w, middle + 0.5]);
      paint.globalAlpha = 1;
      continue;
    }
    paint.fillStyle = hue;
    paint.globalAlpha = 0.16;
    paint.fillRect(x + 0.5, y + 2, Math.max(w - 1, 1), size.row - 5);
    paint.globalAlpha = 0.8;
    paint.fillRect(x + 0.5, y + 2, 1, size.row - 5);
    paint.globalAlpha = 1;
    const left = Math.max(x, size.label) + 4, fits = Math.floor((x + w - left - 2) / 6.7), text = fits > 0 ? valueText(group, from) : "";
    if (text.length <= fits || fits > 3) write(paint, shortened(text, fits), left, middle, { letters: DIGITS });
  }
}

const valueText = (group, step) => String(numberAt(step, group.bits, group.signed));

// Draws a cell in one row, with a thin line for each of its bits.
function drawSmall(group, row, first, last) {
  const high = (size.row - 4) / group.bits.length;
  group.bits.forEach((bit, place) => {
    paint.fillStyle = tone(fieldAt(bit).number);
    drawBars(paint, (step) => on(step, bit), first, last, columnOf, now.cell, lineOf(row) + 2 + place * high, Math.max(high, 1));
  });
}

function same(bits, one, other) { // compares whole bytes, as the bits are adjacent
  const from = bits[0], to = bits[bits.length - 1], a = (one - begin) * stride, b = (other - begin) * stride;
  for (let at = from >> 3; at <= to >> 3; at++) {
    let differing = states[a + at] ^ states[b + at];
    if (at === from >> 3) differing &= 0xff >> (from & 7);
    if (at === to >> 3) differing &= 0xff << (7 - (to & 7));
    if (differing) return false;
  }
  return true;
}

function drawWrong(top, bottom, first, last) {
  let budget = 200; // steps with frames: a run that goes wrong usually stays wrong
  paint.strokeStyle = palette.wrong;
  paint.lineWidth = 2;
  for (let step = Math.max(begin + 1, first); step <= last && budget; step++) {
    if (!arrays.wrong[step - 1]) continue;
    budget--;
    const { counts } = matchesAt(step - 1);
    for (let row = top; row <= bottom; row++)
      if (rows[row] >= 0 && (counts[rows[row]] > 0) !== (on(step, rows[row]) === 1))
        paint.strokeRect(columnOf(step) + 1, lineOf(row) + 1, Math.max(now.cell - 1, 2), size.row - 3);
  }
}

// Outlines the block of the bit under the pointer, or of the chosen bit, and the bits its template writes in the next step.
function drawFocus() {
  const { bit, step } = now.hover || { bit: now.bit, step: now.step };
  if (bit < 0) return;
  const block = rules.blockOf[bit], template = templateAt(step, block);
  const outline = (which, at, hue, wide) => {
    const row = rowOfBit.get(which);
    if (row === undefined) return;
    paint.strokeStyle = hue;
    paint.lineWidth = wide;
    paint.strokeRect(columnOf(at) + 0.5, lineOf(row) + 1, Math.max(now.cell, 3), size.row - 3);
  };
  for (const other of bitsOfBlock(block)) outline(other, step, palette.text, other === bit ? 2 : 1.25);
  if (template >= 0 && step < facts.steps) // the next step is shown
    for (const other of rules.writes(template, block)) outline(other, step + 1, palette.accent, 2);
}

function drawLabels(top, bottom) {
  for (let row = top; row <= bottom; row++) {
    const entry = rows[row], y = lineOf(row) + size.row / 2, group = entry < 0 ? groups[-1 - entry] : null, chosen = entry === now.bit;
    const flag = !group && !fieldAt(entry).extents.length && now.group === "name" && !now.query;
    const colour = group ? tone(group.field.number) : flag ? tone(fieldAt(entry).number) : chosen ? palette.text : palette.soft;
    const font = `${group || flag || chosen ? 600 : 400} ${size.row < 15 ? 11 : 12}px`;
    if (group) write(paint, now.folded.has(group.number) ? "▸" : "▾", 6, y, { colour, font });
    write(paint, labelOf(entry), group || flag ? 20 : 24, y, { colour, font, room: size.label - (group ? 26 : 30) });
  }
}

function drawRuler(first, last) {
  const apart = niceStep(56 / now.cell), centre = (step) => columnOf(step) + now.cell / 2, { least } = facts.real, soft = { colour: palette.soft };
  fillBox(paint, palette.paper, 0, 0, size.width, size.ruler);
  within(size.label, 0, () => {
    if (arrays.phase_step) drawPhases(first, last);
    for (let step = Math.ceil(first / apart) * apart; step <= last; step += apart) {
      if (Math.abs(centre(step) - centre(now.step)) < 34) continue;
      const name = grouped(step);
      write(paint, name, Math.min(Math.max(centre(step), size.label + 4 + 3 * name.length), size.width - 4 - 3.5 * name.length), 11, { ...soft, align: "center" });
      fillBox(paint, palette.soft, centre(step), 20, 1, 3);
    }
    if (least && least.step >= first && least.step <= last) write(paint, "▼", centre(least.step), 21, { colour: palette.wrong, align: "center" });
    if (now.step >= first - 1 && now.step <= last + 1) plate(paint, grouped(now.step), centre(now.step), 10.5, { fill: palette.accent, least: size.label + 1, most: size.width - 1 });
  });
  write(paint, "step", 20, 11, soft);
  if (arrays.phase_step) write(paint, "phase", 20, 30, soft);
  fillBox(paint, palette.line, 0, size.ruler - 1, size.width, 1);
}

const phaseTone = (kind) => tone([0, 2, 5, 1, 3][kind % 5]);

function drawPhases(first, last) {
  const { phase_step: steps, phase_kind: kinds } = arrays;
  for (let i = Math.max(0, lastUpTo(steps, first)); i < steps.length && steps[i] <= last; i++) {
    const until = i + 1 < steps.length ? steps[i + 1] : facts.steps + 1;
    const x = columnOf(steps[i]), w = (until - steps[i]) * now.cell, name = facts.computer.phases[kinds[i]];
    paint.fillStyle = phaseTone(kinds[i]);
    paint.globalAlpha = 0.25;
    paint.fillRect(x, 23, w - 1, 14);
    paint.globalAlpha = 1;
    paint.fillRect(x, 23, Math.min(2, w), 14);
    const left = Math.max(x, size.label) + 5;
    if (x + w - left > name.length * 6) write(paint, name, left, 30);
  }
}

function closeness(step) {
  const margin = Math.max(0, arrays.margin[step]); // negative if a network of cells gave a wrong answer
  return facts.real.deviations ? (weightsAt(step).spread > 0 ? margin / weightsAt(step).spread : Infinity) : margin;
}

// A bar for each step if they fit, otherwise the closest of the steps in each column of pixels.
function closenessByPixel(w) {
  const wide = Math.max(1, Math.floor(w - 16)), bars = facts.steps * 8 < wide;
  const heights = new Float64Array(bars ? facts.steps : wide).fill(Infinity);
  let most = 0;
  for (let i = 0; i < heights.length && facts.steps; i++) {
    const from = bars ? i : Math.floor((i * facts.steps) / wide), to = bars ? i : Math.floor(((i + 1) * facts.steps) / wide) - 1;
    for (let step = from; step <= Math.max(from, to); step++) heights[i] = Math.min(heights[i], closeness(step));
    if (Number.isFinite(heights[i])) most = Math.max(most, heights[i]);
  }
  return { w, heights, bars, most: most || 1 };
}

// Draws the whole run: the margins, wrong steps, the step shown, and the visible part.
function drawOverview(first, last) {
  const w = overview.parentElement.clientWidth || 1, h = 46;
  sheet(overview, w, h);
  const at = (step) => 8 + ((step - begin) / Math.max(1, facts.steps - begin)) * (w - 16); // as the slider's thumb moves
  strip.fillStyle = palette.well;
  strip.beginPath();
  strip.roundRect(0, 0, w, h, 5);
  strip.fill();
  fillBox(strip, palette.now, at(first), 0, at(last) - at(first), h);
  if (strong?.w !== w) strong = arrays.margin ? closenessByPixel(w) : { w, heights: [] };
  strip.fillStyle = palette.accent;
  strip.globalAlpha = 0.55;
  strong.heights.forEach((c, i) => {
    if (!Number.isFinite(c)) return;
    const high = Math.max(1, (c / strong.most) * (h - 14));
    if (strong.bars) strip.fillRect(at(i) - 3, h - 3 - high, 6, high);
    else strip.fillRect(8 + i, h - 3 - high, 1, high);
  });
  strip.globalAlpha = 1;
  strip.fillStyle = palette.wrong;
  const wrongs = arrays.wrong;
  for (let step = begin, x = -9; step < wrongs.length; step++)
    if (wrongs[step] && at(step) > x + 1) { x = at(step); strip.fillRect(x, 0, 2, 7); }
  const { least } = facts.real;
  if (least) {
    strip.beginPath();
    const x = at(least.step);
    strip.moveTo(x - 5, 1);
    strip.lineTo(x + 5, 1);
    strip.lineTo(x, 9);
    strip.fill();
    strip.fillRect(x - 0.5, 9, 1, h - 9);
  }
  fillBox(strip, palette.text, at(now.step) - 1, 0, 2, h);
}

function cellAt(event) {
  const { x, y } = pointOn(canvas, event), step = begin + Math.floor((x - size.label + scroller.scrollLeft) / now.cell);
  const row = Math.floor((y - size.ruler + scroller.scrollTop) / size.row);
  const entry = y < size.ruler || row >= rows.length ? null : rows[row];
  return { step: x < size.label || step < begin || step > facts.steps ? null : step, entry, x, y };
}

function reveal(step, bit) {
  const left = (step - begin) * now.cell, room = size.width - size.label;
  if (left < scroller.scrollLeft) scroller.scrollLeft = left - room * 0.2;
  else if (left + now.cell > scroller.scrollLeft + room) scroller.scrollLeft = left - room * 0.8;
  const row = bit === undefined ? undefined : rowOfBit.get(bit);
  if (row === undefined) return;
  const top = row * size.row, height = size.height - size.ruler, spare = 3 * size.row; // some rows around it
  if (top < scroller.scrollTop) scroller.scrollTop = top - spare;
  else if (top + size.row > scroller.scrollTop + height) scroller.scrollTop = top + size.row + spare - height;
}
