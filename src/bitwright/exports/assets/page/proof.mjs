/* The proof, in slices that keep the page responsive. */

const MOST_PROVED = 2 ** 32;
const STATE = facts.network.cells ? "local state" : "state";

class ProofView {
  known = null; // the result for the current network
  total = countLocalStates();
  possible = this.total <= MOST_PROVED;

  constructor() {
    element("proof-about").textContent = facts.network.cells
      ? "The network consists of integers, so checking every local state is a proof: if all are correct, every step of every program made of these cells follows the rules."
      : "The network consists of integers, so checking every state is a proof: if all are correct, every step follows the rules.";
    hear("prove", "click", () => this.begin());
    hear("cancel", "click", () => this.end("Cancelled: nothing was proved."));
    if (this.possible) return;
    element("prove").disabled = true;
    element("proof-note").textContent = "There are too many states to check on this page.";
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
    const margins = distance === null ? "" : ` The smallest margin is ${margin.toFixed(3)}: every sum would have to change by at least ${grouped(distance)} to flip a bit.`;
    this.end();
    element("proof-progress").value = 1;
    element("proof-note").replaceChildren(...(wrong
      ? [make("span.wrong", `Refuted: ${grouped(wrong)} of ${plural(states, STATE)} ${wrong === 1 ? "is" : "are"} wrong.`)]
      : [make("span.right", `Proved: all ${plural(states, STATE)} ${states === 1 ? "is" : "are"} correct.`), margins]));
    document.documentElement.dataset.proof = JSON.stringify({ states, wrong, distance, margin });
  }

  /** Forgets the result, because a weight has changed. */
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
