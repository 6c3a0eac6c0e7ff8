"""Assembly text for computers of one instruction: one core, and an instruction set each for SBN and SUBLEQ."""
