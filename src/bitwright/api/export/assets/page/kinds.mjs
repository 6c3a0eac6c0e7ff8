/* How many bits and ports a cell of each kind has. */

const kindSizes = Array.from({ length: kinds }, (_, kind) => {
  let size = 0;
  for (let block = kindBlock[kind]; block < kindBlock[kind + 1]; block++) size += blockBits[block];
  return size;
});
const kindPorts = kindSizes.map((_, kind) => kindPort[kind + 1] - kindPort[kind]);
