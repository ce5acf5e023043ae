"""Random decision trees as targets: a program of nothing but branches over its input bytes, run in a few lines.

It sends real event streams and hashes, so that decoder, solver and explorer are tested together, with a number of
paths that anyone can count by trying all inputs.
"""

from __future__ import annotations

from dataclasses import dataclass

import hashes
from events import Stream, leaf_step, pin, slot, symbolic

from score_embed.contract.outcome import Finished, Verdict
from score_embed.contract.sites import Op, Site, SiteKind, SiteTable, Step, Template
from score_embed.explore.pair import Pair

FIRST_BRANCH = 100
_COVERED_ALIKE = 3  # so many branches have coverage of their own, so that a test covers what others aim at


@dataclass(frozen=True)
class Branch:
    """`(byte[left] & mask) op (byte[right] or constant)`; right < 0: the constant."""

    op: Op
    left: int
    right: int
    constant: int
    mask: int
    no: Tree
    yes: Tree
    assumption: bool = False


@dataclass(frozen=True)
class Switch:
    """`switch (byte[left] & mask)` with single values as labels, and the default last."""

    left: int
    mask: int
    labels: tuple[int, ...]
    arms: tuple[Tree, ...]


@dataclass(frozen=True)
class Use:
    """`(byte[left] ^ byte[right]) & mask` (right < 0: byte[left] alone) is used as it is: it says which arm is next,
    without a condition."""

    left: int
    right: int
    mask: int
    arms: tuple[Tree, ...]

    def value(self, data: bytes) -> int:
        return (data[self.left] ^ (data[self.right] if self.right >= 0 else 0)) & self.mask


@dataclass(frozen=True)
class End:
    verdict: Verdict = Verdict.RETURN


Tree = Branch | Switch | Use | End
_HOLDS = {
    Op.EQ: lambda a, b: a == b,
    Op.NE: lambda a, b: a != b,
    Op.ULT: lambda a, b: a < b,
    Op.ULE: lambda a, b: a <= b,
}


