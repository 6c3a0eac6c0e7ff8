/** The number of kinds of cells. */
export declare const kinds: number;

/** Returns the examples that a cell of this kind matches, given its blocks' configurations. */
export declare function match(kind: number, configurations: ArrayLike<number>): number[];

/** Computes G for each port of a cell that matches these examples. */
export declare function sums(kind: number, matched: ArrayLike<number>): {{sums}};

/** Returns the network's output for a cell that matches these examples: 0 or 1 for each port of its kind. */
export declare function cell(kind: number, matched: ArrayLike<number>): Uint8Array;
