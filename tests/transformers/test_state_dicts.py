"""Compares decoders from state dicts with their PyTorch modules."""

import numpy as np
import pytest
import torch
from safetensors.torch import save_file
from torch_transformers import Gpt, Llama, randomized

from bitwright.common.errors import InputError
from bitwright.transformers.decoder import Decoder
from bitwright.transformers.files import load_decoder, save_decoder
from bitwright.transformers.modules import logits
from bitwright.transformers.state_dicts import GptOptions, LlamaOptions, from_gpt2, from_llama, read_state_dict

TOKENS = np.random.default_rng(1).integers(0, 13, (30, 12))
GPT, LLAMA = GptOptions(heads=3, activation="gelu"), LlamaOptions(heads=4, key_heads=2, rope_base=100.0)


def agrees(decoder: Decoder, module: torch.nn.Module) -> None:
    """Checks that the two differ only by rounding in float64."""
    with torch.no_grad():
        wanted = module.double()(torch.as_tensor(TOKENS)).numpy()
    assert np.abs(wanted).max() > 1
    assert np.allclose(logits(decoder, TOKENS), wanted, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"layers": 1, "heads": 1},
        {"bias": False, "tied": False},
        {"approximate": "tanh"},
    ],
    ids=str,
)
@pytest.mark.parametrize("turned", [True, False])
def test_gpt2_and_nanogpt(options, turned):
    module = randomized(Gpt(**options))
    weights = module.state_dict()
    if not turned:  # as in GPT-2: matrices are (in, out), and there are masks
        weights = {name: of.T if ".c_" in name and of.ndim == 2 else of for name, of in weights.items()}
        weights["transformer.h.0.attn.bias"] = torch.tril(torch.ones(1, 1, 12, 12))
    activation = "gelu_tanh" if "approximate" in options else "gelu"
    agrees(from_gpt2(weights, GptOptions(options.get("heads", 3), activation)), module)


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"layers": 1, "heads": 1, "key_heads": 1},
        {"tied": True, "normed": False},
        {"key_heads": 4, "bias": True},
        {"base": 1e6, "eps": 1e-2},
    ],
    ids=str,
)
def test_llama_and_qwen(options):
    module = randomized(Llama(**options))
    weights = module.state_dict()
    if options.get("tied"):
        del weights["lm_head.weight"]
    made = LlamaOptions(
        options.get("heads", 4), options.get("key_heads", 2), options.get("base", 100.0), options.get("eps", 1e-6)
    )
    agrees(from_llama(weights, made), module)


def test_options_matter():
    module = randomized(Llama())
    for wrong in (LlamaOptions(4, 2, 101.0), LlamaOptions(2, 2, 100.0), LlamaOptions(4, 2, 100.0, interleaved=True)):
        try:
            decoder = from_llama(module.state_dict(), wrong)
        except InputError:
            continue
        with pytest.raises(AssertionError):
            agrees(decoder, module)


def test_state_dicts_in_files(tmp_path):
    module = randomized(Llama())
    save_file(module.state_dict(), tmp_path / "model.safetensors")
    decoder = from_llama(read_state_dict(tmp_path / "model.safetensors"), LLAMA)
    save_decoder(decoder, tmp_path / "decoder.safetensors")
    agrees(load_decoder(tmp_path / "decoder.safetensors"), module)
    with pytest.raises(InputError, match="if it is a state dict"):
        load_decoder(tmp_path / "model.safetensors")


def test_files_that_are_not_there_are_refused(tmp_path):
    with pytest.raises(InputError, match="there is no file"):
        read_state_dict(tmp_path / "none.safetensors")


def test_half_precision_is_read_exactly():
    module = randomized(Gpt()).to(torch.bfloat16)
    agrees(from_gpt2(module.state_dict(), GPT), module)


def changed(module: torch.nn.Module, **changes) -> dict:
    """Returns the state dict with changed values; None removes a name."""
    weights = module.state_dict() | {name.replace("__", "."): value for name, value in changes.items()}
    return {name: value for name, value in weights.items() if value is not None}


