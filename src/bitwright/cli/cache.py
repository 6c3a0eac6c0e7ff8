"""`bitwright cache`: the networks that runs trained and kept."""

from __future__ import annotations

from bitwright.cli import options as opt
from bitwright.cli.reporting import print_result


@opt.verb("cache")
def command(clear: bool, as_json: bool) -> int:
    """List the networks that were trained on the spot and kept, with their folder and sizes.

    Every entry is read and compared with its digest. Exit 1 if one cannot be used.

    The folder is bitwright/networks in $BITWRIGHT_CACHE if that is set, else in $XDG_CACHE_HOME, else in ~/.cache. A
    damaged entry is never used: it is trained again and replaced. Nor is one that the linear algebra of another CPU
    trained: each kernel has entries of its own.
    """
    from bitwright.verbs.cache import clear_cache, look_at_cache

    return print_result(clear_cache() if clear else look_at_cache(), as_json)
