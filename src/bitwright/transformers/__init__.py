"""Small transformers decided on every input: tasks by columns, decoders, their prover, and training until proved."""

from bitwright.lazy import lazy_names

_names, __getattr__ = lazy_names(
    __name__,
    {
        "bitwright.transformers.certificate": "read_certificate write_certificate",
        "bitwright.transformers.columns": "Columns from_step",
        "bitwright.transformers.comparison": "compare",
        "bitwright.transformers.decision": "Counterexample Decision DecoderClaim ModuleComparison",
        "bitwright.transformers.decoder": "Decoder Head Layer Linear Mlp Norm Rope",
        "bitwright.transformers.files": "load_decoder save_decoder",
        "bitwright.transformers.layout": "ColumnTask Place PromptLayout",
        "bitwright.transformers.margins": "count_wrong smallest_margin",
        "bitwright.transformers.prover": "decide",
        "bitwright.transformers.counterexamples": "exhaust search",
        "bitwright.transformers.state_dicts": "GptOptions LlamaOptions from_gpt2 from_llama read_state_dict",
        "bitwright.transformers.task_text": "load_task read_task",
        "bitwright.transformers.training": "TrainingRecipe train train_until_proved",
    },
)
__all__ = list(_names)
