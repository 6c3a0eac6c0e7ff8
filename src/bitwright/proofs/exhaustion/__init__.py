"""Proofs by exhaustion: every state of a domain through a network, in exact arithmetic, against the rules."""
