"""Proves networks by exhaustion: compares them with the rules in every state of a domain, in exact arithmetic."""