GPT_MISTAKES = [
    ({"transformer__h__0__mlp__c_fc__weight": None}, r"lacks h\.0\.mlp\.c_fc\.weight"),
    ({"transformer__h__1__mlp__c_fc__bias": None}, r"h\.1\.mlp\.c_fc\.bias must be in all layers or in none"),
    ({"transformer__wpe__weight": None}, "lacks wpe"),
    ({"extra": torch.zeros(3)}, "unknown names: extra"),
    ({"transformer__h__0__attn__rotary": torch.zeros(3)}, r"unknown names: h\.0\.attn\.rotary"),
    ({"wte__weight": torch.zeros(13, 12)}, "a name both with and without a prefix"),
    ({"transformer__h__0__attn__bias": torch.ones(1, 1, 12, 12)}, "must be a causal mask"),
    ({"transformer__ln_f__weight": torch.zeros(3)}, r"the final norm must have shape \(12,\)"),
    ({"transformer__h__0__attn__c_attn__weight": torch.zeros(35, 12)}, "3 equal parts"),
    ({"transformer__h__0__attn__c_proj__weight": torch.zeros(12, 11)}, r"must have 3 \* 4 inputs"),
    ({"transformer__wte__weight": torch.zeros(13, 12, dtype=torch.int64)}, "and floating-point, got torch.int64"),
    ({"transformer__wte__weight": [[1.0]]}, "and floating-point, got list"),
    ({"transformer__wte__weight": torch.zeros(13)}, "must be 2-dimensional"),
    ({"transformer__wte__weight": torch.full((13, 12), torch.nan)}, "NaN or infinite"),
    ({"lm_head__weight": torch.full((13, 12), torch.inf)}, "NaN or infinite"),
]


@pytest.mark.parametrize(("changes", "match"), GPT_MISTAKES, ids=range(len(GPT_MISTAKES)))
def test_other_names_and_shapes_are_refused(changes, match):
    with pytest.raises(InputError, match=match) as caught:
        from_gpt2(changed(Gpt(), **changes), GPT)
    assert "\n" not in str(caught.value)


def test_heads_that_do_not_fit_are_refused():
    with pytest.raises(InputError, match="12 outputs cannot be divided into 5 heads"):
        from_gpt2(Gpt().state_dict(), GptOptions(5))
    with pytest.raises(InputError, match="heads must be a multiple of key_heads, got 4 and 3"):
        from_llama(Llama().state_dict(), LlamaOptions(4, 3))
    with pytest.raises(InputError, match="lacks wte"):
        from_gpt2(Llama().state_dict(), GPT)
    with pytest.raises(InputError, match="lacks embed_tokens"):
        from_llama(Gpt().state_dict(), LLAMA)


@pytest.mark.parametrize("heads", [2.0, True, "2", None])
def test_numbers_of_heads_are_whole(heads):
    with pytest.raises(InputError, match="heads must be an integer"):
        from_gpt2(randomized(Gpt()).state_dict(), GptOptions(heads))


def test_no_heads_and_no_weights_are_refused():
    for make, module, options in ((from_gpt2, Gpt(), GptOptions), (from_llama, Llama(), LlamaOptions)):
        with pytest.raises(InputError, match="heads must be at least 1, got 0"):
            make(module.state_dict(), options(heads=0))
        with pytest.raises(InputError, match="got an empty one"):
            make({}, options(heads=2))


def test_layers_that_differ_are_refused():
    weights = Llama().state_dict()
    del weights["model.layers.1.self_attn.q_norm.weight"]
    with pytest.raises(InputError, match="must be in all layers or in none"):
        from_llama(weights, LLAMA)


def test_modules_and_pickles_are_refused(tmp_path):
    gpt = randomized(Gpt()).state_dict()
    with pytest.raises(InputError, match="must be a mapping from names to weights, got Gpt"):
        from_gpt2(Gpt(), GPT)
    for suffix in (".pt", ".bin"):
        torch.save(gpt, tmp_path / f"model{suffix}")
        for read in (read_state_dict, load_decoder):
            with pytest.raises(InputError, match=rf"model{suffix} is a PyTorch pickle.*save_file.*model\.safetensors"):
                read(tmp_path / f"model{suffix}")


def test_decoders_are_shown_in_one_line():
    shown = repr(from_gpt2(randomized(Gpt(tied=False)).state_dict(), GPT))
    weights = sum(parameter.numel() for parameter in Gpt(tied=False).parameters())
    assert "\n" not in shown
    assert f"{weights:,} weights" in shown
    assert "13 tokens" in shown
