"""Proofs by exhaustion: every state of a domain through a network, in exact arithmetic, against the rules."""

from bitwright.proofs.exhaustion.certificate import NetworkVerdict, certify_network
from bitwright.proofs.exhaustion.domains import DOMAINS, Domain, make_domain
from bitwright.proofs.exhaustion.task import ProofTask

__all__ = ["DOMAINS", "Domain", "NetworkVerdict", "ProofTask", "certify_network", "make_domain"]
