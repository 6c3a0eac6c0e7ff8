"""The frozen Program: blocks, templates and writes as compact arrays (Section 4)."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from bitwright.common.errors import counted
from bitwright.common.frozen import FrozenArrays, frozen
from bitwright.common.lazy import Shown
from bitwright.rules.cells import CellKinds, Cells, cell_kinds, each_block
from bitwright.rules.families import Families
from bitwright.rules.layout import IntArray, Layout

MAX_BLOCK = 16  # most bits of a block, so that a configuration fits in 16 bits
_ARRAYS = ("block_start", "block_bits", "template_block", "template_config", "write_start", "write_bits")
_DENSE_PER_TEMPLATE = 32  # most entries per template in a full configuration table


class Wired(Protocol):
    """Computes the kinds of a program's cells without expanding its templates."""

    def kinds(self, program: Program) -> CellKinds: ...


@dataclass(frozen=True, eq=False)
class Program(FrozenArrays, Shown):
    """The rules of an algorithm in canonical order: blocks by first bit, templates by block and configuration.

    Equivalent rules give equal programs, however they are written. A configuration is a number whose bit j is the value
    of the j-th bit of the block. All arrays are read-only. Families record how the rules were written; they affect
    neither equality nor the id.

    >>> from bitwright import addition
    >>> program = addition(4).program
    >>> program
    <Program: 12 bits, 8 blocks, 16 templates>
    >>> program.template_text(2), program.block_names(0)
    ('when p[1]=1 q[1]=1 write c[1]', ['p[1]', 'q[1]'])
    >>> program.block_families.labels, program.block_families.sizes.tolist()
    (('block p[i] q[i] for i in 1..l', 'block c[i] for i in 1..l'), [4, 4])
    """

    layout: Layout
    block_start: IntArray  # (b + 1,) block i owns block_bits[block_start[i]:block_start[i + 1]]
    block_bits: IntArray  # (k,)
    template_block: IntArray  # (K,)
    template_config: IntArray  # (K,)
    write_start: IntArray  # (K + 1,) template t writes write_bits[write_start[t]:write_start[t + 1]]
    write_bits: IntArray  # (nnz,)
    block_families: Families  # the source lines, or Builder calls, of blocks
    rule_families: Families  # the same for templates
    array_families: tuple[str, ...]  # (declared names,) the family of each; levels of one tree share one
    grouped: Cells | None = None  # explicit cells, if declared; like families, not part of the id
    wired: Wired | None = None  # computes the kinds of cells of a node program on a graph

    @classmethod
    def from_tables(
        cls,
        bits: Layout | Sequence[str],
        blocks: Sequence[Sequence[str | int]],
        templates: Sequence[tuple[int, int, Sequence[str | int] | None]],
    ) -> Program:
        """Builds a program from tables of bits, blocks and templates; raises ProgramError with all problems.

        Blocks are lists of bits; templates are tuples of block, configuration and writes. Bits are given by name or
        number, and blocks by number, counting from 0. A configuration is a number whose bit j is the value of the j-th
        bit in the block. A template that writes nothing has the writes None. Each block and template is its own family.

        >>> Program.from_tables(
        ...     ["p[1]", "p[2]", "flag"],
        ...     blocks=[["p[1]", "p[2]"], ["flag"]],
        ...     templates=[(0, 0b01, ["p[2]"]), (0, 0b11, ["flag"]), (1, 1, ["flag"])],
        ... ).template_text(1)
        'when p[1]=1 p[2]=1 write flag'
        """
        from bitwright.rules.tables import program_from_tables  # it imports this module

        return program_from_tables(bits, blocks, templates)

    # Sizes, in the paper's letters.

    @property
    def bits(self) -> int:
        """k: the length of a state."""
        return self.layout.size

    @property
    def blocks(self) -> int:
        """b: the number of blocks, and therefore the largest possible number of matches."""
        return len(self.block_start) - 1

    @property
    def templates(self) -> int:
        """K, the paper's k': the number of templates, and of training examples before padding."""
        return len(self.template_block)

    @property
    def template_rule(self) -> IntArray:  # (K,)
        """The rule of each template; a rule is a family of templates."""
        return self.rule_families.of

    @property
    def rules(self) -> tuple[str, ...]:
        """The text of each rule."""
        return self.rule_families.labels

    @property
    def sizes(self) -> str:
        """The sizes in words, such as `8 bits, 4 blocks, 1 template`."""
        sizes = ((self.bits, "bit"), (self.blocks, "block"), (self.templates, "template"))
        return ", ".join(counted(number, what) for number, what in sizes)

    @cached_property
    def writers(self) -> IntArray:  # (k,)
        """c_i: the number of templates that write bit i (the column sums of Y)."""
        return frozen(np.bincount(self.write_bits, minlength=self.bits))

    @cached_property
    def write_matrix(self) -> NDArray[np.float64]:  # (K, k)
        """Y: 1 if a template writes a bit, otherwise 0."""
        matrix = np.zeros((self.templates, self.bits))
        matrix[np.repeat(np.arange(self.templates), np.diff(self.write_start)), self.write_bits] = 1
        return frozen(matrix)

    @cached_property
    def live(self) -> NDArray[np.bool_]:  # (b,)
        """Which blocks have templates."""
        return frozen(np.bincount(self.template_block, minlength=self.blocks) > 0)

    @cached_property
    def block_of(self) -> IntArray:  # (k,)
        """The block of each bit."""
        owner = np.empty(self.bits, dtype=np.int64)
        owner[self.block_bits] = np.repeat(np.arange(self.blocks), np.diff(self.block_start))
        return frozen(owner)

    @cached_property
    def position(self) -> IntArray:  # (k,)
        """The position of each bit in its block."""
        place = np.empty(self.bits, dtype=np.int64)
        place[self.block_bits] = np.arange(self.bits) - np.repeat(self.block_start[:-1], np.diff(self.block_start))
        return frozen(place)

    # Cells.

    @cached_property
    def cells(self) -> Cells:
        """The cells, which are groups of blocks; by default every block is a cell."""
        return each_block(self.block_families) if self.grouped is None else self.grouped

    @cached_property
    def kinds(self) -> CellKinds:
        """The kinds of the cells, and the wiring of their ports."""
        return cell_kinds(self, self.cells) if self.wired is None else self.wired.kinds(self)

    # Matching, Eq. (5).

    @cached_property
    def _table(self) -> tuple[NDArray[np.int32], IntArray]:
        """A table from configurations to templates for small blocks: its entries, and the start of each block."""
        sizes = 1 << np.diff(self.block_start)  # (b,)
        dense = sizes <= _DENSE_PER_TEMPLATE * np.bincount(self.template_block, minlength=self.blocks)
        ends = np.cumsum(np.where(dense, sizes, 0))
        start = np.where(dense, ends - sizes, -1)
        table = np.full(int(ends[-1]) if len(ends) else 0, -1, dtype=np.int32)
        listed = np.flatnonzero(dense[self.template_block])
        table[start[self.template_block[listed]] + self.template_config[listed]] = listed
        return table, start

    @cached_property
    def _keys(self) -> IntArray:  # (K,), ascending
        return (self.template_block << MAX_BLOCK) | self.template_config

    def lookup(self, blocks: IntArray, configs: IntArray) -> IntArray:
        """Returns the template that matches each configuration of each block, or -1; this is f_i of Eq. (5).

        >>> from bitwright import addition
        >>> addition(2).program.lookup(np.array([0, 0]), np.array([0b01, 0b00]))  # block 0 is p[1] q[1]
        array([ 0, -1])
        """
        table, start = self._table
        at = start[blocks]
        found = np.full(len(blocks), -1, dtype=np.int64)
        dense = at >= 0
        if dense.all():
            found[...] = table[at + configs]
            return found
        found[dense] = table[at[dense] + configs[dense]]
        keys = (blocks[~dense] << MAX_BLOCK) | configs[~dense]
        if len(self._keys):
            near = np.minimum(np.searchsorted(self._keys, keys), len(self._keys) - 1)
            found[~dense] = np.where(self._keys[near] == keys, near, -1)
        return found

    def configurations(self, states: NDArray[np.bool_]) -> IntArray:  # (k,) -> (b,), or (batch, k) -> (batch, b)
        """Returns the configuration of every block in a state of k bits, or in many states.

        >>> from bitwright import addition
        >>> addition(2).program.configurations(addition(2).state({"p": 3, "q": 1}))
        array([3, 1, 0, 0])
        """
        values = states[..., self.block_bits].astype(np.int64) << self.position[self.block_bits]
        return np.asarray(np.add.reduceat(values, self.block_start[:-1], axis=-1))

    def match(self, state: NDArray[np.bool_]) -> IntArray:  # (n,)
        """Returns the templates that a state matches, in order; the paper calls their number n.

        >>> from bitwright import addition
        >>> program = addition(2).program
        >>> [program.template_text(t) for t in program.match(addition(2).state({"p": 3, "q": 1}))]
        ['when p[1]=1 q[1]=1 write c[1]', 'when p[2]=1 q[2]=0 write p[2]']
        """
        templates = self.lookup(np.arange(self.blocks), self.configurations(state))
        return templates[templates >= 0]

    # Text. The canonical text is itself a rule file; its sha256 is the id of the program.

    @cached_property
    def id(self) -> str:
        """The sha256 of the canonical text, which identifies the program in certificates, networks and traces."""
        digest = hashlib.sha256()
        for chunk in self.text_lines():
            digest.update(chunk.encode())
            digest.update(b"\n")
        return digest.hexdigest()

    def text_lines(self) -> Iterator[str]:
        """Yields the canonical text: every array, block and template, one per line.

        >>> from bitwright import permutation
        >>> print(*permutation([2, 1]).program.text_lines(), sep="\\n")
        bits p[2]
        block p[1]
        block p[2]
        when p[1]=1 write p[2]
        when p[2]=1 write p[1]
        """
        names = self.layout.names
        for declared in self.layout.fields:
            yield f"bits {declared}"
        owned = [names[bit] for bit in self.block_bits.tolist()]
        starts = self.block_start.tolist()
        for first, last in pairwise(starts):
            yield "block " + " ".join(owned[first:last])
        writes, written = self.write_start.tolist(), [names[bit] for bit in self.write_bits.tolist()]
        pairs = zip(self.template_block.tolist(), self.template_config.tolist(), strict=True)
        for number, (block, config) in enumerate(pairs):
            when = " ".join(
                f"{name}={config >> place & 1}" for place, name in enumerate(owned[starts[block] : starts[block + 1]])
            )
            yield f"when {when} write {' '.join(written[writes[number] : writes[number + 1]]) or 'nothing'}"

    def cell_lines(self) -> Iterator[str]:
        """Yields the canonical `cell` lines, if blocks are grouped; they are not part of the id.

        >>> from bitwright import addition
        >>> list(addition(2).program.cell_lines())
        ['cell p[1] q[1] c[1]', 'cell p[2] q[2] c[2]']
        """
        names, grouped = self.layout.names, self.grouped
        for cell in range(0 if grouped is None else len(grouped)):
            assert grouped is not None
            yield " ".join(("cell", *(names[bit] for block in grouped.bits(cell, self) for bit in block)))

    def block_names(self, block: int) -> list[str]:
        """Returns the names of a block's bits.

        >>> from bitwright import addition
        >>> addition(2).program.block_names(0)
        ['p[1]', 'q[1]']
        """
        return [self.layout.name_of(bit) for bit in self.block_members(block).tolist()]

    def block_members(self, block: int) -> IntArray:
        """Returns the bits of a block.

        >>> from bitwright import addition
        >>> addition(2).program.block_members(0)
        array([0, 2])
        """
        return self.block_bits[self.block_start[block] : self.block_start[block + 1]]

    def writes(self, template: int) -> IntArray:
        """Returns the bits that one template sets.

        >>> from bitwright import addition
        >>> addition(2).program.writes(2)
        array([4])
        """
        return self.write_bits[self.write_start[template] : self.write_start[template + 1]]

    def template_text(self, template: int) -> str:
        """Returns a template as rule text, such as `when p[1]=1 q[1]=0 write p[1]`.

        >>> from bitwright import addition
        >>> addition(2).program.template_text(2)
        'when p[1]=1 q[1]=1 write c[1]'
        """
        config = int(self.template_config[template])
        names = self.block_names(int(self.template_block[template]))
        when = " ".join(f"{name}={config >> place & 1}" for place, name in enumerate(names))
        return f"when {when} write {' '.join(map(self.layout.name_of, self.writes(template).tolist())) or 'nothing'}"

    # Equality is by content, not by the source text.

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Program):
            return NotImplemented
        return self.layout == other.layout and all(
            np.array_equal(getattr(self, name), getattr(other, name)) for name in _ARRAYS
        )

    def __hash__(self) -> int:
        return hash((self.layout, self.templates, self.write_bits.tobytes()))

    def __repr__(self) -> str:
        return f"<Program: {self.sizes}>"
