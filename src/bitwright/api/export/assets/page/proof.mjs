/* The proof, in slices, so that the page stays awake. */

const MOST_PROVED = 2 ** 32;
const STATE = facts.network.cells ? "local state" : "state";

class ProofView {
  constructor(changed) {
    this.timer = null;
    this.changed = changed; // is called when something is known
    this.known = null; // what was found of the network as it is now
    this.total = countLocalStates();
    byId("prove").addEventListener("click", () => this.begin());
    byId("cancel").addEventListener("click", () => this.end("Cancelled: nothing is proved."));
    this.possible = this.total <= MOST_PROVED;
    if (!this.possible) {
      byId("prove").disabled = true;
      byId("proof-note").textContent = "There are too many states to try all of them here.";
    }
  }

  begin() {
    clearTimeout(this.timer);
    this.found = nothingFound();
    this.states = localStates();
    byId("prove").disabled = true;
    byId("cancel").disabled = false;
    this.timer = setTimeout(() => this.slice(), 0);
  }

  slice() {
    const until = performance.now() + SLICE;
    while (performance.now() < until) {
      const next = this.states.next();
      if (next.done) {
        this.done();
        return;
      }
      judge(next.value, this.found);
    }
    byId("proof-progress").value = this.found.states / this.total;
    byId("proof-note").textContent = `${grouped(this.found.states)} of ${plural(this.total, STATE)}`;
    this.timer = setTimeout(() => this.slice(), 0);
  }

  done() {
    const { states, wrong, distance, margin } = (this.known = this.found);
    this.changed();
    byId("proof-progress").value = 1;
    const margins = distance === null ? "" : ` The smallest margin is ${margin.toFixed(3)}: G is at least ${grouped(distance)} from the other answer.`;
    const verdict = wrong
      ? made("span", { class: "is-wrong" }, `Refuted: ${grouped(wrong)} of ${plural(states, STATE)} ${wrong === 1 ? "is" : "are"} wrong.`)
      : made("span", { class: "is-right" }, `Proved: all ${plural(states, STATE)} ${states === 1 ? "is" : "are"} right.`);
    this.end();
    byId("proof-note").replaceChildren(verdict, wrong ? "" : margins);
    document.documentElement.dataset.proof = JSON.stringify({ states, wrong, distance, margin });
  }

  /** The network is another one now: what was found of it says nothing any more. */
  forget() {
    delete document.documentElement.dataset.proof;
    this.known = null;
    if (!this.possible) return;
    this.end();
    byId("proof-progress").value = 0;
  }

  end(text = "") {
    clearTimeout(this.timer);
    byId("prove").disabled = false;
    byId("cancel").disabled = true;
    byId("proof-note").textContent = text;
    if (text) byId("proof-progress").value = 0;
  }
}
