// The page: starts, and follows a run or a training to its end or cancels it.

import { ask } from "./ask.js";
import { element, grouped, hear, notice, sentence, submitted } from "./library/dom.mjs";
import { graphEditor, showGraph } from "./graph.js";
import { entries, given, kind, number, program, refused, restore, settled, soon, source } from "./program.js";
import { clearResults, showLive, showMade, showRun } from "./results.js";
import { tabs } from "./tabs.js";
import { followTheme } from "./library/theme.mjs";

const ENGINES = {
  templates: "The rules themselves. The trace also shows the outputs of the limit.",
  limit: "The mean of infinitely wide networks, in closed form. The certificate here is about this engine.",
  sampled: "An ensemble drawn from the limiting Gaussian; the same networks take every step of the run.",
  network: "A small integer network for all cells of the program, trained now and checked in every local state. The rounding applies to the certificate only.",
};
const STORE = "bitwright entries"; // in localStorage, for the next visit
let running = null, known = null; // cancels the current job; what the server offers

async function start() {
  followTheme(showGraph);
  tabs();
  try { known = await ask("api/about"); } catch (error) { fail(error.message); return; }
  graphEditor(soon);
  program(known, engine, changed);
  try { restore(JSON.parse(localStorage.getItem(STORE))); } catch { /* the first visit */ }
  for (const id of ["engine", "rounding"]) element(id).addEventListener("input", engine);
  submitted("setup", run);
  hear("setup", "input", () => { if (running === null) fail(""); }); // the failure was about other settings
  hear("train", "click", train);
  hear("cancel", "click", () => running.abort());
  addEventListener("keydown", (event) => {
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) { event.preventDefault(); run(); }
  });
  addEventListener("pagehide", remember);
  document.documentElement.dataset.ready = "yes";
}

function engine() {
  const chosen = element("engine").value, rounding = element("rounding").value, problem = refused(chosen, rounding);
  element("engine-text").textContent = sentence(problem ?? ENGINES[chosen]);
  element("engine-text").classList.toggle("wrong", problem !== null);
  for (const option of element("engine").options) option.disabled = option.value !== chosen && refused(option.value, rounding) !== null;
  for (const part of document.querySelectorAll("[data-engine]")) part.hidden = !part.dataset.engine.split(" ").includes(chosen);
  const single = ["subleq", "nodes"].includes(kind());
  for (const option of element("network-tile").options) option.disabled = single && option.value !== "1";
  if (single) element("network-tile").value = "1";
}

// Results and jobs of an earlier program are dropped.
function changed() {
  running?.abort();
  say("");
  clearResults();
}

function request() {
  const asked = { ...given(), engine: element("engine").value, rounding: element("rounding").value };
  if (kind() === "subleq") asked.max_instructions = number("max-instructions", "the instruction limit", 0, 1e12);
  else asked.max_steps = number("max-steps", "the step limit", 0, known.limits.steps) ?? known.limits.steps;
  if (["sampled", "network"].includes(asked.engine)) asked.seed = number("seed", "the seed", 0, Number.MAX_SAFE_INTEGER) ?? 0;
  if (asked.engine === "sampled") asked.networks = number("networks", "the number of networks", 1, 1e9) ?? 1;
  if (asked.engine === "network") asked.width = number("width", "the width", 1, known.limits.width);
  return possible(asked, asked.engine, asked.rounding);
}

const run = () => follow("api/run", request, showRun);

const tile = () => (element("network-tile").value === "all" ? "all" : Number(element("network-tile").value));

const train = () => follow("api/train", () => possible({
  source: source(), tile: tile(), seed: number("network-seed", "the seed", 0, Number.MAX_SAFE_INTEGER) ?? 0, width: number("network-width", "the width", 1, known.limits.width),
}, "network", "calibrated", tile()), made);

function possible(asked, ...choice) {
  const problem = refused(...choice);
  if (problem !== null) throw new Error(problem);
  return asked;
}

/** Shows a trained network and selects it for the next run: the same seed gives the same network. */
function made(job) {
  showMade(job);
  const { tile: trained, seed } = job.result;
  if (trained !== 1 || element("network-width").value.trim() || refused("network", "calibrated") !== null) return;
  for (const [id, value] of [["engine", "network"], ["rounding", "calibrated"], ["width", ""], ["seed", String(seed)]]) element(id).value = value;
  engine();
}

async function follow(path, request, show) {
  if (running !== null) return;
  const mine = running = new AbortController();
  fail("");
  busy(true);
  say("");
  remember();
  try {
    await settled();
    const body = request();
    mine.signal.throwIfAborted();
    show({ ...await ask(path, body, { signal: mine.signal, progress: doing }), asked: body });
    say("done");
    reveal();
  } catch (error) {
    say(error.name === "AbortError" ? "cancelled" : "");
    if (error.name !== "AbortError") fail(error.message);
  } finally {
    running = null;
    busy(false);
  }
}

function busy(yes) {
  element("run").hidden = yes;
  element("train").disabled = yes;
  element("cancel").hidden = !yes;
  element("progress").hidden = !yes;
  element("progress").removeAttribute("value");
  document.documentElement.dataset.busy = yes ? "yes" : "";
}

function doing({ phase, step, limit, shown }) {
  const bar = element("progress"), unit = shown.unit ?? "step";
  if (limit) { bar.max = limit; bar.value = step; } else bar.removeAttribute("value");
  say(limit ? `${phase}: ${unit} ${grouped(step)} of at most ${grouped(limit)}` : step ? `${phase}: ${grouped(step)} ${unit}s` : phase);
  showLive(shown);
}

const say = (text) => { element("doing").textContent = text; };

const fail = (text) => notice(sentence(text), "failure");

function reveal() {
  element("title").focus({ preventScroll: true });
  if (matchMedia("(max-width: 900px)").matches) element("results").scrollIntoView();
}

function remember() {
  try { localStorage.setItem(STORE, JSON.stringify(entries())); } catch { /* storage is disabled */ }
}

start();