class Program:
    """A tree with its site table: runs tests as a target would."""

    def __init__(self, tree: Tree, size: int) -> None:
        self.size = size
        self._root = tree
        self._ids: dict[int, int] = {}  # id() of a node → site
        sites: list[Site] = [symbolic(16 + i, slot(i + 1, 8), 1, f"b{i}") for i in range(size)]
        self._number(tree, sites)
        self.table = SiteTable(32, {site.id: site for site in sites})
        self.runs = 0
        self.values: tuple[int, ...] = ()  # used as they are by the last run

    def _number(self, tree: Tree, sites: list[Site]) -> None:
        if isinstance(tree, End):
            return
        ident = FIRST_BRANCH + len(self._ids)
        self._ids[id(tree)] = ident
        if isinstance(tree, Branch):
            sites.append(self._condition(ident, tree))
        elif isinstance(tree, Use):
            sites += self._use(ident, tree)
        else:
            sites += self._switch(ident, tree)
        for child in self._children(tree):
            self._number(child, sites)

    def _children(self, tree: Tree) -> tuple[Tree, ...]:
        if isinstance(tree, Branch):
            return (tree.no, tree.yes)
        return tree.arms if isinstance(tree, Switch | Use) else ()

    def _condition(self, ident: int, tree: Branch) -> Site:
        left = [leaf_step(0, 8), Step(Op.CONST, 8, tree.mask), Step(Op.AND, 8), Step(Op.ZEXT, 32)]
        leaves = [slot(tree.left + 1, 8)]
        right = [Step(Op.CONST, 32, tree.constant)]
        if tree.right >= 0:
            leaves.append(slot(tree.right + 1, 8))
            right = [leaf_step(1, 8), Step(Op.CONST, 8, tree.mask), Step(Op.AND, 8), Step(Op.ZEXT, 32)]
        template = Template(tuple(leaves), (*left, *right, Step(tree.op, 32)))
        flags = int(tree.assumption)
        return Site(ident, SiteKind.COND, "t.c", ident, template=template, coverage=_coverage(ident), flags=flags)

    def _switch(self, ident: int, tree: Switch) -> list[Site]:
        steps = (leaf_step(0, 8), Step(Op.CONST, 8, tree.mask), Step(Op.AND, 8))
        masked = Site(
            ident + 10_000,
            SiteKind.ASSIGN,
            dest=slot(50, 8),
            template=Template((slot(tree.left + 1, 8),), steps),
        )
        labels = tuple((label, label) for label in tree.labels)
        site = Site(ident, SiteKind.SWITCH, leaves=(slot(50, 8),), labels=labels, coverage=_coverage(ident))
        return [masked, site]

    def _use(self, ident: int, tree: Use) -> list[Site]:
        steps, leaves = [leaf_step(0, 8)], [slot(tree.left + 1, 8)]
        if tree.right >= 0:
            steps += [leaf_step(1, 8), Step(Op.XOR, 8)]
            leaves.append(slot(tree.right + 1, 8))
        template = Template(tuple(leaves), (*steps, Step(Op.CONST, 8, tree.mask), Step(Op.AND, 8)))
        used = Site(ident + 10_000, SiteKind.ASSIGN, dest=slot(50, 8), template=template)
        said = Site(ident + 20_000, SiteKind.OPAQUE, dest=slot(51, 8))  # other values send other events
        return [used, pin(ident, slot(50, 8)), said]

    def run(self, pair: Pair) -> Finished:
        self.runs += 1
        data = pair.input
        assert len(data) >= self.size
        stream = Stream()
        for i in range(self.size):
            stream.head(16 + i)
        path = condition = operand = hashes.START
        count, matched, tree = 0, pair.predicted == 0, self._root
        covered: list[int] = []
        values: list[int] = []

        def checked(lanes: hashes.Lanes) -> hashes.Lanes:
            nonlocal count, matched
            count += 1
            if count == pair.predicted:
                matched = hashes.value(lanes) == pair.condition_hash
            return lanes

        while not isinstance(tree, End):
            ident = self._ids[id(tree)]
            if isinstance(tree, Branch):
                a = data[tree.left] & tree.mask
                b = tree.constant if tree.right < 0 else data[tree.right] & tree.mask
                direction = int(_HOLDS[tree.op](a, b))
                stream.head(ident, direction)
                covered.append(_coverage(ident) + direction)
                if tree.right >= 0:
                    stream.varint(0b0101)
                for leaf in (tree.left, tree.right):
                    operand = hashes.mix_operand(operand, data[leaf], 8) if leaf >= 0 else operand
                path = hashes.mix(path, ident << 1 | direction)
                condition = checked(hashes.mix_condition(condition, ident, direction))
                if tree.assumption and not direction:
                    tree = End(Verdict.ASSUMPTION)
                else:
                    tree = tree.yes if direction else tree.no
            elif isinstance(tree, Use):
                values.append(tree.value(data))
                stream.head(ident + 10_000)
                if tree.right >= 0:
                    stream.varint(0b0101)
                stream.head(ident).head(ident + 20_000).signed(values[-1])
                arm = values[-1] % len(tree.arms)
                path = hashes.mix(path, ident << 1 | arm)
                tree = tree.arms[arm]
            else:
                value = data[tree.left] & tree.mask
                arm = tree.labels.index(value) if value in tree.labels else len(tree.labels)
                stream.head(ident + 10_000).head(ident).varint(arm)
                covered.append(_coverage(ident) + arm)
                operand = hashes.mix_operand(operand, value, 8)
                path = hashes.mix(hashes.mix(path, ident << 1), arm)
                for i in range(min(arm + 1, len(tree.labels))):
                    condition = checked(hashes.mix_label(condition, ident, i, int(i == arm)))
                tree = tree.arms[arm]
        self.values = tuple(values)
        return Finished(
            verdict=tree.verdict,
            code=0,
            pc=0,
            address=0,
            site=0,
            stack=(),
            path_hash=hashes.value(path),
            conditions=count,
            condition_match=matched,
            operand_hash=hashes.folded(operand),
            events=bytes(stream) if matched else b"",
            coverage=tuple(covered),
            branches=count,
            input_used=self.size,
            output=b"",
        )


def _coverage(ident: int) -> int:
    return 10 * (ident % _COVERED_ALIKE)
