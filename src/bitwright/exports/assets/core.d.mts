/** How many kinds of cells there are. */
export declare const kinds: number;

/** Which examples a cell of some kind matches, from the configuration of each of its blocks. */
export declare function match(kind: number, configurations: ArrayLike<number>): number[];

/** G of each port of a cell that matches these examples. */
export declare function sums(kind: number, matched: ArrayLike<number>): {{sums}};

/** What the network says of a cell that matches these examples: a 0 or 1 for each port of its kind. */
export declare function cell(kind: number, matched: ArrayLike<number>): Uint8Array;
