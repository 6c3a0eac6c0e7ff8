/* Run, Step, Play, Start over. What a step is, is the stage's to say: `stage.advance()` gives "on", or how it ended. */

const SLICE = 25; // milliseconds of work before the page is drawn again

class Player {
  constructor(stage) {
    this.stage = stage;
    this.mode = "idle";
    byId("inputs").addEventListener("submit", (event) => event.preventDefault()); // Enter presses Run, and goes nowhere
    byId("run").addEventListener("click", () => this.toggle("run"));
    byId("play").addEventListener("click", () => this.toggle("play"));
    byId("step").addEventListener("click", () => {
      this.stop();
      if (this.ready()) this.once();
      stage.draw();
    });
    byId("reset").addEventListener("click", () => {
      this.stop();
      stage.reset();
      stage.draw();
    });
    this.show();
  }

  /** Whether there is something to run; a run that has ended begins again. */
  ready() {
    if (this.stage.stale || this.stage.ended) return this.stage.reset();
    return true;
  }

  toggle(mode) {
    if (this.mode === mode) this.stop();
    else {
      this.stop();
      if (this.ready()) {
        this.mode = mode;
        this.go();
      }
    }
    this.show();
    this.stage.draw();
  }

  stop() {
    clearTimeout(this.timer);
    this.mode = "idle";
    this.show();
  }

  show() {
    byId("run").textContent = this.mode === "run" ? "Stop" : "Run";
    byId("play").textContent = this.mode === "play" ? "Pause" : "Play";
    document.documentElement.dataset.mode = this.mode;
  }

  /** One step; what is over stops. */
  once() {
    const how = this.stage.advance();
    if (how !== "on") {
      this.stage.ended = how;
      this.stop();
    }
    return how === "on";
  }

  go() {
    if (this.mode === "run") {
      const until = performance.now() + SLICE;
      while (this.mode === "run" && performance.now() < until) this.once();
      if (this.mode === "run") this.timer = setTimeout(() => this.go(), 0);
    } else if (this.mode === "play") {
      const each = 1000 / stepsPerSecond();
      const many = Math.max(1, Math.round(16 / each)) * (this.stage.stride ?? 1);
      for (let made = 0; made < many && this.mode === "play"; made++) this.once();
      if (this.mode === "play") this.timer = setTimeout(() => this.go(), Math.max(16, each));
    }
    this.stage.draw();
  }
}

/** From 1 to 1,000. */
function stepsPerSecond() {
  return 10 ** (Number(byId("speed").value) / 33.4);
}
