/* A node program on a graph that is chosen by its shape, or written as edges. */

class Stage {
  constructor(app) {
    this.app = app;
    this.canvas = byId("picture");
    this.shapeBox = made("input", { id: "shape", value: facts.graph, spellcheck: "false", list: "shapes" });
    this.form();
    this.useShape();
    this.shapeBox.addEventListener("change", () => this.useShape());
    byId("edges-form").addEventListener("submit", (event) => {
      event.preventDefault();
      this.useEdges();
    });
    this.canvas.addEventListener("click", (event) => this.click(event));
    const marks = this.markable ? `Click a node to set or clear ${this.markable.name}. ` : "";
    byId("picture-help").textContent = `${marks}Shapes: path:12, ring:12, star:8, complete:6, grid:4x6, torus:5x5, random:20,30.`;
  }

  /** A box for the shape and one for each input. */
  form() {
    const schema = schemaFor(facts.node.most);
    const list = made("datalist", { id: "shapes" }, ...["path:12", "ring:12", "star:8", "complete:6", "grid:4x6", "torus:5x5", "random:20,30", "random:40,60"].map((value) => made("option", { value })));
    const boxes = [made("label", {}, "graph", this.shapeBox), list];
    this.boxes = new Map();
    for (const word of schema.inputs) {
      if (word.place === "port") continue; // the third number of an edge
      const isFlag = word.place === "node" && word.bits.length === 1;
      const box = made("input", { id: `input-${word.name}`, spellcheck: "false", value: isFlag ? "0" : word.place === "node" ? "order" : "1" });
      box.addEventListener("change", () => this.changed());
      const hint = isFlag ? " (nodes)" : word.place === "node" ? " (order, or a number for each node)" : "";
      boxes.push(made("label", {}, word.name + hint, box));
      this.boxes.set(word.name, { word, box, isFlag });
    }
    this.markable = schema.inputs.find((word) => word.place === "node" && word.bits.length === 1);
    byId("inputs").replaceChildren(...boxes);
  }

  useShape() {
    try {
      const shape = shapeOf(this.shapeBox.value);
      this.build(shape, shape.edges.map(() => 1));
    } catch (error) {
      this.refuseGraph(error);
    }
  }

  useEdges() {
    try {
      const lines = byId("edges").value.split("\n").map((line) => line.trim()).filter(Boolean);
      const rows = lines.map((line) => line.split(/[\s,]+/).map(Number));
      const bad = rows.findIndex((row) => row.length < 1 || row.length > 3 || !row.every((value) => Number.isInteger(value) && value >= 0));
      if (bad >= 0) throw new RangeError(`Line ${bad + 1} of the edges must be the numbers of two nodes, and a third for the weight of the edge if it has one.`);
      const edges = rows.filter((row) => row.length > 1);
      const nodes = 1 + Math.max(0, ...rows.flatMap((row) => row.slice(0, 2)));
      this.build({ name: "edges", nodes, edges: edges.map(([one, other]) => [one, other]), rows: 1, columns: nodes }, edges.map((row) => row[2] ?? 1));
    } catch (error) {
      this.refuseGraph(error);
    }
  }

  /** The graph that is asked for cannot be had; nothing runs until there is one. */
  refuseGraph(error) {
    this.refuse(error);
    this.bad = error.message;
    this.stale = true;
  }

  refuse(error) {
    if (!(error instanceof RangeError)) throw error;
    this.app.player?.stop();
    notice(error.message);
  }

  build(shape, values) {
    if (shape.nodes > Math.min(facts.node.most, 5000)) throw new RangeError(`This page takes graphs of up to ${grouped(Math.min(facts.node.most, 5000))} nodes.`);
    const schema = schemaFor(shape.nodes);
    const graph = topologyOf(shape.nodes, shape.edges);
    checkGraph(schema, shape, graph);
    this.app.player?.stop();
    Object.assign(this, { shape, schema, graph, values, bad: "" });
    this.wires = graphWires(schema, graph);
    this.places = layoutOf(shape);
    byId("edges").value = shape.edges.map(([one, other], at) => `${one} ${other}${values[at] === 1 ? "" : ` ${values[at]}`}`).join("\n");
    this.app.use(new Machine(this.wires));
    this.reset();
    this.draw();
  }

  changed() {
    this.app.player.stop();
    this.reset();
    this.draw();
  }

  /** What is in the boxes, as a number for every node, port or the graph. */
  read() {
    const given = {};
    for (const word of this.schema.inputs) {
      if (word.place === "port") given[word.name] = this.graph.portEdge.map((edge) => this.values[edge]);
    }
    for (const [name, { word, box, isFlag }] of this.boxes) {
      const parts = box.value.split(/[\s,]+/).filter(Boolean);
      if (isFlag) {
        const chosen = parts.map(Number);
        const bad = chosen.find((node) => !Number.isInteger(node) || node < 0 || node >= this.graph.nodes);
        if (bad !== undefined) throw new RangeError(`${name} takes nodes from 0 to ${this.graph.nodes - 1}.`);
        given[name] = range(0, this.graph.nodes).map((node) => (chosen.includes(node) ? 1 : 0));
      } else if (word.place === "node") {
        const least = word.positive ? 1 : 0;
        given[name] = box.value.trim() === "order" ? range(least, this.graph.nodes + least) : parts.map(Number);
        if (given[name].length !== this.graph.nodes) throw new RangeError(`${name} takes the word order, or ${grouped(this.graph.nodes)} numbers.`);
      } else given[name] = [Number(box.value)];
    }
    return given;
  }

