"""Small transformers verified on every input: column-wise tasks, decoders, a prover, and training until proved.

- `load_task`, `read_task`: read a task from a file or from text.
- `from_gpt2`, `from_llama`, `read_state_dict`, `load_decoder`, `save_decoder`: read and write decoders.
- `bitwright.certify(task, decoder)`: determines whether the decoder is correct on every input.
- `compare`: checks that a decoder matches your module.
- `train_until_proved`: trains decoders for a task.
"""

from bitwright.common.lazy import lazy_names

_names, __getattr__ = lazy_names(
    __name__,
    {
        "bitwright.transformers.modules": "compare",
        "bitwright.transformers.decision": "Counterexample Decision DecoderClaim ModuleComparison",
        "bitwright.transformers.decoder": "Decoder Head Layer Linear Mlp Norm Rope",
        "bitwright.transformers.files": "load_decoder save_decoder",
        "bitwright.transformers.layout": "ColumnTask",
        "bitwright.transformers.state_dicts": "GptOptions LlamaOptions from_gpt2 from_llama read_state_dict",
        "bitwright.transformers.task_text": "load_task read_task",
        "bitwright.transformers.training": "TrainingRecipe train_until_proved",
    },
)
__all__ = list(_names)


def __dir__() -> list[str]:
    return sorted(__all__)
