"""Proofs by exhaustion: every state of a domain through a network, in exact arithmetic, against the rules."""

from bitwright.checking.exhaustion.certificate import NetworkVerdict, certify_network
from bitwright.checking.exhaustion.domains import DOMAINS, Domain, make_domain
from bitwright.checking.exhaustion.task import ProofTask

__all__ = ["DOMAINS", "Domain", "NetworkVerdict", "ProofTask", "certify_network", "make_domain"]
