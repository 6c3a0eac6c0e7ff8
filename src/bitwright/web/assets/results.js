// The results of a run: numbers, the trace, the certificate, the ensemble size, and all of it as files.

import { element, grouped, headRow, make, notice, plural, row, sentence, shortened, terms } from "./library/dom.mjs";
import { liveConsole, showConsole } from "./console.js";
import { claimed, kib, liveTraining, showNetwork } from "./network.js";
import { offer } from "./tabs.js";

let live = ""; // the tab that shows the progress
const FILES = {
  "trace.html": "the trace, a page that works offline",
  "certificate.json": "the certificate of the limit; bitwright certify --check proves it again",
  "size.json": "the ensemble size",
  "program.bw": "the program as rule text",
  "output.txt": "what the program printed",
  "memory.dec": "the words of memory at the end",
  "image.dec": "the image: the words of memory at the start",
  "network.safetensors": "the network, for bitwright run --network",
  "network-certificate.json": "its certificate; bitwright certify --network --check tries every state again",
  "network.json": "what was made, and its figures",
  "run.json": "inputs, outputs and figures of this run",
};

const ENDS = {
  limit: "It was stopped at your limit of {}.",
  time: "It did not halt within the time that this page has for a run; it made {}.",
  stopped: "It was stopped after {}, because it had printed more than this page keeps.",
  stuck: "Nothing moves any more after {}, and it has not halted: the engine has lost its way.",
  fault: "It halted after {} at an operand that its dialect does not allow.",
};

// Why a run ended before it halted, and whether something was wrong.

function note({ halted, steps, exact, ended, instructions, wrong }, { max_steps }) {
  if (ended !== undefined) return `${wrong ? `${plural(wrong, "step")} of ${grouped(steps)} differ from what the rules give. ` : ""}${(ENDS[ended] ?? "").replace("{}", plural(instructions, "instruction"))}`;
  if (!halted) return `It did not halt within ${plural(steps, "step")}${steps === max_steps ? ", the step limit" : ""}; what follows is the run so far.`;
  return exact === false ? "This is not what the rules give; use more networks or a wider one." : "";
}

export function showRun({ id, result, files, asked }) {
  const { kind } = asked.source;
  begin(result, note(result, asked));
  element("facts").textContent = facts(result);
  element("outputs").replaceChildren(...Object.entries(result.outputs ?? {}).map(([name, value]) => {
    const bits = kind === "permutation" ? BigInt(value).toString(2).padStart(result.bits, "0") : value;
    const shown = make("dd", { textContent: shortened(bits, 58), title: bits });
    return make("div", { className: bits.length > 16 ? "wide" : "" }, make("dt", name), shown);
  }));
  downloads(id, files);
  if (kind === "subleq") {
    showConsole(result);
    offer("console", "files");
    return;
  }
  certificate(result.certificate);
  size(result.size);
  if (result.nodes) nodes(result.nodes);
  element("trace").title = result.nodes ? "The run on the graph" : "Trace of the run";
  element("trace").src = `api/files/${id}/trace.html`;
  offer(...(result.nodes ? ["trace", "nodes", "certificate", "size", "files"] : ["trace", "certificate", "size", "files"]));
}

let proved = null; // the sha256 of the network that was last trained here and proved

export function showMade({ id, result, files }) {
  proved = result.certificate.certified ? result.sha256 : null;
  begin(result);
  showNetwork(id, result, files);
  downloads(id, files, result.missing);
  offer("network", "files");
}

// During a run: how the error falls, or what the program has printed so far.

export function showLive({ curve, tolerance, console: printed }) {
  if (curve === undefined && printed === undefined) return;
  const tab = curve === undefined ? "console" : "network";
  if (curve === undefined) liveConsole(printed); else liveTraining({ curve, tolerance });
  if (live === tab) return;
  begin({ title: "" });
  live = tab;
  offer(tab);
}

export function clearResults() {
  live = "";
  proved = null;
  element("empty").hidden = false;
  element("found").hidden = true;
  element("trace").removeAttribute("src");
}

function begin({ title }, said = "") {
  live = "";
  element("empty").hidden = true;
  element("found").hidden = false;
  element("title").textContent = title;
  element("outputs").replaceChildren();
  element("facts").textContent = "";
  notice(said, "note");
}

// What every node of a graph put out.

function nodes(rows) {
  const names = Object.keys(Object.values(rows)[0] ?? {});
  element("panel-nodes").replaceChildren(make("table", { id: "nodes" }, make("thead", headRow("node", ...names)),
    make("tbody", ...Object.entries(rows).map(([node, own]) => row(node, ...names.map((name) => own[name] || "–"))))));
}