  reset() {
    notice(this.bad);
    if (this.bad) return false;
    try {
      this.app.begin(graphStart(this.schema, this.graph, this.wires, this.read()));
      this.ended = "";
      this.stale = false;
      return true;
    } catch (error) {
      this.stale = true;
      this.refuse(error);
      return false;
    }
  }

  advance() {
    const { machine } = this.app;
    const how = machine.advance();
    this.app.shownStep = machine.steps;
    this.app.shown = machine.state;
    return how;
  }

  bitName = (bit) => placeName(this.wires, bit, String, this.graph);

  click(event) {
    const box = this.canvas.getBoundingClientRect();
    const [x, y] = [event.clientX - box.left, event.clientY - box.top];
    const node = this.drawn.findIndex(([nx, ny]) => Math.hypot(x - nx, y - ny) <= this.radius + 4);
    if (node < 0) return;
    this.app.choose(Math.max(0, this.wires.cellPlace.findIndex(([where, at]) => where === "node" && at === node)));
    if (!this.markable) return;
    const { box: input } = this.boxes.get(this.markable.name);
    const chosen = input.value.split(/[\s,]+/).filter(Boolean).map(Number);
    const other = this.markable.one ? [node] : chosen.includes(node) ? chosen.filter((one) => one !== node) : [...chosen, node];
    input.value = other.join(", ");
    this.changed();
  }

  draw() {
    this.app.draw();
  }

  /** What came of the run. */
  result() {
    return JSON.stringify(this.schema.outputs.map((word) => graphValues(word, this.wires, this.app.machine.state)));
  }

  paint() {
    const { machine } = this.app;
    const outputs = this.schema.outputs.map((word) => ({ word, values: graphValues(word, this.wires, machine.state) }));
    this.picture(outputs);
    this.table(outputs);
    const end = { done: "The run has ended.", limit: "The run did not end within its limit." }[this.ended] ?? "";
    byId("status").replaceChildren(
      `Step ${grouped(machine.steps)}. ${end}`,
      this.app.wrongNote(),
    );
    byId("picture-note").textContent = `${plural(this.graph.nodes, "node")}, ${plural(this.shape.edges.length, "edge")}`;
  }

  picture(outputs) {
    const room = Math.max(40, this.canvas.parentElement.clientWidth - paddingOf(this.canvas.parentElement));
    const flat = ["grid", "torus"].includes(this.shape.name) ? this.shape.rows / this.shape.columns : 0.62;
    const height = Math.round(Math.min(560, Math.max(220, room * Math.min(1, Math.max(0.35, flat)))));
    const { context, width } = fitted(this.canvas, height);
    const look = colours();
    const count = this.graph.nodes;
    const radius = Math.max(4, Math.min(18, Math.sqrt((width * height) / count) / 4.2));
    const pad = radius + 6;
    const square = ["grid", "torus", "ring", "complete", "star"].includes(this.shape.name);
    const scale = [width - 2 * pad, height - 2 * pad];
    if (square) {
      const spread = [0, 1].map((axis) => Math.max(...this.places.map((place) => place[axis])) - Math.min(...this.places.map((place) => place[axis])) || 1);
      scale.fill(Math.min(scale[0] / spread[0], scale[1] / spread[1]));
    }
    this.radius = radius;
    this.drawn = this.places.map(([x, y]) => [width / 2 + (x - 0.5) * scale[0], height / 2 + (y - 0.5) * scale[1]]);
    const marked = new Set(outputs.filter(({ word }) => word.place === "port" && word.bits.length === 1).flatMap(({ values }) => values.flatMap((value, port) => (value ? [port] : []))));
    const busy = busyPorts(this.app.machine, this.wires);
    const bad = this.app.wrongPlaces(this.wires);
    this.graph.portEdge.forEach((edge, port) => {
      const [one, other] = [this.graph.portNode[port], this.graph.portFar[port]];
      if (port > this.graph.opposite[port] && !marked.has(port)) return;
      const isTree = marked.has(port) || marked.has(this.graph.opposite[port]);
      const isBusy = busy.has(port) || busy.has(this.graph.opposite[port]);
      const isBad = bad.has(`port ${port}`) || bad.has(`port ${this.graph.opposite[port]}`);
      context.strokeStyle = isBad ? look.wrong : isTree ? look.text : isBusy ? toneOf(1) : look.line;
      context.lineWidth = isBad ? 4 : isTree ? 3 : isBusy ? 2.5 : 1.5;
      context.beginPath();
      context.moveTo(...this.drawn[one]);
      context.lineTo(...this.drawn[other]);
      context.stroke();
    });
    const main = outputs.find(({ word }) => word.place === "node");
    const flags = new Set((this.markable ? this.boxes.get(this.markable.name).box.value : "").split(/[\s,]+/).filter(Boolean).map(Number));
    const lit = busyNodes(this.app.machine, this.wires);
    context.textAlign = "center";
    context.textBaseline = "middle";
    this.drawn.forEach(([x, y], node) => {
      const value = main ? main.values[node] : null;
      const has = value !== null && value !== undefined && (main.word.bits.length > 1 || value);
      context.beginPath();
      context.arc(x, y, radius, 0, 7);
      context.fillStyle = has ? toneOf(main.word.bits.length > 1 ? value : 2) : look.paper;
      context.fill();
      context.lineWidth = flags.has(node) ? 4 : lit.has(node) ? 3 : 1.5;
      context.strokeStyle = flags.has(node) ? look.text : lit.has(node) ? toneOf(1) : look.soft;
      context.stroke();
      if (bad.has(`node ${node}`)) {
        context.beginPath();
        context.arc(x, y, radius + 4, 0, 7);
        context.lineWidth = 3;
        context.strokeStyle = look.wrong;
        context.stroke();
      }
      if (radius >= 9) {
        context.fillStyle = has ? look.paper : look.soft;
        context.font = `600 ${Math.round(radius * 0.86)}px system-ui, sans-serif`;
        context.fillText(has && main.word.bits.length > 1 ? String(value) : String(node), x, y + 0.5);
      }
    });
    const named = main ? `; ${plural(main.values.filter((value) => value !== null).length, "node has", "nodes have")} a value` : "";
    this.canvas.setAttribute("aria-label", `Graph of ${plural(count, "node")} and ${plural(this.shape.edges.length, "edge")}${named}`);
  }

