/* A node program on a graph that is chosen by its shape, or written as edges. */

const SHOWN = ["path:12", "ring:12", "star:8", "complete:6", "grid:4x6", "board:4x6", "torus:5x5", "random:20,30"];
const LARGEST = 5000; // nodes

class Stage extends BaseStage {
  constructor(app) {
    super(app);
    this.drawing = new GraphDrawing(element("picture"));
    this.form();
    this.use(() => shapeOf(this.shapeBox.value));
    submitted("edges-form", () => this.use(() => writtenGraph(element("edges").value)));
    hear("picture", "click", (event) => this.click(this.drawing.nodeAt(event)));
    const marks = this.markable ? `Click a node to set or clear ${this.markable.name}. ` : "";
    element("picture-help").textContent = `${marks}Shapes: ${SHOWN.join(", ")}.`;
  }

  /** A box for the shape and one for each input. */
  form() {
    const { inputs } = schemaFor(facts.node.most), boxes = [make("datalist", { id: "shapes" }, ...SHOWN.map((value) => make("option", { value })))];
    this.shapeBox = inputBox(boxes, "graph", { id: "shape", value: facts.graph, list: "shapes" }, () => this.use(() => shapeOf(this.shapeBox.value)));
    this.boxes = new Map();
    for (const word of inputs) {
      if (word.place === "port") continue; // the third number of an edge
      const isNode = word.place === "node", isFlag = isNode && word.bits.length === 1, hint = isFlag ? " (nodes)" : isNode ? " (order, or a number for each node)" : "";
      const box = inputBox(boxes, word.name + hint, { id: `input-${word.name}`, value: isFlag ? "0" : isNode ? "order" : "1" }, () => this.again());
      this.boxes.set(word.name, { word, box, isFlag });
    }
    this.markable = inputs.find((word) => word.place === "node" && word.bits.length === 1);
    element("inputs").replaceChildren(...boxes);
  }

  /** Another graph; where it cannot be had, nothing runs until there is one. */
  use(given) {
    this.bad = "";
    this.again(() => {
      try {
        this.build(given());
      } catch (error) {
        if (!(error instanceof RangeError)) throw error;
        this.bad = error.message;
      }
    });
  }

  build(shape) {
    const most = Math.min(facts.node.most, LARGEST);
    if (shape.nodes > most) throw new RangeError(`This page takes graphs of up to ${grouped(most)} nodes.`);
    const schema = schemaFor(shape.nodes), graph = topologyOf(shape.nodes, shape.edges), values = shape.values ?? shape.edges.map(() => 1);
    checkGraph(schema, shape, graph);
    Object.assign(this, { shape, schema, graph, values, wires: graphWires(schema, graph) });
    const [x, y] = [0, 1].map((axis) => layoutOf(shape).map((place) => place[axis])), [from, to] = [0, 1].map((end) => shape.edges.map((ends) => ends[end]));
    this.drawing.use({ x, y, from, to, spacing: 1 });
    element("edges").value = shape.edges.map(([one, other], at) => `${one} ${other}${values[at] === 1 ? "" : ` ${values[at]}`}`).join("\n");
    this.app.use(new Machine(this.wires));
  }

  /** What is in the boxes, as a number for every node, port or the graph. */
  read() {
    const given = {};
    for (const word of this.schema.inputs) {
      if (word.place === "port") given[word.name] = this.graph.portEdge.map((edge) => this.values[edge]);
    }
    for (const [name, { word, box, isFlag }] of this.boxes) {
      const parts = numbersIn(box.value);
      if (isFlag) {
        const bad = parts.find((node) => !Number.isInteger(node) || node < 0 || node >= this.graph.nodes);
        if (bad !== undefined) throw new RangeError(`${name} takes nodes from 0 to ${this.graph.nodes - 1}.`);
        given[name] = range(0, this.graph.nodes).map((node) => (parts.includes(node) ? 1 : 0));
      } else if (word.place === "node") {
        const least = word.positive ? 1 : 0;
        given[name] = box.value.trim() === "order" ? range(least, this.graph.nodes + least) : parts;
        if (given[name].length !== this.graph.nodes) throw new RangeError(`${name} takes the word order, or ${grouped(this.graph.nodes)} numbers.`);
      } else given[name] = [Number(box.value)];
    }
    return given;
  }

  start() {
    if (this.bad) throw new RangeError(this.bad);
    return graphStart(this.schema, this.graph, this.wires, this.read());
  }

  bitName = (bit) => placeName(this.wires, bit, String, this.graph);

  /** The nodes in the box of the input that clicks set. */
  marked() {
    return this.markable ? numbersIn(this.boxes.get(this.markable.name).box.value) : [];
  }

  click(node) {
    if (node < 0) return;
    this.app.choose(Math.max(0, this.wires.cellPlace.findIndex(([where, at]) => where === "node" && at === node)));
    if (!this.markable) return;
    const marked = this.marked(), others = marked.filter((one) => one !== node);
    this.boxes.get(this.markable.name).box.value = (this.markable.one ? [node] : others.length < marked.length ? others : [...marked, node]).join(", ");
    this.again();
  }

  result() {
    return JSON.stringify(this.schema.outputs.map((word) => graphValues(word, this.wires, this.app.machine.state)));
  }

  paint() {
    const { state, steps } = this.app.machine, outputs = this.schema.outputs.map((word) => ({ word, values: graphValues(word, this.wires, state) }));
    this.picture(outputs);
    this.table(outputs);
    this.say(`Step ${grouped(steps)}. ${ENDINGS[this.ended] ?? ""}`);
    element("picture-note").textContent = `${plural(this.graph.nodes, "node")}, ${plural(this.shape.edges.length, "edge")}`;
  }

