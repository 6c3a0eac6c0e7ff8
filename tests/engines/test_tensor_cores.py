"""The int8 kernel: its weights lie where its products look for them, and on a GPU its sums are those of NumPy."""

import numpy as np
import pytest
from cases import for_each
from whole import whole, with_weights

from bitwright import addition
from bitwright.networks.integer import Bounds

torch = pytest.importorskip("torch", reason="PyTorch is not installed")

from bitwright.engines.integer.tensor_cores import TensorCoreSums, kernel_text, weight_blocks  # noqa: E402

SIZES = [(1, 1, 1), (8, 3, 40), (32, 16, 128), (33, 17, 129), (202, 181, 1_000), (200, 192, 600), (448, 400, 300)]


def matrix(slab: np.ndarray, rows: int) -> np.ndarray:
    """(rows, 32) from bytes as a product reads them: core matrices of 8 rows of 16 bytes, halves 128 bytes apart, row
    groups 256.
    """
    row, byte = np.meshgrid(np.arange(rows), np.arange(32), indexing="ij")
    return np.asarray(slab[(row // 8) * 256 + (byte // 16) * 128 + (row % 8) * 16 + byte % 16])


@for_each(("examples", "outputs", "width"), SIZES)
def test_the_weights_lie_where_the_products_look_for_them(examples: int, outputs: int, width: int) -> None:
    rng = np.random.default_rng(width)
    slabs, tile = -(-examples // 32), 16 * -(-outputs // 16)
    first = rng.integers(-127, 128, (width, examples)).astype(np.int8)
    last = rng.integers(-127, 128, (outputs, width)).astype(np.int8)
    blocks = weight_blocks(first, last, slabs, tile)
    matched = np.zeros((5, slabs * 32), dtype=np.int64)
    matched[:, :examples] = rng.random((5, examples)) < 0.3
    total = np.zeros((5, tile), dtype=np.int64)
    for block in blocks:
        for chunk in range(2):
            hidden = np.zeros((5, 64), dtype=np.int64)
            for slab in range(slabs):
                at = (chunk * slabs + slab) * 64 * 32
                hidden += matched[:, slab * 32 : slab * 32 + 32] @ matrix(block[at : at + 64 * 32], 64).T.astype(int)
            hidden = np.maximum(hidden, 0)
            for half in range(2):
                at = 2 * slabs * 64 * 32 + (2 * chunk + half) * tile * 32
                weights = matrix(block[at : at + tile * 32], tile).astype(int)  # (outputs, places)
                place = np.arange(32)  # 16 h + 4 q + 2 b + e holds unit 16 h + 8 b + 2 q + e
                unit = place // 16 * 16 + place // 2 % 2 * 8 + place // 4 % 4 * 2 + place % 2
                total += hidden[:, half * 32 + unit] @ weights.T
    wanted = np.maximum(matched[:, :examples] @ first.T.astype(int), 0) @ last.T.astype(int)
    assert (total[:, :outputs] == wanted).all()
    assert not total[:, outputs:].any()


def test_the_text_has_products_of_the_size_that_is_asked_for() -> None:
    text = kernel_text(3, 48, 2)
    assert "#define SLABS 3\n#define OUT 48\n#define STAGES 2\n" in text
    assert text.count("wgmma.mma_async.sync.aligned.m64n64k32.s32.u8.s8") == 1
    assert text.count("wgmma.mma_async.sync.aligned.m64n48k32.s32.u8.s8") == 1
    assert "@PRODUCTS@" not in text


@pytest.mark.gpu
@pytest.mark.parametrize(("examples", "outputs", "width"), [*SIZES, (202, 181, 16_384)])
def test_sums_and_distances_are_those_of_whole_numbers(examples: int, outputs: int, width: int) -> None:
    if not torch.cuda.is_available() or torch.cuda.get_device_capability()[0] != 9:
        pytest.skip("needs a GPU of the Hopper generation")
    rng = np.random.default_rng(width)
    first = rng.integers(-127, 128, (width, examples)).astype(np.int8)
    last = rng.integers(-127, 128, (outputs, width)).astype(np.int8)
    network = with_weights(whole(addition(2).program, 64), first=first, last=last)
    bounds = Bounds(hidden=np.full(width, 127 * 448), lowest=0, sums=2**30, thresholds=2**20)  # at most these
    device = torch.device("cuda")
    assert TensorCoreSums.fits(network, bounds, device)
    kernel = TensorCoreSums(network, bounds, device)
    for states in (1, 63, 129, 40_000):
        matched = torch.zeros((states, kernel.inputs), dtype=torch.uint8, device=device)
        chosen = rng.random((states, examples)) < rng.random((states, 1)) * min(1, 60 / examples)
        matched[:, :examples] = torch.from_numpy(chosen).to(device)
        plain = (matched[:, :examples].double() @ torch.from_numpy(first).to(device).double().T).relu()
        wanted = (plain @ torch.from_numpy(last).to(device).double().T).long()
        assert bool((kernel(matched) == wanted).all())
        n = torch.from_numpy(rng.integers(0, 5, states)).to(device)
        truth = torch.from_numpy(rng.random((states, kernel.columns)) < 0.5).to(device)
        thresholds = torch.full((5, kernel.columns), 2**30, dtype=torch.int32, device=device)
        thresholds[:, :outputs] = torch.from_numpy(rng.integers(-(10**6), 10**6, (5, outputs))).to(device)
        truth[:, outputs:] = False
        over = wanted - thresholds[n][:, :outputs].long()
        smallest = torch.where(truth[:, :outputs], over, 1 - over).amin(dim=1)
        assert bool((kernel.distances(matched, n, truth.view(torch.uint8), thresholds) == smallest).all())
