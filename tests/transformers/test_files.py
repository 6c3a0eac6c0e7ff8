"""Decoder files: round trips, and altered and hostile files."""

import json
import struct
from dataclasses import replace

import numpy as np
import pytest

from bitwright.common.errors import InputError
from bitwright.transformers.decoder import Decoder, Head, Layer, Linear, Mlp, Norm, Rope, check
from bitwright.transformers.files import decoder_bytes, describe_decoder, digest, load_decoder, save_decoder
from bitwright.transformers.modules import logits

WIDTH, TOKENS, LENGTH = 6, 7, 9


def decoder(seed: int = 0, layers: int = 1) -> Decoder:
    """Returns a decoder with every optional part."""
    rng = np.random.default_rng(seed)
    array = lambda *shape: rng.normal(size=shape).astype(np.float32)  # noqa: E731
    matrix = lambda *shape: (Linear(array(*shape), array(shape[1])),)  # noqa: E731
    norm = lambda kind, width: Norm(kind, 1e-5, array(width), array(width) if kind == "layer" else None)  # noqa: E731
    key, value, key_norm = matrix(WIDTH, 4), matrix(WIDTH, 4), norm("rms", 4)
    heads = [
        Head(matrix(WIDTH, 4), key, value, matrix(4, 3), 0.5, norm("rms", 4), key_norm, Rope(100.0)) for _ in range(2)
    ]
    gates = (matrix(WIDTH, 5), None)
    made = [
        Layer(
            tuple(heads), norm("layer", WIDTH), matrix(3, WIDTH), norm("rms", WIDTH),
            Mlp("silu", matrix(WIDTH, 5), matrix(5, WIDTH), gates[n % 2]),
        )
        for n in range(layers)
    ]  # fmt: skip
    tables = (array(1, TOKENS, WIDTH), array(LENGTH, 1, WIDTH))
    return Decoder(tables, tuple(made), norm("layer", WIDTH), matrix(WIDTH, TOKENS))


def rewrite(data: bytes, change) -> bytes:
    """Returns the file with a changed header."""
    size = int.from_bytes(data[:8], "little")
    header = json.loads(data[8 : 8 + size])
    about = json.loads(header["__metadata__"]["bitwright"])
    change(header, about)
    if "__metadata__" in header:
        header["__metadata__"] = {"bitwright": json.dumps(about)}
    text = json.dumps(header).encode()
    return struct.pack("<Q", len(text)) + text + data[8 + size :]


@pytest.mark.parametrize("layers", [1, 2])
def test_a_file_gives_the_same_decoder(tmp_path, layers):
    written, path = decoder(layers=layers), tmp_path / "d.safetensors"
    save_decoder(written, path)
    read = load_decoder(path)
    assert digest(read) == digest(written)
    assert json.loads(json.dumps(describe_decoder(read)[0])) == describe_decoder(written)[0]
    tokens = np.random.default_rng(1).integers(0, TOKENS, (20, LENGTH))
    assert (logits(read, tokens) == logits(written, tokens)).all()
    assert path.read_bytes() == decoder_bytes(read)


def test_weights_that_are_equal_in_the_file_are_all_used(tmp_path):
    """The file with all weights set to zero does not match its digest."""
    path, data = tmp_path / "d.safetensors", decoder_bytes(decoder())
    size = 8 + int.from_bytes(data[:8], "little")
    path.write_bytes(data[:size] + bytes(len(data) - size))
    with pytest.raises(InputError, match="is damaged"):
        load_decoder(path)


def test_a_file_has_a_suffix_that_is_read(tmp_path):
    for suffix in (".pt", ".bin", ".pkl"):
        with pytest.raises(InputError, match="safetensors"):
            save_decoder(decoder(), tmp_path / f"d{suffix}")
    assert not list(tmp_path.iterdir())


