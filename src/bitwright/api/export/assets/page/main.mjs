/* What all pages share: the machine, the state that is shown, the cell that is chosen; one drawing a frame. */

const app = {
  chosen: 0,
  shownStep: 0,

  /** Another machine: another size, another graph. */
  use(machine) {
    this.machine = machine;
    this.history = new History(machine.wires.bits);
    const first = machine.bitCell[machine.wires.outputs[0]?.bits[1] ?? 0];
    this.chosen = Math.max(0, Math.min(first, machine.cells - 1));
    this.cells.arrange(machine.wires, machine);
    this.begin(machine.state);
  },

  /** A run begins in this state. */
  begin(state) {
    this.machine.load(state);
    this.history.clear();
    this.history.push(state);
    this.show();
  },

  /** Shows the state that was just reached; where one can look back, keeps it. */
  reached() {
    if (this.stage.looksBack) this.history.push(this.machine.state);
    this.show();
  },

  show() {
    this.shownStep = this.machine.steps;
    this.shown = this.machine.state;
  },

  /** Shows the state at an earlier step. */
  look(step) {
    this.player.stop();
    this.shownStep = Math.min(Math.max(step, this.history.begin), this.history.end);
    this.shown = this.shownStep === this.machine.steps ? this.machine.state : this.history.at(this.shownStep);
    this.stage.following = false;
    this.draw();
  },

  choose(cell) {
    this.chosen = cell;
    this.draw();
  },

  /** In the header: what is known of the network as it is now. */
  verdict() {
    const { network } = facts, { kept } = this.weights, { known } = this.proof, wrong = this.machine.firstWrong;
    const run = wrong ? `this run is wrong from step ${grouped(wrong.step)} on` : "";
    const states = known?.wrong ? `${grouped(known.wrong)} of ${plural(known.states, STATE)} ${known.wrong === 1 ? "is" : "are"} wrong` : "";
    const changed = states || run ? `refuted: ${[states, run].filter(Boolean).join("; ")}` : known ? `all ${plural(known.states, STATE)} are still right` : "not proved";
    const isRight = kept ? known && !states && !run : network.proved;
    element("verdict").replaceChildren(kept ? "A weight was changed: " : "When this page was written: ", make("b", isRight ? {} : { className: "wrong" }, kept ? changed : network.note), ".", this.doubt ? make("b", { className: "wrong" }, this.doubt) : "");
    document.querySelector("header").classList.toggle("is-broken", Boolean(kept) && !isRight);
  },

  /** Where the run first went wrong, for the status line. */
  wrongNote() {
    const wrong = this.machine.firstWrong;
    return wrong ? make("span", { className: "wrong" }, ` The network was wrong first in step ${grouped(wrong.step)}: cell ${grouped(wrong.cell + 1)}; ${plural(wrong.bits.length, "bit is not as the rules set it", "bits are not as the rules set them")}.`) : "";
  },

  /** Bits that are wrong in the state that is shown: those of the first wrong state. */
  wrongBits() {
    const wrong = this.machine.firstWrong;
    return wrong && wrong.step === this.shownStep ? wrong.bits : [];
  },

  /** The nodes, ports or the whole of a graph where these bits are: `node 3`. */
  wrongPlaces(wires) {
    const cells = this.wrongBits().map((bit) => this.machine.bitCell[bit]);
    return new Set(cells.filter((cell) => cell >= 0).map((cell) => wires.cellPlace[cell].join(" ")));
  },

  paint() {
    this.verdict();
    this.stage.paint();
    this.cells.draw();
    this.chosenView.draw();
  },
};
app.draw = oncePerFrame(() => app.paint());

/** Whether there is something to run; a run that has ended begins again. */
const ready = () => (app.stage.stale || app.stage.ended ? app.stage.reset() : true);

/** Takes steps until the run ends; whether it goes on. */
function advance(steps) {
  let how = "on";
  for (let taken = 0; taken < steps && how === "on"; taken++) how = app.stage.advance();
  if (how !== "on") app.stage.ended = how;
  return how === "on";
}

function start() {
  const { network } = facts;
  const asked = network.cells ? `, asked by every cell; ${plural(kinds, "kind")} of cells` : ", of the whole state";
  element("about").replaceChildren(`One network of width ${grouped(network.width)}${asked}. `, make("span", { id: "verdict" }));
  element("footer").textContent = `Network sha256 ${network.sha256}. ${facts.origin ?? ""} Made by bitwright; nothing leaves this page, and it needs no connection.`;
  app.cells = new CellsView(app);
  app.chosenView = new ChosenView(app);
  element("proof-about").textContent = network.cells
    ? "The numbers are integers, so trying every local state is a proof: then every step of every program made of these cells is that of the rules."
    : "The numbers are integers, so trying every state is a proof: then every step is that of the rules.";
  element("rules-about").textContent = facts.rules.about;
  element("rules").textContent = facts.rules.lines.join("\n");
  element("rules").hidden = !facts.rules.lines.length;
  app.player = new Player({
    ready, advance: (steps) => advance(app.player.mode === "play" ? steps * (app.stage.stride ?? 1) : steps),
    speed: () => 10 ** (Number(element("speed").value) / 33.4), // from 1 to 1,000
    changed: () => app.draw(),
  });
  submitted("inputs", () => {}); // Enter presses Run
  hear("step", "click", () => {
    app.player.stop();
    if (ready()) advance(1);
    app.draw();
  });
  hear("reset", "click", () => app.stage.again());
  app.stage = new Stage(app);
  app.stage.reset();
  app.proof = new ProofView(() => app.draw());
  app.weights = new WeightsView(app);
  followTheme(() => app.paint());
  new ResizeObserver(() => app.draw()).observe(document.body);
  if (facts.runs) app.player.toggle("run");
  document.documentElement.dataset.ready = "";
}

start();