  /** Edges: wrong ones, those of an output, those that are busy, and the others; nodes in the colour of their first output. */
  picture(outputs) {
    const { drawing, graph } = this, bad = this.app.wrongPlaces(this.wires), flat = (drawing.bottom - drawing.top) / (drawing.right - drawing.left || 1);
    drawing.beginWide((width) => Math.round(Math.min(560, 110 * (drawing.bottom - drawing.top) + 90, Math.max(220, width * Math.min(1, Math.max(0.35, flat))))));
    const main = outputs.find(({ word }) => word.place === "node"), isNumber = main?.word.bits.length > 1;
    const trees = outputs.filter(({ word }) => word.place === "port" && word.bits.length === 1), busy = this.busyAt("port"), lit = this.busyAt("node");
    const edgesOf = (isSo) => [...new Set(graph.portEdge.filter((_, port) => isSo(port)))];
    drawing.lines(this.shape.edges.keys(), palette.edge, 1.2);
    drawing.lines(edgesOf((port) => busy.has(port)), tone(5), 2.5);
    drawing.lines(edgesOf((port) => trees.some(({ values }) => values[port])), tone(1), 3);
    drawing.lines(edgesOf((port) => bad.has(`port ${port}`)), palette.wrong, 4);
    for (let node = 0; node < graph.nodes; node++) {
      const value = main?.values[node] ?? null, has = value !== null && (isNumber || value);
      drawing.node(node, has ? tone(isNumber ? value : 0) : palette.paper, { text: String(has && isNumber ? value : node), name: isNumber && drawing.radius >= 9 ? String(node) : "" });
      if (bad.has(`node ${node}`)) drawing.ring(node, palette.wrong, 3);
      else if (lit.has(node)) drawing.ring(node, tone(5), 2);
    }
    if (this.markable && !this.stale) drawing.given(this.markable.name, this.marked());
    const named = main ? `; ${plural(main.values.filter((value) => value !== null).length, "node has", "nodes have")} a value` : "";
    drawing.canvas.setAttribute("aria-label", `Graph of ${plural(graph.nodes, "node")} and ${plural(this.shape.edges.length, "edge")}${named}`);
  }

  /** Nodes, or ports, in whose cells a bit has just changed. */
  busyAt(where) {
    const { machine } = this.app;
    return new Set(machine.steps ? this.wires.cellPlace.filter(([place], cell) => place === where && machine.isDirty[cell]).map(([, at]) => at) : []);
  }

  table(outputs) {
    const own = outputs.filter(({ word }) => word.place !== "whole"), { firstPort, portFar } = this.graph, table = element("nodes");
    const said = ({ word, values }, node) => {
      if (word.place === "node") return String(values[node] ?? "–");
      const ports = range(firstPort[node], firstPort[node + 1]).filter((port) => values[port]);
      return ports.map((port) => (word.bits.length === 1 ? portFar[port] : `${portFar[port]}: ${values[port]}`)).join(", ") || "–";
    };
    table.tHead.replaceChildren(headRow("node", ...own.map(({ word }) => word.name)));
    table.tBodies[0].replaceChildren(...range(0, Math.min(this.graph.nodes, 300)).map((node) => row(String(node), ...own.map((output) => said(output, node)))));
    const whole = outputs.filter(({ word }) => word.place === "whole");
    element("outputs").replaceChildren(...whole.map(({ word, values }) => make("div", ...terms([[word.name, String(values[0] ?? "–")]]))));
  }
}

const numbersIn = (text) => text.split(/[\s,]+/).filter(Boolean).map(Number);

/** A graph that is written as lines: two numbers of nodes, and a third for the value of the edge. */
function writtenGraph(text) {
  const rows = text.split("\n").map((line) => line.trim()).filter(Boolean).map(numbersIn);
  const bad = rows.findIndex((own) => own.length > 3 || !own.every((value) => Number.isInteger(value) && value >= 0));
  if (bad >= 0) throw new RangeError(`Line ${bad + 1} of the edges must be the numbers of two nodes, and a third for the weight of the edge if it has one.`);
  const edges = rows.filter((own) => own.length > 1), nodes = 1 + Math.max(0, ...rows.flatMap((own) => own.slice(0, 2)));
  return { name: "edges", nodes, edges: edges.map((own) => own.slice(0, 2)), values: edges.map((own) => own[2] ?? 1), columns: nodes };
}

/** Raises a RangeError for a graph that the program is not for. */
function checkGraph(schema, shape, graph) {
  if (schema.requires.includes("simple")) {
    if (shape.edges.some(([one, other]) => one === other)) throw new RangeError("This program is for graphs without loops.");
    const pairs = shape.edges.map(([one, other]) => `${Math.min(one, other)} ${Math.max(one, other)}`);
    if (new Set(pairs).size < pairs.length) throw new RangeError("This program is for graphs with one edge between two nodes.");
  }
  if (schema.requires.includes("connected")) {
    const seen = new Set([0]);
    for (const node of seen) for (let port = graph.firstPort[node]; port < graph.firstPort[node + 1]; port++) seen.add(graph.portFar[port]); // a set grows while it is walked
    if (seen.size < graph.nodes) throw new RangeError("This program is for connected graphs.");
  }
  if (schema.degree !== null) {
    const odd = range(0, graph.nodes).find((node) => graph.firstPort[node + 1] - graph.firstPort[node] !== schema.degree);
    if (odd !== undefined) throw new RangeError(`Every node needs ${schema.degree} edges; node ${odd} has others. A torus of eight neighbours will do.`);
  }
}
