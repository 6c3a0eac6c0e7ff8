/* One weight can be changed, and restored; or one is found that breaks the run. */

const LAYERS = {
  first: { table: first, letter: "A", rows: "Unit", columns: "Example", least: -128, most: 127, across: configuration.length },
  last: { table: last, letter: "B", rows: "Unit", columns: "Port", least: -128, most: 127, across: kindPort[kinds] },
  threshold: { table: threshold, letter: "T", rows: "n", columns: "Column", least: -(2 ** 31), most: 2 ** 31 - 1, across: threshold.length / mostMatches },
};
const MOST_COUNTED = 20000; // local states that are tried at once after a change

class WeightsView {
  kept = null; // what was there before the change

  constructor() {
    element("weights-count").textContent = `One of ${grouped(first.length + last.length + threshold.length)} integers`;
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
    const name = element("layer").value, { table, across } = LAYERS[name], [row, column] = ["weight-row", "weight-column"].map((id) => Number(element(id).value) - 1);
    const inside = [row, column].every(Number.isInteger) && row >= 0 && column >= 0 && column < across && row * across + column < table.length;
    return inside ? { name, at: row * across + column } : null;
  }

  show() {
    const { rows, columns, across, table } = LAYERS[element("layer").value], place = this.place();
    for (const [id, name, most] of [["row", rows, table.length / across], ["column", columns, across]]) {
      element(`${id}-name`).textContent = name;
      element(`weight-${id}`).max = most;
    }
    element("weight-value").value = place ? table[place.at] : "";
    element("weight-about").textContent = place ? this.about(place.name, place.at % across) : `There are ${grouped(table.length / across)} rows and ${grouped(across)} columns.`;
  }

  about(name, column) {
    if (name === "threshold") return "What a sum must exceed, by how many examples match.";
    const block = lastUpTo(blockExample, column), kind = name === "last" ? lastUpTo(kindPort, column) : lastUpTo(kindBlock, block);
    if (name === "last") return `Port ${column - kindPort[kind] + 1} of kind ${kind + 1}.`;
    const bits = configuration[column].toString(2).padStart(blockBits[block], "0");
    return `Kind ${kind + 1}, block ${block - kindBlock[kind] + 1} is ${[...bits].reverse().join("")}.`;
  }

  change(place, value) {
    const note = element("weight-note"), { table, letter, least, most } = LAYERS[place?.name] ?? {};
    note.textContent = !place ? "There is no such weight." : !Number.isInteger(value) || value < least || value > most ? `An integer from ${grouped(least)} to ${grouped(most)}, please.` : "";
    if (note.textContent) return;
    if (this.kept) this.undo();
    this.kept = { place, value: table[place.at] };
    table[place.at] = value;
    this.changed();
    const states = countLocalStates(), before = `${letter} was ${grouped(this.kept.value)}, is ${grouped(value)}. `;
    if (states > MOST_COUNTED) note.replaceChildren(before, proof.possible ? "Prove counts what is wrong now." : "Run it, and see what goes wrong.");
    else {
      const { wrong } = (proof.known = proveAll());
      note.replaceChildren(before, wrong ? make("span.wrong", `${grouped(wrong)} of ${plural(states, STATE)} ${wrong === 1 ? "is" : "are"} wrong now.`) : make("span.right", `All ${plural(states, STATE)} are still right: one weight does little.`));
    }
    live.describe();
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
    proof.forget();
    live.restart(); // the same inputs, by the changed network
  }

  /** A weight that breaks the run on the screen; shows the first state that is wrong. */
  breakRun() {
    if (this.kept) this.restore();
    player.stop();
    const found = breakingChange();
    if (!found) {
      element("weight-note").textContent = "No single threshold that was tried breaks this run: give other inputs, and try again.";
      live.restart();
      return;
    }
    const { across } = LAYERS.threshold;
    element("layer").value = "threshold";
    element("weight-row").value = Math.floor(found.at / across) + 1;
    element("weight-column").value = (found.at % across) + 1;
    this.change({ name: "threshold", at: found.at }, found.value);
    this.show();
    player.stop();
    runFromStart(found.steps);
    forgetRun();
    const { step, bits } = live.machine.firstWrong;
    element("weight-note").append(` This run is wrong from step ${grouped(step)} on.${stage.compares && found.result !== found.right ? ` Its result: ${found.result}; without the change: ${found.right}.` : ""}`);
    go(step);
    stage.point?.(bits[0]);
  }
}
