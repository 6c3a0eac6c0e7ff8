/* Bits over time: a row for each bit, a column for each step, as it is made. */

const ROOM = 430; // pixels for all rows

class TraceView {
  constructor(app) {
    this.app = app;
    this.canvas = byId("trace");
    byId("when").addEventListener("input", () => app.look(Number(byId("when").value)));
    this.canvas.addEventListener("click", (event) => this.click(event));
  }

  layout(width) {
    const { bits } = this.app.machine.wires;
    const fields = bandsOf(this.app.machine.wires.fields);
    const gutter = width < 560 ? 74 : 128;
    const gap = fields.length * 5 < ROOM / 3 ? 5 : 0;
    const least = fields.length <= 20 ? 12 : 2;
    const each = Math.min(16, (ROOM - gap * fields.length) / bits); // pixels a row, less than one where there are many
    let y = 0;
    const bands = fields.map((field, at) => {
      const height = Math.max(least, each >= 1 ? Math.floor(each) * field.size : field.size * each);
      y += height + gap;
      return { field, top: y - height - gap, height, each: height / field.size, tone: at };
    });
    return { gutter, bands, height: Math.max(24, Math.ceil(y)) };
  }

  draw() {
    const { history, shownStep, machine, stage } = this.app;
    const wide = Math.max(40, this.canvas.parentElement.clientWidth - paddingOf(this.canvas.parentElement));
    const { gutter, bands, height } = this.layout(wide);
    const { context, width } = fitted(this.canvas, height);
    const look = colours();
    const room = width - gutter;
    const total = machine.wires.ending === "steps" ? machine.wires.steps : Math.max(machine.steps, 40);
    const fit = room / (total + 1);
    const across = Math.min(26, fit >= 2 ? Math.floor(fit) : Math.max(1, fit)); // the whole run, if each step can have a pixel
    const columns = Math.floor(room / across);
    let begin = history.begin;
    if (history.end - begin >= columns) begin = Math.min(Math.max(begin, shownStep - (columns >> 1)), history.end - columns + 1);
    if (stage.following && history.end - begin >= columns) begin = history.end - columns + 1;
    const end = Math.min(history.end, begin + columns - 1);
    this.window = { gutter, across, begin, end };
    context.font = `${width < 560 ? 11 : 12.5}px system-ui, sans-serif`;
    let below = 0; // where the last label ends
    for (const band of bands) {
      context.fillStyle = look.well;
      context.fillRect(gutter, band.top, room, band.height);
      context.fillStyle = look.soft;
      const middle = band.top + Math.min(band.height / 2, 40);
      if (middle - 6 < below) continue;
      below = middle + 7;
      context.fillText(clipped(context, band.field.name, gutter - 8), 0, middle + 4, gutter - 8);
    }
    const wrong = machine.firstWrong;
    if (wrong && wrong.step <= end) {
      const from = gutter + Math.max(0, wrong.step - begin) * across;
      context.fillStyle = look.wrongWell;
      context.fillRect(from, 0, gutter + (end + 1 - begin) * across - from, height);
    }
    const line = across > 5 ? 1 : 0;
    for (let step = begin; step <= end; step++) {
      const packed = history.packed(step);
      const x = gutter + Math.round((step - begin) * across); // whole pixels, also where columns are fractions
      const wide = gutter + Math.round((step - begin + 1) * across) - x;
      for (const { field, top, each, tone } of bands) {
        context.fillStyle = toneOf(tone);
        const tall = Math.max(1, each - (each > 5 ? 1 : 0));
        for (let at = 0; at < field.size; at++) {
          const bit = field.offset + at;
          if ((packed[bit >> 3] >> (bit & 7)) & 1) context.fillRect(x, top + at * each, wide - line, tall);
        }
      }
    }
    if (shownStep >= begin && shownStep <= end) {
      context.strokeStyle = look.text;
      context.lineWidth = 1.5;
      context.strokeRect(gutter + (shownStep - begin) * across - 1, 0.75, across + 1, height - 1.5);
    }
    if (wrong && wrong.step >= begin && wrong.step <= end) {
      context.strokeStyle = look.wrong;
      context.lineWidth = 2.5;
      for (const bit of wrong.bits) {
        const { field, top, each } = bands.find((band) => bit >= band.field.offset && bit < band.field.offset + band.field.size);
        const [wide, tall] = [Math.max(12, across + 4), Math.max(12, each + 4)];
        context.strokeRect(gutter + (wrong.step - begin + 0.5) * across - wide / 2, top + (bit - field.offset + 0.5) * each - tall / 2, wide, tall);
      }
    }
    const slider = byId("when");
    slider.min = history.begin;
    slider.max = history.end;
    slider.value = shownStep;
    byId("when-shown").textContent = grouped(shownStep);
    this.canvas.setAttribute("aria-label", `Trace: ${plural(machine.wires.bits, "bit")} in the steps ${begin} to ${end}`);
    byId("trace-note").textContent = `${plural(machine.wires.bits, "bit")}; steps ${grouped(begin)} to ${grouped(end)}`;
  }

  click(event) {
    const { gutter, across, begin, end } = this.window;
    const step = begin + Math.floor((event.clientX - this.canvas.getBoundingClientRect().left - gutter) / across);
    if (step >= begin && step <= end) this.app.look(step);
  }
}

/** Names that follow each other and differ in their last numbers only are one band: D_keep_0_1, D_keep_0_2. */
function bandsOf(fields) {
  const found = [];
  for (const { name, offset, size } of fields) {
    const stem = fields.length > 20 ? name.replace(/(_\d+)+$/, "") : name;
    if (found.length && found.at(-1).name === stem) found.at(-1).size += size;
    else found.push({ name: stem, offset, size });
  }
  return found;
}

/** A text that fits, with an ellipsis where it does not. */
function clipped(context, text, width) {
  if (context.measureText(text).width <= width) return text;
  let short = text;
  while (short.length > 1 && context.measureText(`${short}\u2026`).width > width) short = short.slice(0, -1);
  return `${short}\u2026`;
}
