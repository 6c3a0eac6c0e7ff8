/* What all stages share. A stage has start(), which returns the first state, paint(), and result(), which describes the outcome. */

class BaseStage {
  constructor(app) {
    this.app = app;
    this.ended = ""; // how the run ended
    this.stale = false; // whether what is on the page cannot be run
    this.looksBack = false; // whether states are kept
  }

  /** Goes to the start. Returns false and shows why if start() throws a RangeError. */
  reset() {
    notice();
    try {
      this.app.begin(this.start());
      Object.assign(this, { ended: "", stale: false, following: true });
    } catch (error) {
      if (!(error instanceof RangeError)) throw error;
      this.app.player?.stop();
      notice(error.message);
      this.stale = true;
    }
    return !this.stale;
  }

  /** Makes a change and goes to the start. */
  again(change = () => {}) {
    this.app.player?.stop();
    change();
    this.reset();
    this.app.draw();
  }

  /** One step: "on", or how the run has ended. */
  advance() {
    const { machine } = this.app, before = machine.steps, how = machine.advance();
    this.following = true;
    if (machine.steps > before) this.app.reached();
    return how;
  }

  say(text) {
    element("status").replaceChildren(text, this.app.wrongNote());
  }
}

const ENDINGS = { done: "The run has ended.", limit: "The run did not end within its limit." };

/** An input with a label, added to `boxes`; `changed` is called when its value changes. */
function inputBox(boxes, label, properties, changed, event = "change") {
  const box = make("input", { spellcheck: false, ...properties });
  box.addEventListener(event, changed);
  boxes.push(make("label", label, box));
  return box;
}
