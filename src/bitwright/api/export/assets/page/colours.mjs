/* Colours come from the style sheet, so that pictures follow the theme. */

const TONES = 7;
let palette = null;

function colours() {
  if (!palette) {
    const style = getComputedStyle(document.documentElement);
    const read = (name) => style.getPropertyValue(`--${name}`).trim();
    palette = {
      paper: read("paper"), well: read("well"), line: read("line"), text: read("text"), soft: read("soft"),
      off: read("off"), wrong: read("wrong"), wrongWell: read("wrong-well"), accent: read("accent"),
      tones: Array.from({ length: TONES }, (_, at) => read(`tone-${at}`)),
    };
  }
  return palette;
}

const toneOf = (number) => colours().tones[number % TONES];

/** Dark, light, or as the system has it, until the button is used. */
function followTheme(changed) {
  const system = window.matchMedia("(prefers-color-scheme: dark)");
  let own = null;
  const apply = () => {
    const dark = own ?? system.matches;
    document.documentElement.dataset.theme = dark ? "dark" : "light";
    byId("theme").textContent = dark ? "Light" : "Dark";
    byId("theme").setAttribute("aria-pressed", String(dark));
    byId("theme").setAttribute("aria-label", dark ? "Use light colours" : "Use dark colours");
    palette = null;
    changed();
  };
  system.addEventListener("change", apply);
  byId("theme").addEventListener("click", () => {
    own = !(own ?? system.matches);
    apply();
  });
  apply();
}
