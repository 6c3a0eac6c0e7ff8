"""Trains a one-layer nanoGPT for a few seconds, and decides whether it is correct on all 243 inputs.

python examples/transformers/nanogpt.py running_maximum.safetensors

The module uses the parameter names of nanoGPT, so `from_gpt2` can convert its state dict. It needs PyTorch.
"""

import sys

import numpy as np
import torch
from torch import nn

from bitwright import certify
from bitwright.transformers import GptOptions, from_gpt2, read_task, save_decoder

task = read_task("""
    words s: 5 symbols 0..2
    ensure z[i] == max(s[1..i]) for i in 1..5
    prompt s[1..5] 3
    answer z[1..5]
""")


class Block(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.heads = heads
        self.ln_1, self.ln_2 = nn.LayerNorm(width), nn.LayerNorm(width)
        self.attn = nn.ModuleDict({"c_attn": nn.Linear(width, 3 * width), "c_proj": nn.Linear(width, width)})
        self.mlp = nn.ModuleDict({"c_fc": nn.Linear(width, 4 * width), "c_proj": nn.Linear(4 * width, width)})

    def forward(self, x):
        q, k, v = (
            part.unflatten(2, (self.heads, -1)).transpose(1, 2)
            for part in self.attn["c_attn"](self.ln_1(x)).chunk(3, dim=2)
        )
        y = nn.functional.scaled_dot_product_attention(q, k, v, is_causal=True)
        x = x + self.attn["c_proj"](y.transpose(1, 2).flatten(2))
        return x + self.mlp["c_proj"](nn.functional.gelu(self.mlp["c_fc"](self.ln_2(x))))


class GPT(nn.Module):
    def __init__(self, tokens, positions, width, heads):
        super().__init__()
        self.transformer = nn.ModuleDict(
            {
                "wte": nn.Embedding(tokens, width),
                "wpe": nn.Embedding(positions, width),
                "h": nn.ModuleList([Block(width, heads)]),
                "ln_f": nn.LayerNorm(width),
            }
        )
        self.lm_head = nn.Linear(width, tokens, bias=False)

    def forward(self, tokens):
        at = self.transformer
        x = at["wte"](tokens) + at["wpe"](torch.arange(tokens.shape[1]))
        return self.lm_head(at["ln_f"](at["h"][0](x)))


torch.manual_seed(0)
rows = torch.as_tensor(np.concatenate([task.rows(inputs) for inputs in task.every_input()]))
model = GPT(tokens=4, positions=11, width=16, heads=2)
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-2)
for _ in range(300):
    loss = nn.functional.cross_entropy(model(rows[:, :-1])[:, 5:].flatten(0, 1), rows[:, 6:].flatten())
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()

model.eval()
decoder = from_gpt2(model.state_dict(), GptOptions(heads=2, activation="gelu"))
decision = certify(task, decoder, module=model, seconds=60)
print(decision)
save_decoder(decoder, sys.argv[1])
