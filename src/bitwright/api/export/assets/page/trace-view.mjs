/* Bits over time: a row for each bit, a column for each step, as it is made. */

const ROOM = 430; // pixels for all rows

class TraceView {
  constructor(app) {
    this.app = app;
    this.canvas = element("trace");
    hear("when", "input", () => app.look(Number(element("when").value)));
    this.canvas.addEventListener("click", (event) => {
      const { gutter, across, begin, end } = this.window, step = begin + Math.floor((pointOn(this.canvas, event).x - gutter) / across);
      if (step >= begin && step <= end) app.look(step);
    });
  }

  /** A band for each name. */
  layout() {
    const { bits, fields: all } = this.app.machine.wires, fields = bandsOf(all);
    const gap = fields.length * 5 < ROOM / 3 ? 5 : 0, least = fields.length <= 20 ? 12 : 2;
    const each = Math.min(16, (ROOM - gap * fields.length) / bits); // pixels a row, less than one where there are many
    let y = 0;
    const bands = fields.map((field) => {
      const height = Math.max(least, each >= 1 ? Math.floor(each) * field.size : field.size * each);
      y += height + gap;
      return { field, top: y - height - gap, height, each: height / field.size };
    });
    return { bands, height: Math.max(24, Math.ceil(y)) };
  }

  /** Which steps are shown, and how wide: the whole run, if each step can have a pixel. */
  steps(room) {
    const { history, shownStep, machine, stage } = this.app;
    const fit = room / ((machine.wires.ending === "steps" ? machine.wires.steps : Math.max(machine.steps, 40)) + 1);
    const across = Math.min(26, fit >= 2 ? Math.floor(fit) : Math.max(1, fit)), columns = Math.floor(room / across);
    const middle = stage.following ? history.end : shownStep - (columns >> 1);
    const begin = Math.max(history.begin, Math.min(middle, history.end - columns + 1));
    return { across, begin, end: Math.min(history.end, begin + columns - 1) };
  }

  draw() {
    const { history, shownStep, machine } = this.app, width = roomFor(this.canvas), gutter = width < 560 ? 74 : 128, room = width - gutter;
    const { bands, height } = this.layout(), context = sheet(this.canvas, width, height), { across, begin, end } = this.steps(room), wrong = machine.firstWrong;
    this.window = { gutter, across, begin, end };
    const x = (step) => gutter + Math.round((step - begin) * across); // pixels, also where columns are fractions
    let below = 0; // where the last label ends
    for (const { field, top, height: high } of bands) {
      fillBox(context, palette.well, gutter, top, room, high);
      const middle = top + Math.min(high / 2, 40);
      if (middle - 6 < below) continue;
      below = middle + 7;
      write(context, field.name, 0, middle, { colour: palette.soft, font: width < 560 ? "11px" : "12.5px", room: gutter - 8 });
    }
    if (wrong && wrong.step <= end) {
      fillBox(context, palette["wrong-well"], x(Math.max(begin, wrong.step)), 0, x(end + 1) - x(Math.max(begin, wrong.step)), height);
    }
    bands.forEach(({ field, top, each }, band) => {
      context.fillStyle = tone(band);
      for (let at = 0; at < field.size; at++)
        drawBars(context, (step) => bitIn(history.packed(step), field.offset + at), begin, end, x, across, top + at * each, Math.max(1, each - (each > 5 ? 1 : 0)), across > 5 ? 1 : 0);
    });
    const frame = (colour, wide, ...box) => {
      Object.assign(context, { strokeStyle: colour, lineWidth: wide });
      context.strokeRect(...box);
    };
    if (shownStep >= begin && shownStep <= end) frame(palette.text, 1.5, x(shownStep) - 1, 0.75, across + 1, height - 1.5);
    if (wrong && wrong.step >= begin && wrong.step <= end) for (const bit of wrong.bits) {
      const { field, top, each } = bands.find((band) => bit >= band.field.offset && bit < band.field.offset + band.field.size);
      const wide = Math.max(12, across + 4), tall = Math.max(12, each + 4);
      frame(palette.wrong, 2.5, x(wrong.step) + (across - wide) / 2, top + (bit - field.offset + 0.5) * each - tall / 2, wide, tall);
    }
    Object.assign(element("when"), { min: history.begin, max: history.end, value: shownStep });
    element("when-shown").textContent = grouped(shownStep);
    const bits = plural(machine.wires.bits, "bit");
    this.canvas.setAttribute("aria-label", `Trace: ${bits} in the steps ${begin} to ${end}`);
    element("trace-note").textContent = `${bits}; steps ${grouped(begin)} to ${grouped(end)}`;
  }
}

/** Names that follow each other and differ in their last numbers only are one band: D_keep_0_1, D_keep_0_2. */
function bandsOf(fields) {
  const found = [];
  for (const { name, offset, size } of fields) {
    const stem = fields.length > 20 ? name.replace(/(_\d+)+$/, "") : name;
    if (found.at(-1)?.name === stem) found.at(-1).size += size;
    else found.push({ name: stem, offset, size });
  }
  return found;
}
