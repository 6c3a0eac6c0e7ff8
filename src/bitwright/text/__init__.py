"""What every language of ours is read with: one scanner, one list of problems, one expansion of macros."""
