"""Writes a network as a folder for the Hugging Face Hub: weights, facts, a model card and the certificate."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bitwright.common.errors import InputError
from bitwright.common.files.storage import make_folder, write_atomically
from bitwright.networks.store import MODEL, network_bytes
from bitwright.rules import Algorithm

if TYPE_CHECKING:
    from bitwright.exports.writers import Export
    from bitwright.verbs.certificates import Certificate
    from bitwright.verbs.network import Network
    from bitwright.verbs.progress import Teller

CONFIG, CARD, CERTIFICATE = "config.json", "README.md", "certificate.json"
_WITHOUT = 3  # files without a certificate
_NETWORKS = (".safetensors", ".onnx")


def is_folder(path: Path, given: object) -> bool:
    """Whether a path is a folder: it exists as one, ends in a slash, or has no suffix."""
    return path.is_dir() or str(given).endswith(("/", "\\")) or not path.suffix


def save_folder(network: Network, path: Path, certificate: Certificate | None = None) -> list[Path]:
    """Writes the files of a network. If no certificate is given, makes one by checking all states if there are few.

    The same network and certificate always produce the same bytes.
    """
    assert network.program is not None
    found = _own_certificate(network) if certificate is None else _checked(network, certificate)
    facts = replace(network, training=None).to_dict()  # only what the weights determine
    del facts["name"]
    config = {"model_type": "bitwright", "library_name": "bitwright", **facts}
    texts = {CONFIG: json.dumps(config, indent=2) + "\n", CARD: card(network, path.resolve().name, found)}
    if found is not None:
        texts[CERTIFICATE] = found.text()
    make_folder(path)
    write_atomically(path / MODEL, network_bytes(network.weights, network.program, path / MODEL))
    for name, text in texts.items():
        write_atomically(path / name, text.encode())
    if found is None:
        (path / CERTIFICATE).unlink(missing_ok=True)  # of another network
    return [path / name for name in (MODEL, *texts)]


def card(network: Network, name: str, certificate: Certificate | None) -> str:
    """Returns the model card: a description of the network, the proved claims, and how to run and check it."""
    of_program = certificate is not None and certificate.premises  # not about cells alone
    what = certificate.about.name if certificate is not None and of_program else network.name or "RULES"
    proved, kept = "This folder contains no certificate.\n", ""
    if certificate is not None:
        claims = "\n".join(f"- {claim.about}: {claim.sentence}" for claim in certificate.claims)
        command = f"bitwright certify {what} --network {name} --check"
        check = f"To check the certificate without trusting this card, run:\n\n    {command}"
        proved = f"{certificate.sentence.capitalize()}.\n\n{claims}\n\n{check}\n"
        kept = f"; `{CERTIFICATE}` is the certificate"
    return f"""---
library_name: bitwright
tags:
- bitwright
- neural-algorithmic-reasoning
- formal-verification
---

# {name}

A network made with bitwright: {network.sentence}. It was trained for {network.trained_for}.

## What is proved

{proved}
## Use

```python
from bitwright import Network, open, run

network = Network.load("{name}")
run(open("{what}"), network=network)  # add the inputs by name
```

`{MODEL}` contains the weights (sha256 of the network: `{network.digest}`), and `{CONFIG}` the facts{kept}.
"""


def certificate_beside(path: Path) -> Path:
    """Returns the certificate of a network: in its folder, or next to its file as NAME.json or certificate.json."""
    if not path.is_dir() and path.suffix.lower() not in _NETWORKS:
        return path
    places = [path / CERTIFICATE] if path.is_dir() else [path.with_suffix(".json"), path.with_name(CERTIFICATE)]
    for place in places:
        if place.is_file():
            return place
    raise InputError(f"there is no certificate next to {path}; looked for {' and '.join(map(str, places))}")


def _checked(network: Network, certificate: Certificate) -> Certificate:
    """Returns the certificate; raises InputError if it is about another network."""
    if certificate.of == "limit" or certificate.network_sha256 != network.digest:
        raise InputError(
            "this certificate is about another network or the limit; give the certificate for this network"
        )
    return certificate


def export_folder(network: Network, path: Path, what: Any, tell: Teller) -> Export:
    """Writes the folder for a network, with a certificate for the given program or for all states."""
    from bitwright.exports.writers import Export
    from bitwright.verbs.certify import certify

    found = None if what is None else certify(what, network, progress=tell)
    files = save_folder(network, path, found)
    claim = "without a certificate" if len(files) == _WITHOUT else "with the certificate"
    about = {"proved": network.proved, "certificate": len(files) > _WITHOUT}
    facts = {"file": str(path), "files": [str(file) for file in files], "to": "hub", "digest": network.digest}
    return Export(files, f"a folder for the Hugging Face Hub, {claim}", about, facts)


def _own_certificate(network: Network) -> Certificate | None:
    from bitwright.verbs.certify import certify

    if network.claim is None or network.claim.wrong is None:
        return None
    assert network.pattern is not None
    return certify(network.algorithm or Algorithm("cells", network.pattern.program), network)
