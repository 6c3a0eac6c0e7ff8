/* Changes a threshold so that the run on the screen fails, and restores it. */

const MOST_COUNTED = 20000; // local states that are checked at once after a change

class WeightsView {
  kept = null; // the position and value before the change

  constructor() {
    hear("restore", "click", () => this.restore());
    hear("weakest", "click", () => this.breakRun());
  }

  change(at, value) {
    const note = element("weight-note"), states = countLocalStates(), across = threshold.length / mostMatches;
    this.kept = { at, value: threshold[at] };
    threshold[at] = value;
    this.changed();
    const before = `The threshold T for n = ${Math.floor(at / across) + 1}, column ${(at % across) + 1}, changed from ${grouped(this.kept.value)} to ${grouped(value)}. `;
    if (states > MOST_COUNTED) note.replaceChildren(before, proof.possible ? "Press Prove to count the states that are now wrong." : "");
    else {
      const { wrong } = (proof.known = proveAll());
      note.replaceChildren(before, make("span.wrong", `${grouped(wrong)} of ${plural(states, STATE)} ${wrong === 1 ? "is" : "are"} wrong now.`));
    }
  }

  restore() {
    threshold[this.kept.at] = this.kept.value;
    this.kept = null;
    this.changed();
    element("weight-note").textContent = "The threshold is restored.";
  }

  changed() {
    element("restore").disabled = !this.kept;
    forgetAnswers();
    proof.forget();
    live.restart(); // with the same inputs
  }

  /** Breaks the run on the screen, and shows its first wrong state. */
  breakRun() {
    if (this.kept) this.restore();
    player.stop();
    const change = breakingChange();
    if (!change) {
      element("weight-note").textContent = "No change that was tried breaks this run; try other inputs.";
      live.restart();
      return;
    }
    this.change(change.at, change.value);
    player.stop();
    runFromStart(change.steps);
    forgetRun();
    const { step, bits } = live.machine.firstWrong;
    element("weight-note").append(` This run is wrong from step ${grouped(step)} on.${stage.compares && change.result !== change.right ? ` Its result: ${change.result}; without the change: ${change.right}.` : ""}`);
    go(step);
    stage.point?.(bits[0]);
  }
}
