"""Colours for nodes, the same in pictures and pages: they stay apart for colour-blind readers and in grey print."""

from __future__ import annotations

# viridis of Matplotlib (CC0), at nine places; its dark end is left out, on which dark lines are lost.
SCALE = ("#46327e", "#3b528b", "#2c728e", "#21918c", "#27ad81", "#5ec962", "#a0da39", "#d0e11c", "#fde725")
# Okabe and Ito's, for sets of flags that are not empty; the first is that of a single flag.
SETS = ("#0072b2", "#e69f00", "#d55e00", "#009e73", "#cc79a7", "#56b4e9", "#555555")
OFF, UNSET, STRONG = "#ffffff", "#c4c9cf", "#c8520a"


def scale_colour(share: float) -> str:
    """The colour of a number that lies at `share`, from 0 to 1, of the scale.

    >>> scale_colour(0), scale_colour(1)
    ('#46327e', '#fde725')
    """
    place = min(max(share, 0.0), 1.0) * (len(SCALE) - 1)
    low = min(int(place), len(SCALE) - 2)
    parts = zip(_parts(SCALE[low]), _parts(SCALE[low + 1]), strict=True)
    return "#" + "".join(f"{round(one + (other - one) * (place - low)):02x}" for one, other in parts)


def ink_on(colour: str) -> str:
    """Black or white, whichever is easier to read on a colour.

    >>> ink_on("#fde725"), ink_on("#46327e")
    ('#111111', '#ffffff')
    """
    red, green, blue = _parts(colour)
    return "#111111" if 0.299 * red + 0.587 * green + 0.114 * blue > 140 else "#ffffff"


def _parts(colour: str) -> list[int]:
    return [int(colour[at : at + 2], 16) for at in (1, 3, 5)]