def test_shared_keys_are_stored_once():
    from safetensors.numpy import load as tensors

    names = set(tensors(decoder_bytes(decoder())))
    assert "layers.0.heads.0.key.0.weight" in names
    assert "layers.0.heads.1.key.0.weight" not in names
    assert "layers.0.heads.1.query.0.weight" in names


def test_everything_that_is_evaluated_is_in_the_digest():
    first = decoder()
    layer, head = first.layers[0], first.layers[0].heads[0]
    weights = layer.mlp.up[0].weight.copy()
    weights[0, 0] = np.nextafter(weights[0, 0], 9)
    others = [
        replace(first, layers=(replace(layer, heads=(replace(head, scale=0.25), layer.heads[1])),)),
        replace(first, layers=(replace(layer, heads=(replace(head, rope=Rope(100.0, True)), layer.heads[1])),)),
        replace(first, layers=(replace(layer, mlp=replace(layer.mlp, activation="gelu")),)),
        replace(first, layers=(replace(layer, mlp=replace(layer.mlp, up=(Linear(weights),))),)),
        replace(first, final_norm=None),
        replace(first, tables=tuple(table.astype(np.float64) for table in first.tables)),
    ]
    assert len({digest(one) for one in (first, *others)}) == 7


def test_numbers_of_numpy_are_written_as_numbers(tmp_path):
    """Decoders with the scale 1, 1.0 or a NumPy number are equal."""
    one, layer = decoder(), decoder().layers[0]
    scaled = [
        replace(one, layers=(replace(layer, heads=tuple(replace(head, scale=to(1)) for head in layer.heads)),))
        for to in (int, float, np.float32)
    ]
    assert len({digest(each) for each in scaled}) == 1
    for each in scaled:
        save_decoder(each, tmp_path / "d.safetensors")
        assert load_decoder(tmp_path / "d.safetensors").layers[0].heads[0].scale == 1


def refused(tmp_path, data: bytes, match: str) -> None:
    path = tmp_path / "hostile.safetensors"
    path.write_bytes(data)
    with pytest.raises(InputError, match=match) as caught:
        load_decoder(path)
    assert "\n" not in str(caught.value)


def test_altered_files_are_refused(tmp_path):
    data = decoder_bytes(decoder())
    flipped = bytearray(data)
    flipped[-1] ^= 1
    refused(tmp_path, bytes(flipped), "is damaged")
    for end in (0, 7, 8, 100, len(data) - 1):
        refused(tmp_path, data[:end], "truncated|cut off")
    refused(tmp_path, data + b"\0", "truncated")
    refused(tmp_path, rewrite(data, lambda _, about: about["decoder"].update(final_norm=None)), "is damaged")
    scale = lambda _, about: about["decoder"]["layers"][0]["heads"][0].update(scale=2)  # noqa: E731
    refused(tmp_path, rewrite(data, scale), "is damaged")


HOSTILE = [
    (lambda header, _: header.pop("__metadata__"), "if it is a state dict"),
    (lambda _, about: about.update(format="pickle"), "format must be"),
    (lambda _, about: about.update(more=1), "unknown fields: more"),
    (lambda _, about: about["decoder"].update(more=1), "must have the fields tables"),
    (lambda _, about: about["decoder"].update(tables=[]), "must broadcast"),
    (lambda _, about: about["decoder"].update(tables="x"), "must be a list"),
    (lambda _, about: about["decoder"].update(tables=[3]), "must be the name of a tensor"),
    (lambda _, about: about["decoder"].update(tables=["layers.0.output.0.weight"]), r"must have shape \(any, any, any"),
    (lambda _, about: about["decoder"].update(head=[]), "at least one matrix"),
    (lambda _, about: about["decoder"]["layers"][0]["mlp"].update(activation="exec"), "must be .*'gelu'"),
    (lambda _, about: about["decoder"]["layers"][0]["heads"][0].update(scale=True), "finite number"),
    (lambda _, about: about["decoder"]["layers"][0]["heads"][0].update(scale="1e999"), "finite number"),
    (lambda _, about: about["decoder"]["layers"][0]["heads"][0]["rope"].update(base=-1), "positive base"),
    (lambda _, about: about["decoder"]["layers"][0]["heads"][0].update(value=[]), "must have shape"),
    (lambda _, about: about["decoder"]["layers"][0].update(output=[]), "must output 6 numbers, got 3"),
    (lambda _, about: about["decoder"]["final_norm"].update(eps=-1.0), "eps of at least 0"),
    (lambda header, _: header["tables.0"].update(shape=[1, 7, 1 << 40]), "does not match its shape"),
    (lambda header, _: header["tables.0"].update(dtype="BF16"), "dtype must be"),
]


