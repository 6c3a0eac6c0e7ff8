"""Proofs by exhaustion: compares a network with the rules in every state of a domain, in exact arithmetic."""
