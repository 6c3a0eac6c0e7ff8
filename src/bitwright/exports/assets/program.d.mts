export type Input = {{inputs|names}};
export type Output = {{outputs|names}};
export interface Word<Name extends string> {
  name: Name;
  signed: boolean;
  bits: number[];
}

/** The length of a state: an array of this many numbers, each 0 or 1. */
export declare const bits: number;

/** The maximum number of steps of a run. */
export declare const mostSteps: number;

/** The inputs and outputs; bits are listed lowest first. */
export declare const inputs: ReadonlyArray<Word<Input>>;
export declare const outputs: ReadonlyArray<Word<Output>>;

/** Returns the start state of a run. */
export declare function load(values: Record<Input, bigint | number | string>): Uint8Array;

/** Returns the outputs in a state. */
export declare function read(state: Uint8Array): Record<Output, bigint>;

/** Makes one step: evaluates the network in every cell and writes the next state. */
export declare function step(state: Uint8Array, next: Uint8Array): void;

/** Runs a state to its end in place; returns the number of steps, or -1 if it did not end. */
export declare function run(state: Uint8Array): number;