@pytest.mark.parametrize(("change", "match"), HOSTILE)
def test_hostile_files_are_refused(tmp_path, change, match):
    refused(tmp_path, rewrite(decoder_bytes(decoder()), change), match)


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
def test_weights_that_are_not_finite_are_refused(tmp_path, value):
    table = decoder().tables[0].copy()
    table[0, 1, 2] = value
    refused(tmp_path, decoder_bytes(replace(decoder(), tables=(table,))), "NaN or infinite")


def test_no_file_and_a_folder_are_refused(tmp_path):
    for path, why in ((tmp_path / "none", "there is no file"), (tmp_path, "is a folder")):
        with pytest.raises(InputError, match=why):
            load_decoder(path)


def test_widths_of_heads_must_agree():
    one, layer = decoder(), decoder().layers[0]
    narrow = replace(layer.heads[0], output=(Linear(np.ones((4, 2))),))
    with pytest.raises(InputError, match=r"layer 1: the outputs of its heads must have the same width, got \[2, 3\]"):
        check(replace(one, layers=(replace(layer, heads=(narrow, layer.heads[1])),)))


ONES = lambda *shape: (Linear(np.ones(shape)),)  # noqa: E731
MLPS = [
    (Mlp("GELU", ONES(6, 5), ONES(5, 6)), "layer 1: activation must be one of"),
    (Mlp("gelu", ONES(6, 5), ONES(5, 4)), "layer 1, MLP down must output 6 numbers, got 4"),
    (Mlp("gelu", ONES(6, 5), ONES(4, 6)), r"layer 1, MLP down must have shape \(5, any\), got \(4, 6\)"),
    (Mlp("silu", ONES(6, 5), ONES(5, 6), ONES(6, 4)), "layer 1, MLP gate must output 5 numbers, got 4"),
    (Mlp("silu", (Linear(np.ones((6, 5)), np.ones(4)),), ONES(5, 6)), r"MLP up, bias must have shape \(5,\)"),
    (Mlp("silu", (Linear(np.ones((6, 5), np.float16)),), ONES(5, 6)), "MLP up must be float32 or float64"),
]


@pytest.mark.parametrize(("mlp", "match"), MLPS, ids=range(len(MLPS)))
def test_an_mlp_must_fit_its_layer(mlp, match):
    with pytest.raises(InputError, match=match):
        check(replace(decoder(), layers=(replace(decoder().layers[0], mlp=mlp),)))
    with pytest.raises(InputError, match=match.replace("layer 1", "layer 2")):
        check(replace(decoder(), layers=(decoder().layers[0], replace(decoder().layers[0], mlp=mlp))))


@pytest.mark.parametrize(
    "change", [{"scale": np.inf}, {"rope": Rope(np.inf)}, {"query_norm": Norm("L2", 1e-5)}], ids=str
)
def test_options_of_heads_are_checked(change):
    layer = decoder().layers[0]
    with pytest.raises(InputError, match=r"layer 1, head 2.* (scale|RoPE|must be 'rms')"):
        check(replace(decoder(), layers=(replace(layer, heads=(layer.heads[0], replace(layer.heads[1], **change))),)))
