/* The states of a run, eight bits to a byte; of very long runs the last part. */

const MOST_HISTORY = 64e6; // bytes

class History {
  constructor(bits) {
    this.bits = bits;
    this.bytes = Math.ceil(bits / 8);
    this.most = Math.max(64, Math.floor(MOST_HISTORY / this.bytes));
    this.clear();
  }

  clear() {
    this.begin = 0; // the step of the first state that is kept
    this.states = [];
  }

  get end() {
    return this.begin + this.states.length - 1;
  }

  push(state) {
    const packed = new Uint8Array(this.bytes);
    for (let bit = 0; bit < this.bits; bit++) if (state[bit]) packed[bit >> 3] |= 128 >> (bit & 7);
    this.states.push(packed);
    if (this.states.length <= this.most) return;
    const dropped = this.states.length >> 1;
    this.states.splice(0, dropped);
    this.begin += dropped;
  }

  /** The packed state at a step. */
  packed(step) {
    return this.states[Math.min(Math.max(step, this.begin), this.end) - this.begin];
  }

  /** The state at a step, one bit to a byte. */
  at(step) {
    const packed = this.packed(step);
    return Uint8Array.from({ length: this.bits }, (_, bit) => bitIn(packed, bit));
  }
}
