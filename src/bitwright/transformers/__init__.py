"""Small transformers decided on every input: tasks by columns, decoders, their prover, and training until proved."""
