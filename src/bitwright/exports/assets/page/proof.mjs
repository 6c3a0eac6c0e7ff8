/* Runs the proof in slices, so that the page stays responsive. */

const MOST_PROVED = 2 ** 32;
const STATE = facts.network.cells ? "local state" : "state";

class ProofView {
  known = null; // the result for the current network
  total = countLocalStates();
  possible = this.total <= MOST_PROVED;

  constructor() {
    element("proof-about").textContent = facts.network.cells
      ? "All weights are integers, so checking every local state is a proof that every step of every program made of these cells agrees with the rules."
      : "All weights are integers, so checking every state is a proof that every step agrees with the rules.";
    hear("prove", "click", () => this.begin());
    hear("cancel", "click", () => this.end("Cancelled: nothing is proved."));
    if (this.possible) return;
    element("prove").disabled = true;
    element("proof-note").textContent = "There are too many states to check all of them here.";
  }

  begin() {
    const found = nothingFound(), states = localStates();
    element("prove").disabled = true;
    element("cancel").disabled = false;
    const tryNext = () => {
      const { done, value } = states.next();
      if (!done) judge(value, found);
      return !done;
    };
    this.halt = inSlices(tryNext, (more) => {
      if (!more) return this.done(found);
      element("proof-progress").value = found.states / this.total;
      element("proof-note").textContent = `${grouped(found.states)} of ${plural(this.total, STATE)}`;
      return null;
    });
  }

  done(found) {
    const { states, wrong, distance, margin } = (this.known = found);
    live.describe();
    const margins = distance === null ? "" : ` The smallest margin is ${margin.toFixed(3)}: G is at least ${grouped(distance)} from the opposite output.`;
    this.end();
    element("proof-progress").value = 1;
    element("proof-note").replaceChildren(...(wrong
      ? [make("span.wrong", `Refuted: ${grouped(wrong)} of ${plural(states, STATE)} ${wrong === 1 ? "is" : "are"} wrong.`)]
      : [make("span.right", `Proved: all ${plural(states, STATE)} ${states === 1 ? "is" : "are"} right.`), margins]));
    document.documentElement.dataset.proof = JSON.stringify({ states, wrong, distance, margin });
  }

  /** Clears the result after a weight has changed. */
  forget() {
    delete document.documentElement.dataset.proof;
    this.known = null;
    if (this.possible) this.end();
  }

  end(text = "") {
    this.halt?.();
    element("prove").disabled = false;
    element("cancel").disabled = true;
    element("proof-note").textContent = text;
    element("proof-progress").value = 0;
  }
}
