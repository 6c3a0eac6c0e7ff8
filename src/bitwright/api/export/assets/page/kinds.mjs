/* How many bits and ports a cell of each kind has. */

const kindSizes = range(0, kinds).map((kind) => blockBits.slice(kindBlock[kind], kindBlock[kind + 1]).reduce((sum, size) => sum + size, 0));
const kindPorts = kindSizes.map((_, kind) => kindPort[kind + 1] - kindPort[kind]);
