/* A node program on the graph of this page. Inputs at nodes and edges are typed into boxes, or set by clicking nodes. */

const GUN = "24 22,24 12,13,20,21,34,35 11,15,20,21,34,35 0,1,10,16,20,21 0,1,10,14,16,17,22,24 10,16,24 11,15 12,13"; // of Life, row by row
const GLIDER = [[0, 1], [1, 2], [2, 0], [2, 1], [2, 2]];

const stage = {
  runs: !facts.board,

  open() {
    Object.assign(arrays, { opposite: arrays.opposite ?? null });
    const boxes = [];
    this.boxes = new Map(facts.inputs.map((word) => {
      const hint = word.marks ? `${word.place}s` : word.place === "whole" ? "of the graph" : `${word.place}s: order, *:1 or a:3,b:5`;
      return [word.name, inputBox(boxes, `${word.name} (${hint})`, { id: `input-${word.name}`, value: this.usual(word) }, () => live.restart())];
    }));
    this.markable = facts.inputs.find((word) => word.place === "node" && word.marks);
    for (const box of boxes) box.className = "wide";
    element("inputs").replaceChildren(...boxes);
    const wires = wiresOf(facts.wiring);
    live.use(facts.board ? { ...wires, ending: "steps", steps: Infinity } : wires);
    live.press = (node) => this.press(node);
    live.wrongNodes = () => this.wrongNodes();
    for (const [id, nodes] of Object.entries(this.boards)) if (element(id)) hear(id, "click", () => this.mark(nodes().join(",")));
  },

  usual({ place, marks, one, unique, least }) {
    if (facts.board && marks) return this.boards.glider().join(",");
    return unique ? "order" : marks ? (place === "node" ? facts.names[0] : "") : place === "whole" || one ? least : `*:${least}`;
  },

  /** The nodes that are on, for each button of a board. */
  boards: {
    random: () => facts.names.filter(() => Math.random() < 0.3),
    clear: () => [],
    glider: () => [[1, 1], [Math.floor(facts.rows / 2), Math.floor(facts.columns / 2)], [1, Math.floor((3 * facts.columns) / 4)]]
      .flatMap(([down, right]) => GLIDER.map(([row, column]) => `${(row + down) % facts.rows}.${(column + right) % facts.columns}`)),
    gun: () => GUN.split(" ").flatMap((line, row) => line.split(",").map((column) => `${row + 1}.${Number(column) + 1}`)),
  },

  mark(text) {
    this.boxes.get(this.markable.name).value = text;
    live.restart();
  },

  /** The values of an input, one per node or edge end, or one for the graph; throws a RangeError for invalid ones. */
  values(word) {
    const found = items(this.boxes.get(word.name).value, facts.names), count = countOf(word.place), seen = new Set();
    const keys = (at) => (word.place === "node" ? [facts.names[at]] : endsOf(at).map((ends) => ends.map((node) => facts.names[node]).join("-")));
    const values = range(0, count).map((at) => {
      if (word.place === "whole") return Number(this.boxes.get(word.name).value);
      const own = keys(at), value = valueAt(found, own, word);
      for (const key of own) seen.add(key);
      return value === "" ? NaN : Number(value);
    });
    const strange = word.place === "whole" ? undefined : [...found.keys()].find((key) => key !== "*" && !seen.has(key));
    if (strange !== undefined) throw new RangeError(`${word.name}: the graph has no ${word.place === "node" ? "node" : "edge"} ${strange}.`);
    const wrong = values.find((value) => !Number.isInteger(value) || value < word.least || value > word.most);
    if (wrong !== undefined) throw new RangeError(`${word.name} must be between ${word.least} and ${word.most} at every ${word.place}.`);
    if (word.one && values.filter((value) => value).length !== 1) throw new RangeError(`${word.name} must name exactly one node.`);
    if (word.unique && new Set(values).size < values.length) throw new RangeError(`No two nodes may have the same ${word.name}.`);
    return values;
  },

  start() {
    const state = new Uint8Array(facts.bits), given = [];
    for (const bit of facts.start) state[bit] = 1;
    for (const word of facts.inputs) this.values(word).forEach((value, at) => {
      word.bits.forEach((bit, place) => {
        if (word.way === "place" ? value === place + 1 : Math.floor(value / 2 ** place) % 2 === (word.way === "not" ? 0 : 1)) state[placeOf(bit, at)] = 1;
      });
      if (value > 0) for (const bit of word.reached[at] ?? []) state[bit] = 1;
      if (value > 0 && word === this.markable) given.push(at);
    });
    facts.given = this.markable && !facts.board ? [[this.markable.name, given]] : [];
    return state;
  },

  press(node) {
    if (node >= 0 && this.markable) this.mark(toggled(this.boxes.get(this.markable.name).value, facts.names, facts.names[node], this.markable));
  },

  /** Nodes with wrong bits, their own or at their ends of edges, in the state shown. */
  wrongNodes() {
    const bits = new Set(live.wrongBits.get(now.step)), found = new Set();
    if (bits.size) declared.forEach(({ place }, bit) => {
      for (let at = 0; at < countOf(place); at++) if (bits.has(placeOf(bit, at))) found.add(place === "port" ? arrays.port_node[at] : place === "node" ? at : -1);
    });
    return [...found].filter((node) => node >= 0);
  },

  result: () => JSON.stringify(facts.outputs.map((word) => range(0, countOf(word.place)).map((at) => String(valueOf(word, at, facts.steps))))),
};

/** The ways to name the edge of a port. */
function endsOf(port) {
  const ends = [arrays.port_node[port], arrays.port_far[port]];
  return facts.directed ? [ends] : [ends, [...ends].reverse()];
}
