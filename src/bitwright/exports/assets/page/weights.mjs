/* A threshold is found that breaks the run on the screen, and restored. */

const MOST_COUNTED = 20000; // local states that are tried at once after a change

class WeightsView {
  kept = null; // what was there before the change

  constructor() {
    hear("restore", "click", () => this.restore());
    hear("weakest", "click", () => this.breakRun());
  }

  change(at, value) {
    const note = element("weight-note"), states = countLocalStates(), across = threshold.length / mostMatches;
    this.kept = { at, value: threshold[at] };
    threshold[at] = value;
    this.changed();
    const before = `T for n = ${Math.floor(at / across) + 1}, column ${(at % across) + 1}, was ${grouped(this.kept.value)} and is ${grouped(value)}. `;
    if (states > MOST_COUNTED) note.replaceChildren(before, proof.possible ? "Prove counts what is wrong now." : "");
    else {
      const { wrong } = (proof.known = proveAll());
      note.replaceChildren(before, make("span.wrong", `${grouped(wrong)} of ${plural(states, STATE)} ${wrong === 1 ? "is" : "are"} wrong now.`));
    }
  }

  restore() {
    this.undo();
    this.changed();
    element("weight-note").textContent = "As it was.";
  }

  undo() {
    threshold[this.kept.at] = this.kept.value;
    this.kept = null;
  }

  changed() {
    element("restore").disabled = !this.kept;
    forgetAnswers();
    proof.forget();
    live.restart(); // the same inputs, by the changed network
  }

  /** A threshold that breaks the run on the screen; shows the first state that is wrong. */
  breakRun() {
    if (this.kept) this.restore();
    player.stop();
    const found = breakingChange();
    if (!found) {
      element("weight-note").textContent = "No single threshold that was tried breaks this run: give other inputs, and try again.";
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
