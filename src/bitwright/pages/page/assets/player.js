// Shared by the pages of runs: going to a step, playing, announcing steps, the address, keys, and the start.
// A page provides go, advance, showStep, draw, spokenText, addressParts, recall, find, keys, KEYS and canvas.

const slider = element("slider"), tip = element("tip");
const redraw = oncePerFrame(() => draw());
const player = new Player({
  speed: () => Number(element("speed").value),
  ready: (mode) => { if (mode === "play" && atEnd()) go(begin); return live ? live.ready() : true; },
  advance: (steps) => { if (player.mode === "run") live.advance(); else advance(steps); return !atEnd(); },
  changed: () => { if (player.mode !== "play") showSometimes(); },
});

// A run at full speed shows its steps only now and then.
let shownAt = 0, cost = 0; // milliseconds

function showSometimes() {
  const began = performance.now();
  if (player.mode === "run" && began - shownAt < 8 * cost) return;
  go(now.step);
  shownAt = performance.now();
  cost = shownAt - began;
}

const atEnd = () => now.step >= facts.steps && !live?.goesOn;

function setStep(step) {
  if (live) {
    live.reach(step);
    showLength();
  }
  now.step = Math.min(Math.max(begin, Math.round(step) || 0), facts.steps);
  slider.value = now.step;
  slider.setAttribute("aria-valuetext", `step ${now.step} of ${facts.steps}`);
  if (document.activeElement !== element("step")) element("step").value = now.step;
}

function showLength() {
  Object.assign(slider, { min: begin, max: facts.steps });
  element("step").max = facts.steps;
  element("steps").textContent = `of ${grouped(facts.steps)}`;
}

function changed() { // shows everything again
  live?.describe();
  showStep();
  redraw();
  rest();
}

// After a pause, updates the address (#step=12 and the settings that differ from the start) and tells screen readers.
let resting = 0;

function rest() {
  clearTimeout(resting);
  if (player.mode !== "idle") return;
  resting = setTimeout(() => {
    element("spoken").textContent = spokenText();
    try { history.replaceState(null, "", `#${[`step=${now.step}`, ...addressParts()].join("&")}`); } catch { /* in a frame without an address */ }
  }, 200);
}

function address() {
  try { return new URLSearchParams(location.hash.slice(1)); } catch { return new URLSearchParams(); }
}

const addressStep = () => Number(address().get("step")) || 0;

// The tip beside the pointer, inside the window.
function hover(event, target, same, content) {
  if (target === null) { leave(); return; }
  if (!same) {
    now.hover = target;
    tip.replaceChildren(...content());
    tip.hidden = false;
    redraw();
  }
  const box = tip.getBoundingClientRect(), aside = 20;
  const beside = (at, side, room) => `${Math.max(4, at + aside + side > room ? at - side - aside + 4 : at + aside)}px`;
  tip.style.left = beside(event.clientX, box.width, innerWidth);
  tip.style.top = beside(event.clientY, box.height, innerHeight);
}

function leave() {
  if (tip.hidden) return;
  now.hover = null;
  tip.hidden = true;
  redraw();
}

// Keys work everywhere except in fields that use them.
let toggleTheme = () => {};
const stepKeys = {
  ArrowLeft: (e) => go(now.step - (e.shiftKey ? 10 : 1)), ArrowRight: (e) => go(now.step + (e.shiftKey ? 10 : 1)),
  Home: () => go(begin), End: () => go(facts.steps), " ": () => player.toggle("play"), "/": () => element("search").focus(),
  t: () => toggleTheme(), "?": () => element("help").showModal(),
};

function keyDown(event) {
  if (event.ctrlKey || event.metaKey || event.altKey || element("help").open) return;
  const target = event.target, typing = target.matches("select, textarea, input:not([type=range], [type=checkbox])");
  if (target.id === "search" && (event.key === "Escape" || event.key === "Enter")) {
    if (event.key === "Escape") { target.value = ""; find(""); }
    canvas.focus();
    return;
  }
  if (typing || (event.key === " " && target.matches("button, input"))) return;
  if (target === slider && !/^(Arrow(Left|Right)|Home|End)$/.test(event.key) && event.key.length > 1) return;
  if (!keys[event.key]) return;
  event.preventDefault();
  keys[event.key](event);
}

function helpText() {
  const all = [["← →", "one step back or forward"], ["shift ← →", "ten steps"], ["Home End", "first or last step"], ["space", "play or pause"], ...KEYS, ["t", "light or dark theme"]];
  element("help").append(make("h2", "Keys"), make("dl.facts", ...terms(all)), make("p", "The address of this page records what you see; copy it to share the view."),
    make("form", { method: "dialog" }, make("button", "Close")));
  element("help-button").hidden = false;
}

function listen() {
  for (const [id, step] of [["first", () => begin], ["back", () => now.step - 1], ["next", () => now.step + 1], ["last", () => facts.steps]]) hear(id, "click", () => go(step()));
  hear("step", "change", (e) => go(Number(e.target.value)));
  for (const [id, key] of [["narrower", "-"], ["wider", "+"], ["fit", "0"]]) hear(id, "click", () => keys[key]());
  hear("slider", "input", () => go(Number(slider.value)));
  hear("search", "input", (e) => find(e.target.value));
  hear("help-button", "click", keys["?"]);
  document.addEventListener("keydown", keyDown);
  window.addEventListener("hashchange", recall);
  canvas.addEventListener("pointermove", point);
  canvas.addEventListener("pointerleave", leave);
  canvas.addEventListener("click", press);
}

// The header: the run, the steps shown, and errors.
function showAbout(description, parts, wrong) {
  const about = element("about");
  about.textContent = `${description ? `${description.replace(/\.*$/, "")}. ` : ""}${parts.join(" · ")}`;
  if (!facts.halted) about.append(" · ", make("span.wrong", "did not halt within its step limit"));
  if (wrong) about.append(" · ", make("span.wrong", `${plural(wrong, "step differs", "steps differ")} from the rules`));
}

async function openPage(open) {
  try {
    if (typeof DecompressionStream === "undefined")
      throw new Error("This browser is too old for this page; it needs Chrome 99, Firefox 113, Safari 16.4 or later.");
    if (facts.arrays) await decode();
    showLength();
    helpText();
    open();
    listen();
    toggleTheme = followTheme(() => { showStep(); draw(); });
    recall();
    if (live && stage.runs) player.toggle("run");
    document.documentElement.dataset.ready = "true";
  } catch (error) {
    notice(error.message);
  }
}
