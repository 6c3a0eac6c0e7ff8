"""`bitwright cache`: the cache of trained networks."""

from __future__ import annotations

from bitwright.cli import options as opt
from bitwright.cli.reporting import print_result


@opt.verb("cache")
def command(clear: bool, as_json: bool) -> int:
    """List the cached networks that runs have trained, with their folder and sizes.

    Every entry is read and compared with its digest. Exit 1 if an entry is unusable.

    The folder is bitwright/networks in $BITWRIGHT_CACHE, $XDG_CACHE_HOME or ~/.cache, whichever is set first. Damaged
    entries are trained again and replaced. Networks trained with a different CPU's linear algebra kernel have separate
    entries.
    """
    from bitwright.verbs.cache import clear_cache, look_at_cache

    return print_result(clear_cache() if clear else look_at_cache(), as_json)