function facts({ steps, engine, rounding, margin, exact, templates, cells, instructions, wrong, networks = [] }) {
  const parts = [plural(templates, "template"), ...(instructions === undefined ? [] : [plural(instructions, "instruction")]), plural(steps, "step"), `engine ${engine}`];
  if (rounding) parts.push(`${rounding} rounding`);
  if (margin !== null && margin !== undefined) parts.push(`smallest margin ${margin.toPrecision(3)}`);
  if (exact) parts.push("every output as the rules give it");
  if (wrong === 0 && engine !== "templates") parts.push("every step as the rules give it");
  const own = networks.length === 1 && networks[0] === proved ? "; this is the network that you trained and proved" : "";
  return parts.join(", ") + (cells ? `; ${behind(cells)}; ${plural(steps, "step")} taken from these answers${own}` : "");
}

function behind({ kinds, local_states, width, proved, wrong, margin }) {
  const shown = proved ? `proved on all ${grouped(local_states)} local states, smallest margin ${margin.toPrecision(3)}`
    : wrong === null ? `${grouped(local_states)} local states, too many to try them all beforehand`
    : `WRONG in ${grouped(wrong)} of ${grouped(local_states)} local states`;
  return `one network of width ${grouped(width)} for ${plural(kinds, "kind")} of cells, ${shown}`;
}

// As `bitwright certify` prints it, in its words.

const MEANINGS = {
  certified: "Proved of the limit, in interval arithmetic: the mean of two-layer ReLU networks of infinite width, trained on these examples, makes every step of these rules exactly. Of a particular network this says nothing: runs test it, and bitwright certify --network proves it.",
  refuted: "Of the limit: with this rounding some states come out wrong, and one is shown. This run need not meet such a state.",
  "not proved": "Of the limit: with this rounding neither a proof was found nor a state that comes out wrong.",
};

function certificate(c) {
  const panel = element("panel-certificate");
  if (c.problem) { panel.replaceChildren(make("p", c.problem)); return; }
  const rows = [
    ["examples", `K = ${grouped(c.examples)}${c.padding ? `, ${grouped(c.padding)} of them padding` : ", no padding"}`],
    ["matches", `n = ${grouped(c.n_min)} to ${grouped(c.n_max)}, from ${c.n_source} (${c.n_scope})`],
    ["writers", `at most ${grouped(c.writers_max)}, at ${c.writers_bit}`],
    ["margin", `${c.margin_enclosure} at n = ${grouped(c.worst_n)}, of a set bit, in units of the output`],
  ];
  rows.unshift(...claimed(c));
  if (c.masked_bits) rows.push(["masked", `${grouped(c.masked_bits)} bits that nothing writes are fixed to 0`]);
  if (c.fails_from !== null) {
    rows.push(["fails", `at n = ${grouped(c.fails_from)}: ${c.fails_bit} where ${grouped(c.fails_matches)} of ${grouped(c.fails_writers)} writers match`]);
    if (c.witness !== null) rows.push(["state", `on: ${c.witness.slice(0, 12).join(", ") || "no bit"}${c.witness.length > 12 ? ` and ${grouped(c.witness.length - 12)} more` : ""}`]);
    rows.push(["proposal", c.proposal]);
  }
  rows.push(["program", c.program_id]);
  const assumed = c.assumption ? `${c.certified ? "" : " even"} assuming ${c.assumption}` : "";
  panel.replaceChildren(
    make("p.verdict", make(c.certified ? "strong.right" : "strong.wrong", sentence(c.verdict)), `${assumed}, the limit, ${c.rounding} rounding`),
    make("p.soft", MEANINGS[c.verdict]),
    make("dl.facts", ...terms(rows)),
  );
}

// As `bitwright size` prints it.

function size(s) {
  const panel = element("panel-size");
  if (s.problem) { panel.replaceChildren(make("p", s.problem)); return; }
  const rows = [["sign, Eq. (8)", s.sign], ["sign, tight", s.sign_tight], ["calibrated", s.calibrated]];
  panel.replaceChildren(
    make("p", `Networks of finite variance to average, for all inputs to come out right except with probability ${s.delta}.`),
    make("table", { id: "sizes" }, make("thead", headRow("rounding", "networks", "decided by")), make("tbody", ...rows.map(([name, found]) =>
      row(name, make("td.count", found.networks === null ? "unbounded" : grouped(found.networks)), make("td.soft", found.reason))))),
    make("p.soft", `n at most ${grouped(s.n_max)}, from ${s.n_source}`),
  );
}

function downloads(id, files, missing = {}) {
  const rows = Object.keys(files).sort((one, other) => order(one) - order(other)).map((name) => make("li", {},
    make("a", { href: `api/files/${id}/${name}`, download: name, textContent: name }),
    make("span", { className: "soft", textContent: ` ${kib(files[name])}${FILES[name] ? ` · ${FILES[name]}` : ""}` })));
  rows.push(...Object.entries(missing).map(([name, why]) => make("li.soft", `${name} is not there: ${why}`)));
  const open = make("a", { href: `api/files/${id}/trace.html`, target: "_blank", rel: "noopener", textContent: "Open the trace in a tab of its own" });
  element("panel-files").replaceChildren(make("ul.files", ...rows), ...("trace.html" in files ? [make("p", open)] : []),
    make("p.soft", "The server keeps the last results only; what you download is yours."));
}

const order = (name) => (name in FILES ? Object.keys(FILES).indexOf(name) : 100);
