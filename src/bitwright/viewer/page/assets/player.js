// What every page does alike: go to a step, play, speak, keep the address, listen to keys; light and dark; and how a page
// starts. A page has go, advance, showStep, draw, spokenText, addressParts, recall, find, keys and canvas.

const slider = element("slider"), tip = element("tip");

// Of a long run not every step is shown: `step` counts those that are, people read the run's own numbers.

const every = facts.every || 1, runSteps = facts.run_steps || facts.steps;
const stepNumber = (step) => (step >= facts.steps ? runSteps : step * every);
const stepShown = (number) => (number >= runSteps ? facts.steps : Math.round(number / every));
const stepText = (step) => whole(stepNumber(step));

function setStep(step) {
  now.step = Math.min(Math.max(0, Math.round(step) || 0), facts.steps);
  slider.value = now.step;
  slider.setAttribute("aria-valuetext", `step ${stepNumber(now.step)} of ${runSteps}`);
  if (document.activeElement !== element("step")) element("step").value = stepNumber(now.step);
}

function changed() { // whatever is new, everything follows
  showStep();
  redraw();
  remember();
  speak();
}

let speaking = 0, remembering = 0;

function speak() { // to screen readers, once things have come to rest
  clearTimeout(speaking);
  if (!now.playing) speaking = setTimeout(() => { element("spoken").textContent = spokenText(); }, 250);
}

// The address: #step=12 and what else differs from the beginning.

function remember() {
  clearTimeout(remembering);
  if (now.playing) return;
  remembering = setTimeout(() => {
    try { history.replaceState(null, "", `#${[`step=${stepNumber(now.step)}`, ...addressParts()].join("&")}`); } catch { /* inside a frame without an address */ }
  }, 200);
}

function asked() {
  try { return new URLSearchParams(location.hash.slice(1)); } catch { return new URLSearchParams(); }
}

const askedStep = () => stepShown(Number(asked().get("step")) || 0);

// Play.

let clock = 0;

function play(start) {
  now.playing = start;
  element("play").textContent = start ? "Pause" : "Play";
  element("play").setAttribute("aria-label", start ? "Pause" : "Play");
  if (!start) { showStep(); remember(); speak(); return; }
  if (now.step >= facts.steps) go(0);
  clock = performance.now();
  requestAnimationFrame(tick);
}

function tick(time) {
  if (!now.playing) return;
  const steps = Math.floor(((time - clock) / 1000) * Number(element("speed").value));
  if (steps > 0) {
    clock += (steps * 1000) / Number(element("speed").value);
    advance(steps);
  }
  if (now.step >= facts.steps) play(false);
  else requestAnimationFrame(tick);
}

// Light and dark.

function theme(choice) {
  if (choice) document.documentElement.dataset.theme = choice;
  readPalette();
  showStep();
  redraw();
}

function toggleTheme() {
  const dark = document.documentElement.dataset.theme
    ? document.documentElement.dataset.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
  theme(dark ? "light" : "dark");
}

// The tip beside the pointer, where it is inside the window.

function placeTip(event, aside) {
  const box = tip.getBoundingClientRect();
  const right = event.clientX + aside + box.width > innerWidth, under = event.clientY + aside + box.height > innerHeight;
  tip.style.left = `${Math.max(4, right ? event.clientX - box.width - aside + 4 : event.clientX + aside)}px`;
  tip.style.top = `${Math.max(4, under ? event.clientY - box.height - aside + 4 : event.clientY + aside)}px`;
}

// Keys work everywhere but in fields that use them themselves.

const stepKeys = {
  ArrowLeft: (e) => go(now.step - (e.shiftKey ? 10 : 1)), ArrowRight: (e) => go(now.step + (e.shiftKey ? 10 : 1)),
  Home: () => go(0), End: () => go(facts.steps), " ": () => play(!now.playing), "/": () => element("search").focus(),
  t: toggleTheme, "?": () => element("help").showModal(),
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
  const action = keys[event.key];
  if (!action) return;
  event.preventDefault();
  action(event);
}

const hear = (id, kind, action) => element(id).addEventListener(kind, action);

function listenToSteps() {
  hear("first", "click", () => go(0));
  hear("back", "click", () => go(now.step - 1));
  hear("next", "click", () => go(now.step + 1));
  hear("last", "click", () => go(facts.steps));
  hear("play", "click", () => play(!now.playing));
  hear("step", "change", (e) => go(stepShown(Number(e.target.value))));
  hear("slider", "input", () => go(Number(slider.value)));
  hear("search", "input", (e) => find(e.target.value));
  hear("theme", "click", toggleTheme);
  hear("help-button", "click", keys["?"]);
  document.addEventListener("keydown", keyDown);
  window.addEventListener("hashchange", recall);
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => theme());
}

// What a page says of a run of which it shows only some steps.

const sampled = () => (every > 1 ? `of ${whole(runSteps)} steps ${whole(facts.steps + 1)} are shown: 0, ${whole(every)}, ${whole(2 * every)}, … and the last` : "");

async function begin(open) {
  try {
    if (typeof DecompressionStream === "undefined")
      throw new Error("This browser is too old for this page; it needs Chrome 99, Firefox 113, Safari 16.4 or later.");
    await decode();
    slider.max = facts.steps;
    element("step").max = runSteps;
    element("steps").textContent = `of ${whole(runSteps)}`;
    readPalette();
    open();
    document.documentElement.dataset.ready = "true";
  } catch (error) {
    element("notice").textContent = error.message;
    element("notice").hidden = false;
  }
}
