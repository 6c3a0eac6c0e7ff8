/* What all pages share: the machine, the state that is shown, the cell that is chosen; one drawing a frame. */

const app = {
  chosen: 0,
  shownStep: 0,

  /** Another machine: another size, another graph. */
  use(machine) {
    this.machine = machine;
    this.history = new History(machine.wires.bits);
    const first = this.stage?.firstCell?.(machine) ?? machine.bitCell[machine.wires.outputs[0]?.bits[1] ?? 0];
    this.chosen = Math.max(0, Math.min(first, machine.cells - 1));
    this.cells.arrange(machine.wires, machine);
    this.begin(machine.state);
  },

  /** A run begins in this state. */
  begin(state) {
    this.machine.load(state);
    this.history.clear();
    this.keep();
  },

  /** Keeps the state that was just reached, and shows it. */
  keep() {
    this.history.push(this.machine.state);
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

  /** The same inputs again, by the changed network. */
  weightChanged() {
    this.player.stop();
    this.stage.reset();
    this.draw();
  },

  draw() {
    this.frame ??= requestAnimationFrame(() => {
      this.frame = null;
      this.stage.paint();
      this.cells.draw();
      this.chosenView.draw();
    });
  },
};

function start() {
  const { network } = facts;
  byId("about").replaceChildren(
    `One network of width ${grouped(network.width)}${network.cells ? `, asked by every cell; ${plural(kinds, "kind")} of cells` : ", of the whole state"}. When this page was written: `,
    made("b", network.proved ? {} : { class: "is-wrong" }, network.note),
    ".",
  );
  byId("origin").textContent = `Network sha256 ${network.sha256}. ${facts.origin ?? ""} Made by bitwright; nothing leaves this page, and it needs no connection.`;
  app.cells = new CellsView(app);
  app.chosenView = new ChosenView(app);
  byId("proof-about").textContent = network.cells
    ? "The numbers are whole, so trying every local state is a proof: then every step of every program made of these cells is that of the rules."
    : "The numbers are whole, so trying every state is a proof: then every step is that of the rules.";
  app.stage = new Stage(app);
  app.player = new Player(app.stage);
  app.stage.reset();
  app.proof = new ProofView();
  new WeightsView(app);
  followTheme(() => app.draw());
  new ResizeObserver(() => app.draw()).observe(document.body);
  document.documentElement.dataset.ready = "";
}

start();
