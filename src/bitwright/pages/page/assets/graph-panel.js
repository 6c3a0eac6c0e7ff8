// The panel beside the graph: the legend, the whole graph, and the chosen node with its ports and rules.

const MOST_PORTS = 100, MOST_RULES = 40;

function describeOnce() {
  const parts = [plural(facts.steps, "step"), plural(facts.nodes, "node"), plural(facts.edges, facts.directed ? "directed edge" : "edge"), plural(facts.bits, "bit"), `engine ${facts.engine}`];
  const first = facts.description.split(/(?<=\.)\s/)[0]; // the panel shows all of it
  if (!live) showAbout(first, parts, facts.wrong_steps);
  element("program").textContent = facts.description;
  element("program-box").hidden = first === facts.description;
  element("there").hidden = facts.directed;
  if (!live) element("footer").textContent = `program ${facts.program.slice(0, 16)} · made by bitwright · this page works offline`;
}

function key(hue, text, className = "") {
  const patch = make("i", { className });
  if (hue) patch.style.background = hue;
  return make("span.key", patch, text);
}

function showLegend() {
  const legend = element("legend"), choice = colouring(), mark = marking();
  legend.classList.toggle("square", facts.grid);
  legend.replaceChildren();
  if (choice) legend.append(make("b", `${titleOf(choice)}${now.step === 0 && choice.first ? ", as given" : ""}`), ...keysOf(choice));
  if (mark) legend.append(key("", `${mark.name}${facts.directed ? "" : ", arrows start at the node that has it"}`, "stroke"));
}

function keysOf(choice) {
  const none = choice.where !== null ? [key(palette.line, "no value")] : [];
  if (choice.sort === "number") return [...numberKeys(choice), ...none];
  const counts = new Map(), entries = choice.sort === "flag" ? [1, 0] : choice.occurring;
  for (let node = 0; node < facts.nodes; node++) {
    const value = shadeOf(choice, node, now.step);
    counts.set(value, (counts.get(value) || 0) + 1);
  }
  const words = (value) => choice.sort === "flag" ? (value ? "on" : "off") : choice.flags.filter((_, i) => (value >> i) & 1).join(", ") || "none of them";
  return [...entries.map((value) => key(hueOf(choice, value), `${words(value)}: ${grouped(counts.get(value) || 0)}`)), ...none];
}

function numberKeys(choice) {
  if (!choice.range) return [make("span", "no node has a value in this run")];
  const [low, high] = choice.range;
  if (high - low < 10) return Array.from({ length: high - low + 1 }, (_, i) => key(hueOf(choice, low + i), short(low + i)));
  const bar = key("", short(high), "scale");
  bar.firstChild.style.background = `linear-gradient(to right, ${facts.scale.join(", ")})`;
  bar.prepend(short(low));
  return [bar];
}

const titleOf = (choice) => (choice.group === "some port" ? `some port: ${choice.name}` : choice.name);

const figure = (word, at, step) => make("span.value", `${word.name} = `, make("b", String(valueOf(word, at, step) ?? "none")));
const figuresOf = (node) => facts.outputs.filter((word) => word.place === "node").map((word) => figure(word, node, now.step));
const digits = (values) => [...values].reverse().join("");
const lamp = ({ label, values, any, flag }) => make("span", { className: any ? "lamp is-on" : "lamp" }, make("i"), flag ? label : `${label} ${digits(values)}`);
const chip = ({ label, values, any, flag }) => make("span", { className: any ? "is-on" : "" }, `${label}=${flag ? values[0] : digits(values)}`);

function showStep() {
  lookThrough(colouring());
  const lamps = bitsAt("whole", 0, now.step), words = facts.outputs.filter((word) => word.place === "whole" && (word.bits.length > 1 || word.way));
  element("whole-box").hidden = !lamps.length && !words.length;
  element("whole").replaceChildren(...lamps.map(lamp), ...words.map((word) => figure(word, 0, now.step)));
  showLegend();
  showNode();
  showPorts();
  showRules();
}

function showNode() {
  const node = now.node, panel = element("node");
  if (node < 0) {
    panel.replaceChildren(make("p.soft", "Point at a node, or tap it, to see its bits and ports."));
    return;
  }
  const given = facts.inputs.filter((word) => word.place === "node").map((word) => figure(word, node, 0)), bits = bitsAt("node", node, now.step).map(chip);
  panel.replaceChildren(make("p.node-name", facts.names[node]), make("p", ...figuresOf(node)), make("div.bits", ...bits), make("p.soft", ...(given.length ? ["given: ", ...given] : [])));
  if (arrays.wrong[now.step - 1]) panel.append(make("p.wrong", `This step got ${grouped(arrays.wrong[now.step - 1])} bits of the graph wrong.`));
}

function showPorts() {
  const ports = now.node < 0 ? [] : portsOf(now.node);
  element("ports-box").hidden = !ports.length;
  element("ports-of").textContent = `${grouped(ports.length)}, one for each ${facts.directed ? "outgoing edge" : "edge end"}`;
  const numbers = [...facts.inputs.map((word) => [word, 0]), ...facts.outputs.map((word) => [word, now.step])]
    .filter(([word]) => word.place === "port" && (word.bits.length > 1 || word.way));
  const cell = (port) => {
    if (port < 0) return make("td");
    const texts = [...numbers.map(([word, step]) => `${word.name}=${valueOf(word, port, step) ?? "none"}`), ...namesOn("port", port, now.step)];
    return make("td", ...(texts.length ? texts.map((text) => make("span", text)) : [make("span.soft", "–")]));
  };
  element("ports").tBodies[0].replaceChildren(...ports.slice(0, MOST_PORTS).map((port) => {
    const there = arrays.port_far[port], found = row(facts.names[there], cell(port), ...(arrays.opposite ? [cell(arrays.opposite[port])] : []));
    found.dataset.node = there;
    return found;
  }));
  element("ports-more").textContent = ports.length > MOST_PORTS ? `and ${grouped(ports.length - MOST_PORTS)} more` : "";
}

function showRules() {
  const found = [];
  if (now.node >= 0 && now.step < facts.steps) {
    for (const text of rulesAt("node", now.node, now.step)) found.push(["", text]);
    for (const port of portsOf(now.node).slice(0, MOST_PORTS))
      for (const text of rulesAt("port", port, now.step)) found.push([`to ${facts.names[arrays.port_far[port]]}`, text]);
  }
  element("rules-box").hidden = !found.length;
  element("rules").replaceChildren(...found.slice(0, MOST_RULES).map(([where, text]) => make("p", ...(where ? [make("span.soft", where)] : []), make("code", text))));
}

function describe(node) {
  const choice = colouring(), names = namesOn("node", node, now.step), shade = choice && choice.group !== "outputs" ? `${titleOf(choice)} = ${shadeOf(choice, node, now.step)}` : "";
  const bits = names.length ? names.map((name) => make("span", name)) : [make("span.soft", "no bit is on")];
  return [make("p.node-name", facts.names[node]), make("p", ...figuresOf(node), shade), make("p.bits", ...bits)];
}