  table(outputs) {
    const own = outputs.filter(({ word }) => word.place !== "whole");
    byId("nodes").tHead.replaceChildren(made("tr", {}, made("th", { scope: "col" }, "node"), ...own.map(({ word }) => made("th", { scope: "col" }, word.name))));
    const rows = range(0, Math.min(this.graph.nodes, 300)).map((node) => {
      const cells = own.map(({ word, values }) => {
        if (word.place === "node") return values[node] ?? "\u2013";
        const ports = range(this.graph.firstPort[node], this.graph.firstPort[node + 1]).filter((port) => values[port]);
        return ports.map((port) => (word.bits.length === 1 ? this.graph.portFar[port] : `${this.graph.portFar[port]}: ${values[port]}`)).join(", ") || "\u2013";
      });
      return made("tr", { "data-node": node }, made("th", { scope: "row" }, String(node)), ...cells.map((text) => made("td", {}, String(text))));
    });
    byId("nodes").tBodies[0].replaceChildren(...rows);
    const whole = outputs.filter(({ word }) => word.place === "whole");
    byId("outputs").replaceChildren(...whole.map(({ word, values }) => made("div", {}, made("dt", {}, word.name), made("dd", {}, String(values[0] ?? "\u2013")))));
  }
}

/** Nodes, or ports, in whose cells a bit has just changed. */
function busyAt(machine, wires, where) {
  const found = new Set();
  wires.cellPlace.forEach(([place, at], cell) => {
    if (machine.steps && place === where && machine.isDirty[cell]) found.add(at);
  });
  return found;
}

const busyNodes = (machine, wires) => busyAt(machine, wires, "node");
const busyPorts = (machine, wires) => busyAt(machine, wires, "port");

/** Raises a RangeError for a graph that the program is not for. */
function checkGraph(schema, shape, graph) {
  if (schema.requires.includes("simple")) {
    if (shape.edges.some(([one, other]) => one === other)) throw new RangeError("This program is for graphs without loops.");
    const pairs = shape.edges.map(([one, other]) => `${Math.min(one, other)} ${Math.max(one, other)}`);
    if (new Set(pairs).size < pairs.length) throw new RangeError("This program is for graphs with one edge between two nodes.");
  }
  if (schema.requires.includes("connected")) {
    const seen = new Set([0]);
    const open = [0];
    while (open.length) {
      const node = open.pop();
      for (let port = graph.firstPort[node]; port < graph.firstPort[node + 1]; port++) {
        if (!seen.has(graph.portFar[port])) {
          seen.add(graph.portFar[port]);
          open.push(graph.portFar[port]);
        }
      }
    }
    if (seen.size < graph.nodes) throw new RangeError("This program is for connected graphs.");
  }
  if (schema.degree !== null) {
    const odd = range(0, graph.nodes).find((node) => graph.firstPort[node + 1] - graph.firstPort[node] !== schema.degree);
    if (odd !== undefined) throw new RangeError(`Every node needs ${schema.degree} edges; node ${odd} has others. A torus of eight neighbours will do.`);
  }
}
