// Play, and light and dark: what every page does alike. A page has go, advance, showStep, redraw, remember and speak.

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
