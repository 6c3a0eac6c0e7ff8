// The page: ask what there is, run, follow a run to its end or cancel it.

import { ask, element, make, sentence, whole } from "./ask.js";
import { inputValues, keep, kind, program, refused, settled, source, wholeNumber } from "./program.js";
import { results, showRun } from "./results.js";

const ENGINES = {
  templates: "The rules themselves. The trace also says what the limit would put out.",
  limit: "The mean of infinitely wide networks, in closed form: what the certificate here speaks of.",
  kernel: "The same mean by a dense solve with the kernel: the check of the closed form.",
  sampled: "An ensemble drawn from the limiting Gaussian, the same networks all along the run.",
  network: "One small network for all cells of the program, of whole numbers, trained now and tried on all their local states. Several networks, a width or the sign rule ask for networks of the whole state.",
};
const STORE = "bitwright";
let running = null, abandoned = false, known = null;

async function start() {
  results();
  try { known = await ask("GET", "/api/about"); } catch (error) { fail(error.message); return; }
  limits(known.limits, known.version);
  program(known, recalled(), engine);
  for (const id of ["engine", "rounding"]) element(id).addEventListener("input", engine);
  element("setup").addEventListener("submit", (event) => { event.preventDefault(); run(); });
  element("cancel").addEventListener("click", cancel);
  addEventListener("keydown", (event) => {
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) { event.preventDefault(); run(); }
  });
  addEventListener("pagehide", () => {
    remember();
    if (running) fetch(`/api/runs/${running}`, { method: "DELETE", keepalive: true });
  });
  document.documentElement.dataset.ready = "yes";
}

function engine() {
  const chosen = element("engine").value, rounding = element("rounding").value, problem = refused(chosen, rounding);
  element("engine-text").textContent = sentence(problem ?? ENGINES[chosen]);
  element("engine-text").classList.toggle("wrong", problem !== null);
  for (const option of element("engine").options) option.disabled = option.value !== chosen && refused(option.value, rounding) !== null;
  for (const part of document.querySelectorAll("[data-engine]")) part.hidden = !part.dataset.engine.split(" ").includes(chosen);
}

function request() {
  const number = (id, what, least, most) => (element(id).value.trim() ? wholeNumber(element(id).value, what, least, most) : null);
  const asked = { source: source(), inputs: inputValues(), engine: element("engine").value, rounding: element("rounding").value, max_steps: number("max-steps", "the step limit", 0, known.limits.steps) };
  if (["sampled", "network"].includes(asked.engine)) Object.assign(asked, { networks: number("networks", "the number of networks", 1, asked.engine === "network" ? known.limits.members : 1e9) ?? 1, seed: number("seed", "the seed", 0, Number.MAX_SAFE_INTEGER) ?? 0 });
  if (asked.engine === "network") asked.width = number("width", "the width", 1, known.limits.width);
  return asked;
}

async function run() {
  if (running !== null) return;
  running = "";
  abandoned = false;
  fail("");
  busy(true);
  say("");
  remember();
  const which = kind();
  try {
    await settled();
    let job = await ask("POST", "/api/runs", request());
    running = job.id;
    if (abandoned) await ask("DELETE", `/api/runs/${job.id}`);
    while (!abandoned && (job.state === "waiting" || job.state === "running")) {
      doing(job);
      job = await ask("GET", `/api/runs/${job.id}?after=${job.version}`);
    }
    if (abandoned || job.state === "cancelled") say("cancelled");
    else if (job.state === "done") { showRun(job, which); say("done"); reveal(); }
    else { say(""); fail(job.message); }
  } catch (error) {
    say(abandoned ? "cancelled" : "");
    if (!abandoned) fail(error.message);
  } finally {
    running = null;
    busy(false);
  }
}

async function cancel() {
  abandoned = true;
  say("cancelling");
  if (running) try { await ask("DELETE", `/api/runs/${running}`); } catch { /* it is over already */ }
}

// What is going on.

function busy(yes) {
  element("run").hidden = yes;
  element("cancel").hidden = !yes;
  element("progress").hidden = !yes;
  element("progress").removeAttribute("value");
  document.documentElement.dataset.busy = yes ? "yes" : "";
}

function doing(job) {
  const bar = element("progress"), { phase = "", step = 0, limit = 0 } = job.progress ?? {};
  if (limit) { bar.max = limit; bar.value = step; } else bar.removeAttribute("value");
  if (job.state === "waiting") say(job.ahead ? `waiting: ${whole(job.ahead)} before you` : "waiting");
  else say(limit ? `${phase}: step ${whole(step)} of at most ${whole(limit)}` : phase || "starting");
}

const say = (text) => { element("doing").textContent = text; };

function fail(text) {
  element("failure").hidden = !text;
  element("failure").textContent = sentence(text);
}

function reveal() {
  element("title").focus({ preventScroll: true });
  if (matchMedia("(max-width: 900px)").matches) element("results").scrollIntoView();
}

function limits(l, version) {
  const rows = [
    ["a text", `${whole(l.text)} characters`], ["a program", `${whole(l.bits)} bits, ${whole(l.templates)} templates`],
    ["a run", `${whole(l.steps)} steps, ${whole(l.cells)} bits in all steps together`], ["time", `${l.seconds} seconds`],
    ["memory", `${whole(l.memory / 2 ** 20)} MiB`], ["kernel", `${whole(l.kernel)} examples`],
    ["network", `${whole(l.network)} examples, ${l.members} networks of width ${whole(l.width)}`],
  ];
  element("limits").replaceChildren(
    make("p", { textContent: "What this server does for one request. The command line has none of these limits." }),
    make("dl", { className: "facts" }, ...rows.flatMap(([name, text]) => [make("dt", { textContent: name }), make("dd", { textContent: text })])),
    make("p", { className: "soft", textContent: `bitwright ${version}` }));
}

// A reload, or the next visit, finds what was typed.

function remember() {
  try { localStorage.setItem(STORE, JSON.stringify(keep())); } catch { /* a browser that keeps nothing */ }
}

function recalled() {
  try { return JSON.parse(localStorage.getItem(STORE)); } catch { return null; }
}

start();
