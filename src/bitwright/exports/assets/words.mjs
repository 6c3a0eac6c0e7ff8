/**
 * Writes numbers into a state; throws a RangeError for a missing, unknown or oversized number.
 * @param {ReadonlyArray<{name: string, signed: boolean, bits: ArrayLike<number>}>} words
 * @param {Record<string, bigint | number | string>} values of all words
 * @param {Uint8Array} state is written
 */
function loadWords(words, values, state) {
  for (const name of Object.keys(values)) {
    if (!words.some((word) => word.name === name)) throw new RangeError(`there is no input ${name}`);
  }
  for (const word of words) {
    if (!Object.hasOwn(values, word.name)) throw new RangeError(`input ${word.name} needs a value`);
    const value = BigInt(values[word.name]);
    const size = word.bits.length;
    const pattern = BigInt.asUintN(size, value);
    if ((word.signed ? BigInt.asIntN(size, value) : pattern) !== value) {
      throw new RangeError(`input ${word.name} must fit in ${size} bits`);
    }
    const digits = pattern.toString(2).padStart(size, "0");
    for (let i = 0; i < size; i++) state[word.bits[i]] = digits.charCodeAt(size - 1 - i) & 1;
  }
}

/**
 * The numbers in a state.
 * @param {ReadonlyArray<{name: string, signed: boolean, bits: ArrayLike<number>}>} words
 * @param {Uint8Array} state
 * @returns {Record<string, bigint>}
 */
function readWords(words, state) {
  /** @type {Record<string, bigint>} */
  const found = Object.create(null);
  for (const word of words) {
    const size = word.bits.length;
    const value = BigInt("0b" + Array.from(word.bits, (bit) => state[bit]).reverse().join(""));
    found[word.name] = word.signed ? BigInt.asIntN(size, value) : value;
  }
  return found;
}
