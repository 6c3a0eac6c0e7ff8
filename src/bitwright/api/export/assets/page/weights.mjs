/* One weight can be changed, and restored. */

const LAYERS = {
  first: { table: first, rows: "Unit", columns: "Example", least: -128, most: 127, across: configuration.length },
  last: { table: last, rows: "Unit", columns: "Port", least: -128, most: 127, across: kindPort[kinds] },
  threshold: { table: threshold, rows: "n", columns: "Column", least: -(2 ** 31), most: 2 ** 31 - 1, across: threshold.length / mostMatches },
};
const MOST_COUNTED = 20000; // local states that are tried at once after a change

class WeightsView {
  constructor(app) {
    this.app = app;
    this.kept = null; // what was there before the change
    element("weights-count").textContent = grouped(first.length + last.length + threshold.length);
    for (const id of ["layer", "weight-row", "weight-column"]) hear(id, "input", () => this.show());
    submitted("weights", () => {
      const typed = element("weight-value").value.trim();
      this.change(this.place(), typed === "" ? NaN : Number(typed));
    });
    hear("restore", "click", () => this.restore());
    hear("weakest", "click", () => this.breakRun());
    element("layer").value = "last";
    this.show();
  }

  /** The layer and the number in its table that the form names; null where there is no such weight. */
  place() {
    const name = element("layer").value, { table, across } = LAYERS[name];
    const row = Number(element("weight-row").value) - 1, column = Number(element("weight-column").value) - 1;
    const inside = [row, column].every(Number.isInteger) && row >= 0 && column >= 0 && column < across && row * across + column < table.length;
    return inside ? { name, at: row * across + column } : null;
  }

  show() {
    const { rows, columns, across, table } = LAYERS[element("layer").value];
    element("row-name").textContent = rows;
    element("column-name").textContent = columns;
    element("weight-row").max = table.length / across;
    element("weight-column").max = across;
    const place = this.place();
    element("weight-value").value = place ? table[place.at] : "";
    element("weight-about").textContent = place ? this.about(place.name, place.at % across) : `There are ${grouped(table.length / across)} rows and ${grouped(across)} columns.`;
  }

  about(name, column) {
    if (name === "last") {
      const kind = lastUpTo(kindPort, column);
      return `Port ${column - kindPort[kind] + 1} of kind ${kind + 1}.`;
    }
    if (name === "first") {
      const block = lastUpTo(blockExample, column), kind = lastUpTo(kindBlock, block);
      const bits = configuration[column].toString(2).padStart(blockBits[block], "0");
      return `Kind ${kind + 1}, block ${block - kindBlock[kind] + 1} is ${[...bits].reverse().join("")}.`;
    }
    return "What a sum must exceed, by how many examples match.";
  }

  change(place, value) {
    const note = element("weight-note"), { table, least, most } = LAYERS[place?.name] ?? {};
    const problem = !place ? "There is no such weight." : !Number.isInteger(value) || value < least || value > most ? `An integer from ${grouped(least)} to ${grouped(most)}, please.` : "";
    if (problem) {
      note.textContent = problem;
      return;
    }
    if (this.kept) this.undo();
    this.kept = { place, value: table[place.at] };
    table[place.at] = value;
    this.changed();
    const states = countLocalStates();
    const before = `${{ first: "A", last: "B", threshold: "T" }[place.name]} was ${grouped(this.kept.value)}, is ${grouped(value)}. `;
    if (states > MOST_COUNTED) note.replaceChildren(before, this.app.proof.possible ? "Prove counts what is wrong now." : "Run it, and see what goes wrong.");
    else {
      const { wrong } = (this.app.proof.known = proveAll());
      note.replaceChildren(before, make("span", { className: wrong ? "wrong" : "right" }, wrong ? `${grouped(wrong)} of ${plural(states, STATE)} ${wrong === 1 ? "is" : "are"} wrong now.` : `All ${plural(states, STATE)} are still right: one weight does little.`));
    }
  }

  restore() {
    this.undo();
    this.changed();
    element("weight-note").textContent = "As it was.";
    this.show();
  }

  undo() {
    const { place, value } = this.kept;
    LAYERS[place.name].table[place.at] = value;
    this.kept = null;
  }

  changed() {
    element("restore").disabled = !this.kept;
    forgetAnswers();
    this.app.proof.forget();
    this.app.machine.again();
    this.app.stage.again(); // the same inputs, by the changed network
  }

  /** A weight that breaks the run on the screen; shows the first state that is wrong. */
  breakRun() {
    const { app } = this;
    if (this.kept) this.restore();
    app.player.stop();
    if (app.stage.stale && !app.stage.reset()) return;
    const found = breakingChange(app.stage);
    if (!found) {
      element("weight-note").textContent = "No single weight that was tried breaks this run: give other inputs, and try again.";
      return;
    }
    const { across } = LAYERS[found.name];
    element("layer").value = found.name;
    element("weight-row").value = Math.floor(found.at / across) + 1;
    element("weight-column").value = (found.at % across) + 1;
    this.show();
    element("weight-value").value = found.value;
    this.change(found, found.value);
    runFromStart(app.stage, found.steps);
    const { step, bits } = app.machine.firstWrong;
    const result = facts.view === "numbers" && found.result !== found.right ? ` Its result: ${found.result}; without the change: ${found.right}.` : "";
    element("weight-note").append(` This run is wrong from step ${grouped(step)} on.${result}`);
    if (app.history.end >= step) app.look(step);
    else runFromStart(app.stage, step);
    app.choose(Math.max(0, app.machine.bitCell[bits[0]]));
  }
}
