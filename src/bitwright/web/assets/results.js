// The results of a run or a training: numbers, the trace, reports as on the command line, tables, and files.

import { element, grouped, headRow, make, notice, plural, row, sentence, shortened, terms } from "./library/dom.mjs";
import { plot } from "./plot.js";
import { offer } from "./tabs.js";

const FILES = {
  "trace.html": "the trace: a page that works offline",
  "certificate.json": "the certificate of the limit; bitwright certify --check proves it again",
  "size.json": "the ensemble size",
  "program.bw": "the program as rule text",
  "output.txt": "what the program printed",
  "memory.dec": "memory at the end",
  "image.dec": "the image: memory at the start",
  "network.safetensors": "the network, for bitwright run --network",
  "network-certificate.json": "its certificate; bitwright certify --network --check checks every state again",
  "network.json": "the settings and measurements of the training",
  "run.json": "inputs, outputs and measurements of this run",
};
const FORMS = {
  safetensors: "the network, for bitwright", c: "one C99 file without dependencies", mjs: "a JavaScript module", "d.mts": "the module's types", html: "a page that runs it offline",
};
const ENDS = { // why machine V did not halt
  limit: "The run reached your instruction limit.", time: "The run did not halt within the time limit of this page.",
  stopped: "The run was stopped because it printed more than this page keeps.", stuck: "The state no longer changes, but the machine has not halted: the engine failed.",
};
const WORDS = 4096; // of memory, in its table
let live = ""; // the tab that shows the progress
let proved = null; // the sha256 of the network that was last trained here and proved

export function showRun({ id, result, files, asked }) {
  const { kind } = asked.source, { networks = [], sentences } = result;
  begin(result, note(result, asked));
  const own = networks.length === 1 && networks[0] === proved ? "; this is the network that you trained and proved" : "";
  element("facts").textContent = sentences.join("; ") + own;
  element("outputs").replaceChildren(...Object.entries(result.outputs ?? {}).map(([name, value]) => {
    const bits = kind === "permutation" ? BigInt(value).toString(2).padStart(result.bits, "0") : value;
    return make("div", { className: bits.length > 16 ? "wide" : "" }, make("dt", name), make("dd", { title: bits }, shortened(bits, 58)));
  }));
  downloads(id, files);
  if (kind === "subleq") {
    fill("console", screen(result.console), ...memory(result));
    offer("console", "files");
    return;
  }
  fill("certificate", ...report(result.certificate));
  fill("size", ...report(result.size));
  if (result.nodes) fill("nodes", nodes(result.nodes));
  element("trace").title = result.nodes ? "The run on the graph" : "Trace of the run";
  element("trace").src = `api/files/${id}/trace.html`;
  offer("trace", ...(result.nodes ? ["nodes"] : []), "certificate", "size", "files");
}

export function showMade({ id, result, files }) {
  const { certificate, missing } = result, ending = (name) => name.slice(name.indexOf(".") + 1);
  proved = certificate.certified ? result.sha256 : null;
  begin(result);
  fill("network", ...report(certificate), make("h3", "Download the network"),
    make("div.exports", ...Object.keys(files).filter((name) => ending(name) in FORMS).map((name) =>
      make("a", { className: "button", href: `api/files/${id}/${name}`, download: name }, make("strong", name), make("small", `${FORMS[ending(name)]}, ${kib(files[name])}`)))),
    make("h3", "Training"), plot(result.curve, result.tolerance));
  downloads(id, files, missing);
  offer("network", "files");
}

export function showLive({ curve, tolerance, console: printed }) {
  if (curve === undefined && printed === undefined) return;
  const tab = curve === undefined ? "console" : "network";
  fill(tab, ...(curve === undefined ? [screen(printed)] : [make("h3", "Training"), plot(curve, tolerance)]));
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

function begin({ title }, message = "") {
  live = "";
  element("empty").hidden = true;
  element("found").hidden = false;
  element("title").textContent = title;
  element("outputs").replaceChildren();
  element("facts").textContent = "";
  notice(message, "note");
}

const fill = (tab, ...content) => element(`panel-${tab}`).replaceChildren(...content);

// Why a run ended before it halted, or how it differs from the rules.
function note({ halted, steps, exact, ended, wrong }, { max_steps }) {
  if (ended !== undefined) return `${wrong ? `${plural(wrong, "step")} of ${grouped(steps)} differ from the rules. ` : ""}${ENDS[ended] ?? ""}`;
  if (!halted) return `The run did not halt within ${plural(steps, "step")}${steps === max_steps ? ", the step limit" : ""}; below is the run so far.`;
  return exact === false ? "This result differs from the rules; use more networks or a wider one." : "";
}

// A report as the command line prints it: a headline, and rows of a term and its description.
function report({ problem, report: lines, certified }) {
  if (problem) return [make("p", sentence(problem))];
  const [headline, ...rows] = lines.map((line) => line.trim().split(/ {2,}/));
  const [verdict, rest] = certified === undefined ? ["", headline.join(" ")] : [headline[0].split(": ", 1)[0], headline[0].slice(headline[0].indexOf(": "))];
  return [make("p.verdict", make(certified ? "strong.right" : "strong.wrong", sentence(verdict.toLowerCase())), rest),
    make("dl.facts", ...terms(rows.map(([term, ...found]) => (found.length ? [term, found.join(", ")] : ["", term]))))];
}

function nodes(rows) {
  const names = Object.keys(Object.values(rows)[0] ?? {});
  return make("table", { id: "nodes" }, make("thead", headRow("node", ...names)),
    make("tbody", ...Object.entries(rows).map(([node, own]) => row(node, ...names.map((name) => own[name] || "–")))));
}

const screen = (text) => make("pre.screen", { tabIndex: 0, role: "region", "aria-label": "What the program printed" }, text || make("span.soft", "nothing printed"));

function memory({ memory: words, labels, pc }) {
  const at = new Map(Object.entries(labels).map(([name, address]) => [address, name]));
  const rows = words.slice(0, WORDS).map((word, address) => {
    const found = row(address, at.get(address) ?? "", make("td.number", word));
    found.classList.toggle("here", address === pc);
    return found;
  });
  return [make("details", make("summary", `Memory, ${plural(words.length, "word")}`),
    make("table", { id: "memory" }, make("thead", headRow("address", "label", "word")), make("tbody", ...rows)))];
}

function downloads(id, files, missing = {}) {
  const order = (name) => (name in FILES ? Object.keys(FILES).indexOf(name) : 100);
  const rows = Object.keys(files).sort((one, other) => order(one) - order(other)).map((name) => make("li", {},
    make("a", { href: `api/files/${id}/${name}`, download: name }, name),
    make("span.soft", ` ${kib(files[name])}${FILES[name] ? ` · ${FILES[name]}` : ""}`)));
  rows.push(...Object.entries(missing).map(([name, why]) => make("li.soft", `${name} is missing: ${why}`)));
  const open = make("a", { href: `api/files/${id}/trace.html`, target: "_blank", rel: "noopener" }, "Open the trace in a new tab");
  fill("files", make("ul.files", ...rows), ...("trace.html" in files ? [make("p", open)] : []), make("p.soft", "The server keeps only the latest results; download the files you need."));
}

const kib = (bytes) => `${grouped(Math.max(1, Math.round(bytes / 1024)))} KiB`;
