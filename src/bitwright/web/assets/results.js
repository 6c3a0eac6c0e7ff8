// What came of a run: numbers, the trace, the certificate, the ensemble size, and all of it as files.

import { element, make, sentence, whole } from "./ask.js";

const TABS = ["trace", "certificate", "size", "files"];
const FILES = {
  "trace.html": "the trace, a page that works offline",
  "certificate.json": "the certificate of the limit; bitwright certify --check proves it again",
  "size.json": "the ensemble size",
  "training-set.npz": "the training set: X, Y and their names",
  "program.bw": "the program as rule text",
  "run.json": "inputs, outputs and figures of this run",
};

export function results() {
  for (const tab of TABS) element(`tab-${tab}`).addEventListener("click", () => turn(tab));
  document.querySelector(".tabs").addEventListener("keydown", (event) => {
    const now = TABS.findIndex((tab) => element(`tab-${tab}`).getAttribute("aria-selected") === "true");
    const next = { ArrowRight: now + 1, ArrowLeft: now + TABS.length - 1, Home: 0, End: TABS.length - 1 }[event.key];
    if (next === undefined) return;
    event.preventDefault();
    turn(TABS[next % TABS.length]);
    element(`tab-${TABS[next % TABS.length]}`).focus();
  });
}

function turn(chosen) {
  for (const tab of TABS) {
    element(`tab-${tab}`).setAttribute("aria-selected", String(tab === chosen));
    element(`tab-${tab}`).tabIndex = tab === chosen ? 0 : -1;
    element(`panel-${tab}`).hidden = tab !== chosen;
  }
}

export function showRun({ id, result, files }, kind) {
  element("empty").hidden = true;
  element("found").hidden = false;
  element("title").textContent = result.title;
  element("facts").textContent = facts(result);
  element("note").hidden = !result.note;
  element("note").textContent = result.note;
  element("outputs").replaceChildren(...Object.entries(result.outputs).map(([name, value]) => {
    const bits = kind === "permutation" ? BigInt(value).toString(2).padStart(result.bits, "0") : value;
    const shown = make("dd", { textContent: bits.length > 60 ? `${bits.slice(0, 57)}…` : bits, title: bits });
    return make("div", { className: bits.length > 16 ? "wide" : "" }, make("dt", { textContent: name }), shown);
  }));
  certificate(result.certificate);
  size(result.size);
  downloads(id, files, result.missing);
  element("trace").src = `/api/runs/${id}/trace.html`;
}

function facts({ steps, engine, rounding, margin, exact, templates, cells }) {
  const parts = [`${whole(templates)} templates`, `${whole(steps)} step${steps === 1 ? "" : "s"}`, `engine ${engine}`];
  if (rounding) parts.push(`${rounding} rounding`);
  if (margin !== null) parts.push(`smallest margin ${margin.toPrecision(3)}`);
  if (exact) parts.push("every output as the rules give it");
  return parts.join(", ") + (cells ? `; ${behind(cells)}` : "");
}

function behind({ kinds, local_states, width, proved, wrong, margin }) {
  const shown = proved ? `proved on all ${whole(local_states)} local states, smallest margin ${margin.toPrecision(3)}`
    : `${whole(local_states)} local states, ${wrong === null ? "too many to try them all beforehand" : `of which ${whole(wrong)} ${wrong === 1 ? "comes" : "come"} out wrong`}`;
  return `one network of width ${whole(width)} for ${whole(kinds)} kind${kinds === 1 ? "" : "s"} of cells, ${shown}`;
}

// As `bitwright certify` prints it, in its words.

const MEANINGS = {
  certified: "Proved of the limit, in interval arithmetic: the mean of two-layer ReLU networks of infinite width, trained on these examples, makes every step of these rules exactly. Of a particular network this says nothing: runs test it, and bitwright certify --network proves it.",
  refuted: "Of the limit: with this rounding some states come out wrong, and one is shown. This run need not meet such a state.",
  "not proved": "Of the limit: with this rounding neither a proof was found nor a state that comes out wrong.",
};

