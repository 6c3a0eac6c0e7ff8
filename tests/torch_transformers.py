"""Transformers as people write them in PyTorch: GPT-2 and nanoGPT, Llama and Qwen3."""

import torch
from torch import nn
from torch.nn import functional as F  # noqa: N812


class JointAttention(nn.Module):
    def __init__(self, width: int, heads: int, bias: bool) -> None:
        super().__init__()
        self.heads = heads
        self.c_attn = nn.Linear(width, 3 * width, bias=bias)
        self.c_proj = nn.Linear(width, width, bias=bias)

    def forward(self, x):
        n, length, width = x.shape
        q, k, v = (part.view(n, length, self.heads, -1).transpose(1, 2) for part in self.c_attn(x).split(width, dim=2))
        y = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        return self.c_proj(y.transpose(1, 2).reshape(n, length, width))


class GptMlp(nn.Module):
    def __init__(self, width: int, bias: bool, approximate: str) -> None:
        super().__init__()
        self.approximate = approximate
        self.c_fc = nn.Linear(width, 4 * width, bias=bias)
        self.c_proj = nn.Linear(4 * width, width, bias=bias)

    def forward(self, x):
        return self.c_proj(F.gelu(self.c_fc(x), approximate=self.approximate))


class GptBlock(nn.Module):
    def __init__(self, width: int, heads: int, bias: bool, approximate: str) -> None:
        super().__init__()
        self.ln_1 = nn.LayerNorm(width, bias=bias)
        self.attn = JointAttention(width, heads, bias)
        self.ln_2 = nn.LayerNorm(width, bias=bias)
        self.mlp = GptMlp(width, bias, approximate)

    def forward(self, x):
        x = x + self.attn(self.ln_1(x))
        return x + self.mlp(self.ln_2(x))


class Gpt(nn.Module):
    def __init__(self, tokens=13, positions=12, width=12, heads=3, layers=2, bias=True, approximate="none", tied=True):
        super().__init__()
        self.transformer = nn.ModuleDict(
            {
                "wte": nn.Embedding(tokens, width),
                "wpe": nn.Embedding(positions, width),
                "h": nn.ModuleList(GptBlock(width, heads, bias, approximate) for _ in range(layers)),
                "ln_f": nn.LayerNorm(width, bias=bias),
            }
        )
        self.lm_head = nn.Linear(width, tokens, bias=False)
        if tied:
            self.lm_head.weight = self.transformer.wte.weight

    def forward(self, tokens):
        x = self.transformer.wte(tokens) + self.transformer.wpe(torch.arange(tokens.shape[1]))
        for block in self.transformer.h:
            x = block(x)
        return self.lm_head(self.transformer.ln_f(x))


class GroupedAttention(nn.Module):
    def __init__(self, width, heads, key_heads, inner, base, eps, normed, bias) -> None:
        super().__init__()
        self.shape, self.base = (heads, key_heads, inner), base
        self.q_proj = nn.Linear(width, heads * inner, bias=bias)
        self.k_proj = nn.Linear(width, key_heads * inner, bias=bias)
        self.v_proj = nn.Linear(width, key_heads * inner, bias=bias)
        self.o_proj = nn.Linear(heads * inner, width, bias=False)
        if normed:
            self.q_norm, self.k_norm = nn.RMSNorm(inner, eps=eps), nn.RMSNorm(inner, eps=eps)

    def turned(self, x):
        half = x.shape[-1] // 2
        rates = self.base ** (-torch.arange(half, dtype=x.dtype) / half)
        angle = torch.outer(torch.arange(x.shape[2], dtype=x.dtype), rates)
        cosine, sine = torch.cat([angle, angle], -1).cos(), torch.cat([angle, angle], -1).sin()
        return x * cosine + torch.cat([-x[..., half:], x[..., :half]], -1) * sine

    def forward(self, x):
        n, length, _ = x.shape
        heads, key_heads, inner = self.shape
        q = self.q_proj(x).view(n, length, heads, inner)
        k = self.k_proj(x).view(n, length, key_heads, inner)
        if hasattr(self, "q_norm"):
            q, k = self.q_norm(q), self.k_norm(k)
        q, k = self.turned(q.transpose(1, 2)), self.turned(k.transpose(1, 2))
        v = self.v_proj(x).view(n, length, key_heads, inner).transpose(1, 2)
        k, v = (part.repeat_interleave(heads // key_heads, 1) for part in (k, v))
        y = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        return self.o_proj(y.transpose(1, 2).reshape(n, length, heads * inner))


class SwiGlu(nn.Module):
    def __init__(self, width: int) -> None:
        super().__init__()
        self.gate_proj = nn.Linear(width, 10, bias=False)
        self.up_proj = nn.Linear(width, 10, bias=False)
        self.down_proj = nn.Linear(10, width, bias=False)

    def forward(self, x):
        return self.down_proj(F.silu(self.gate_proj(x)) * self.up_proj(x))


class LlamaBlock(nn.Module):
    def __init__(self, width, heads, key_heads, inner, base, eps, normed, bias) -> None:
        super().__init__()
        self.input_layernorm = nn.RMSNorm(width, eps=eps)
        self.self_attn = GroupedAttention(width, heads, key_heads, inner, base, eps, normed, bias)
        self.post_attention_layernorm = nn.RMSNorm(width, eps=eps)
        self.mlp = SwiGlu(width)

    def forward(self, x):
        x = x + self.self_attn(self.input_layernorm(x))
        return x + self.mlp(self.post_attention_layernorm(x))


class Llama(nn.Module):
    def __init__(
        self, tokens=13, width=8, heads=4, key_heads=2, inner=6, layers=2, base=100.0, eps=1e-6, normed=True,
        tied=False, bias=False,
    ):  # fmt: skip
        super().__init__()
        blocks = (LlamaBlock(width, heads, key_heads, inner, base, eps, normed, bias) for _ in range(layers))
        self.model = nn.ModuleDict(
            {
                "embed_tokens": nn.Embedding(tokens, width),
                "layers": nn.ModuleList(blocks),
                "norm": nn.RMSNorm(width, eps=eps),
            }
        )
        self.lm_head = nn.Linear(width, tokens, bias=False)
        if tied:
            self.lm_head.weight = self.model.embed_tokens.weight

    def forward(self, tokens):
        x = self.model.embed_tokens(tokens)
        for block in self.model.layers:
            x = block(x)
        return self.lm_head(self.model.norm(x))


def randomized(module: nn.Module, seed: int = 0) -> nn.Module:
    """The module with weights that matter everywhere, norms and biases included."""
    generator = torch.Generator().manual_seed(seed)
    with torch.no_grad():
        for parameter in module.parameters():
            parameter.copy_(torch.randn(parameter.shape, generator=generator) * 0.5)
    return module.eval()
