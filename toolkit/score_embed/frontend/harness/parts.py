"""The members of a structure that a harness makes, with the places where they lie.

A structure without a name lends its own members. Of a union those are made that the function looks at: one, or one of
several as another member says (`unions.py`); else the largest one without pointers.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

from score_embed.frontend.c.own_names import as_written
from score_embed.frontend.harness.draft import Draft
from score_embed.frontend.harness.shapes import bits, holds_pointers
from score_embed.frontend.harness.text import Spot
from score_embed.frontend.types.ctype import Member, Record, Struct, is_integer, unqualified


@dataclass(frozen=True)
class Part:
    """`when`: a condition of other members, in C; "": always."""

    member: Member
    spot: Spot
    when: str = ""

    @property
    def name(self) -> str:
        return self.member.name or ""

    @property
    def is_union(self) -> bool:
        """Or a member of one: it is made when the numbers beside it are there."""
        t = unqualified(self.member.type)
        return bool(self.when) or (isinstance(t, Struct) and t.record.kind == "union")


def flat(draft: Draft, record: Record, spot: Spot) -> list[Part]:
    """The members with a name; structures and unions without one lend theirs."""
    found: list[Part | Record] = []
    for member in record.members or []:
        if member.bits == 0 or (member.name == "" and member.bits is not None):
            continue
        if member.name is not None:
            found.append(Part(member, spot_of(draft, record, member, spot)))
        else:
            inner = member.type
            assert isinstance(inner, Struct)
            found += [inner.record] if inner.record.kind == "union" else flat(draft, inner.record, spot)
    beside = numbers(part for part in found if isinstance(part, Part))
    parts: list[Part] = []
    for one in found:
        parts += [one] if isinstance(one, Part) else of_union(draft, one, spot, beside)
    return parts


def numbers(parts: Iterable[Part]) -> dict[str, str]:
    """The lvalues of those that are integers, by name."""
    return {part.name: part.spot.place for part in parts if not part.when and is_integer(unqualified(part.member.type))}


def of_union(draft: Draft, record: Record, spot: Spot, beside: Mapping[str, str]) -> list[Part]:
    """The members of a union that are made. `beside`: the numbers around it."""
    members = [m for m in record.members or [] if m.name and m.bits is None]
    plain = max((m for m in members if not holds_pointers(m.type)), key=lambda m: bits(m.type), default=None)
    looks, chosen, decided = draft.looks, list[tuple[str, Member]](), dict[str, set[str]]()
    for member in members:
        if not holds_pointers(member.type) or member.name not in looks.seen:
            continue
        tags = {tag: constants for tag, constants in looks.deciding(member.name).items() if tag in beside}
        if not tags:
            chosen, decided = [("", member)], {}
            break
        tag, constants = next(iter(tags.items()))
        chosen.append((" || ".join(f"{beside[tag]} == {constant}" for constant in sorted(constants)), member))
        decided.setdefault(tag, set()).update(constants)
    if plain is not None and all(when for when, _ in chosen):
        chosen.append((" && ".join(f"!({when})" for when, _ in chosen), plain))
    _say_others(draft, spot, members, [member for _, member in chosen], decided)
    return [Part(member, spot_of(draft, record, member, spot), when) for when, member in chosen]


def _say_others(
    draft: Draft, spot: Spot, members: list[Member], chosen: list[Member], decided: Mapping[str, set[str]]
) -> None:
    """Members that somebody looks at, and that are not made. `decided`: where pointers are."""
    pointers, others = any(holds_pointers(member.type) for member in chosen), []
    for member in members:
        name, is_pointer = member.name or "", holds_pointers(member.type)
        if member in chosen and (is_pointer or not pointers):
            continue
        is_lost = any(draft.looks.sees_where(name, *one) for one in decided.items()) if decided else pointers
        if (is_pointer or is_lost) and draft.scope.is_accessed(name) and draft.looks.may_see(name):
            others.append(name)
    if others:
        label = f"*{spot.label[:-2]}" if spot.label.endswith("->") else spot.label
        draft.text.lost.append(as_written(f"{label}: of the union no {', '.join(others)} is made"))


def spot_of(draft: Draft, record: Record, member: Member, spot: Spot) -> Spot:
    """Where a member lies, and what it is called."""
    own = tuple(f"{name}.{member.name}" for name in draft.scope.names_of(record))
    dot = "" if spot.label.endswith("->") else "."
    return replace(
        spot, place=f"{spot.place}.{member.name}", label=f"{spot.label}{dot}{member.name}", members=own, said=""
    )
