"""Changes one weight of a decoder so that `certify` refutes it.

python examples/transformers/change_weight.py adder.safetensors changed.safetensors
"""

import sys
from dataclasses import replace

from bitwright.transformers import load_decoder, save_decoder

decoder = load_decoder(sys.argv[1])
[layer] = decoder.layers
*before, last = layer.mlp.down
weight = last.weight.copy()
weight[0, 0] += 0.38
down = (*before, replace(last, weight=weight))
layer = replace(layer, mlp=replace(layer.mlp, down=down))
save_decoder(replace(decoder, layers=(layer,)), sys.argv[2])