function certificate(c) {
  const panel = element("panel-certificate");
  if (c.problem) { panel.replaceChildren(make("p", { textContent: c.problem })); return; }
  const rows = [
    ["examples", `K = ${whole(c.examples)}${c.padding ? `, ${whole(c.padding)} of them padding` : ", no padding"}`],
    ["matches", `n = ${whole(c.n_min)} to ${whole(c.n_max)}, from ${c.n_source} (${c.n_scope})`],
    ["writers", `at most ${whole(c.writers_max)}, at ${c.writers_bit}`],
    ["margin", `${c.margin_enclosure} at n = ${whole(c.worst_n)}, of a set bit, in units of the output`],
  ];
  if (c.masked_bits) rows.push(["masked", `${whole(c.masked_bits)} bits that nothing writes are fixed to 0`]);
  if (c.fails_from !== null) {
    rows.push(["fails", `at n = ${whole(c.fails_from)}: ${c.fails_bit} where ${whole(c.fails_matches)} of ${whole(c.fails_writers)} writers match`]);
    if (c.witness !== null) rows.push(["state", `on: ${c.witness.slice(0, 12).join(", ") || "no bit"}${c.witness.length > 12 ? ` and ${whole(c.witness.length - 12)} more` : ""}`]);
    rows.push(["proposal", c.proposal]);
  }
  rows.push(["program", c.program_id]);
  const assumed = c.assumption ? `${c.certified ? "" : " even"} assuming ${c.assumption}` : "";
  panel.replaceChildren(
    make("p", { className: c.certified ? "verdict yes" : "verdict no" }, make("strong", { textContent: sentence(c.verdict) }), `${assumed}, the limit, ${c.rounding} rounding`),
    make("p", { className: "soft", textContent: MEANINGS[c.verdict] }),
    make("dl", { className: "facts" }, ...rows.flatMap(([name, text]) => [make("dt", { textContent: name }), make("dd", { textContent: text })])),
  );
}

// As `bitwright size` prints it.

function size(s) {
  const panel = element("panel-size");
  if (s.problem) { panel.replaceChildren(make("p", { textContent: s.problem })); return; }
  const rows = [["sign, Eq. (8)", s.sign], ["sign, tight", s.sign_tight], ["calibrated", s.calibrated]];
  const head = make("tr", {}, ...["rounding", "networks", "decided by"].map((name) => make("th", { scope: "col", textContent: name })));
  panel.replaceChildren(
    make("p", { textContent: `Networks of finite variance to average, for all inputs to come out right except with probability ${s.delta}.` }),
    make("table", { id: "sizes" }, make("thead", {}, head), make("tbody", {}, ...rows.map(([name, found]) => make("tr", {},
      make("th", { scope: "row", textContent: name }),
      make("td", { className: "count", textContent: found.networks === null ? "unbounded" : whole(found.networks) }),
      make("td", { className: "soft", textContent: found.reason }))))),
    make("p", { className: "soft", textContent: `n at most ${whole(s.n_max)}, from ${s.n_source}` }),
  );
}

function downloads(id, files, missing) {
  const rows = Object.entries(FILES).filter(([name]) => name in files).map(([name, what]) => make("li", {},
    make("a", { href: `/api/runs/${id}/${name}?save=true`, download: name, textContent: name }),
    make("span", { className: "soft", textContent: ` ${Math.max(1, Math.round(files[name] / 1024)).toLocaleString("en")} KiB · ${what}` })));
  rows.push(...Object.entries(missing).map(([name, why]) => make("li", { className: "soft", textContent: `${name} is not there: ${why}` })));
  const open = make("a", { href: `/api/runs/${id}/trace.html`, target: "_blank", rel: "noopener", textContent: "Open the trace in a tab of its own" });
  element("panel-files").replaceChildren(make("ul", { className: "files" }, ...rows), make("p", {}, open),
    make("p", { className: "soft", textContent: "The server keeps results for a while only; what you download is yours." }));
}
