/* Plays a run at a given speed, or runs it as fast as possible in slices that keep the page responsive. */

import { element } from "./dom.mjs";

const SLICE = 40; // milliseconds of work before the page is drawn again
const WORDS = { play: ["Play", "Pause"], run: ["Run", "Stop"] };

/** Calls `work()` until it returns false, with breaks that call `between(more)`. Returns a function that stops it. */
export function inSlices(work, between) {
  let timer = 0;
  const slice = () => {
    const until = performance.now() + SLICE;
    let more = true;
    while (more && performance.now() < until) more = work();
    if (more) timer = setTimeout(slice, 0);
    between(more);
  };
  timer = setTimeout(slice, 0);
  return () => clearTimeout(timer);
}

/** The buttons #play and #run. `host` has ready(), speed() in steps per second, advance(steps), which returns false at the end, and changed(). */
export class Player {
  constructor(host) {
    this.host = host;
    this.mode = "idle";
    for (const mode of Object.keys(WORDS)) element(mode)?.addEventListener("click", () => this.toggle(mode));
  }

  toggle(mode) {
    const begins = this.mode !== mode;
    this.stop();
    if (begins && this.host.ready(mode)) {
      this.show(mode);
      if (mode === "run") this.halt = inSlices(() => this.take(1), () => this.host.changed());
      else this.playFrom(performance.now());
    }
    this.host.changed();
  }

  playFrom(clock) {
    const frame = requestAnimationFrame((time) => {
      const late = Math.min(time - clock, 500), steps = Math.max(0, Math.floor((late / 1000) * this.host.speed()));
      if (steps && this.take(steps)) this.host.changed();
      if (this.mode === "play") this.playFrom(time - late + (steps * 1000) / this.host.speed());
    });
    this.halt = () => cancelAnimationFrame(frame);
  }

  /** Takes steps, and stops at the end. Returns whether the run continues. */
  take(steps) {
    const more = this.host.advance(steps);
    if (!more) {
      this.stop();
      this.host.changed();
    }
    return more && this.mode !== "idle";
  }

  stop() {
    this.halt?.();
    this.show("idle");
  }

  show(mode) {
    this.mode = mode;
    document.documentElement.dataset.mode = mode;
    for (const [own, [begin, end]] of Object.entries(WORDS)) if (element(own)) element(own).textContent = own === mode ? end : begin;
  }
}
