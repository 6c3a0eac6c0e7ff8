export type Input = {{inputs|names}};
export type Output = {{outputs|names}};
export interface Word<Name extends string> {
  name: Name;
  signed: boolean;
  bits: number[];
}

/** The length of a state: an array of this many numbers, each 0 or 1. */
export declare const bits: number;

/** The most steps of a run. */
export declare const mostSteps: number;

/** The numbers that go in and come out; bits the lowest first. */
export declare const inputs: ReadonlyArray<Word<Input>>;
export declare const outputs: ReadonlyArray<Word<Output>>;

/** The state in which a run starts. */
export declare function load(values: Record<Input, bigint | number | string>): Uint8Array;

/** The outputs that a state holds. */
export declare function read(state: Uint8Array): Record<Output, bigint>;

/** One step: the next state, by what the network says of every cell. */
export declare function step(state: Uint8Array, next: Uint8Array): void;

/** Steps a state to the end of its run, in place: how many steps there were, or -1 if it did not end. */
export declare function run(state: Uint8Array): number;
