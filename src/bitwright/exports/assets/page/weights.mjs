/* Finds a threshold that breaks the current run, and restores it. */

const MOST_COUNTED = 20000; // local states to check immediately after a change

class WeightsView {
  kept = null; // the value before the change

  constructor() {
    hear("restore", "click", () => this.restore());
    hear("weakest", "click", () => this.breakRun());
  }

  change(at, value) {
    const note = element("weight-note"), states = countLocalStates(), across = threshold.length / mostMatches;
    this.kept = { at, value: threshold[at] };
    threshold[at] = value;
    this.changed();
    const before = `T for n = ${Math.floor(at / across) + 1}, column ${(at % across) + 1}, changed from ${grouped(this.kept.value)} to ${grouped(value)}. `;
    if (states > MOST_COUNTED) note.replaceChildren(before, proof.possible ? "Press Prove to count the errors." : "");
    else {
      const { wrong } = (proof.known = proveAll());
      note.replaceChildren(before, make("span.wrong", `${grouped(wrong)} of ${plural(states, STATE)} ${wrong === 1 ? "is" : "are"} wrong now.`));
    }
  }

  restore() {
    this.undo();
    this.changed();
    element("weight-note").textContent = "Restored.";
  }

  undo() {
    threshold[this.kept.at] = this.kept.value;
    this.kept = null;
  }

  changed() {
    element("restore").disabled = !this.kept;
    forgetAnswers();
    proof.forget();
    live.restart(); // the same inputs with the changed network
  }

  /** Changes a threshold that breaks the current run; shows the first wrong state. */
  breakRun() {
    if (this.kept) this.restore();
    player.stop();
    const found = breakingChange();
    if (!found) {
      element("weight-note").textContent = "None of the thresholds tried breaks this run; try other inputs.";
      live.restart();
      return;
    }
    this.change(found.at, found.value);
    player.stop();
    runFromStart(found.steps);
    forgetRun();
    const { step, bits } = live.machine.firstWrong;
    element("weight-note").append(` This run is wrong from step ${grouped(step)} on.${stage.compares && found.result !== found.right ? ` Its result: ${found.result}; without the change: ${found.right}.` : ""}`);
    go(step);
    stage.point?.(bits[0]);
  }
}
