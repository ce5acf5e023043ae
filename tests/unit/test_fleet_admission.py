"""Who may say what to the server, and how much."""

from __future__ import annotations

import pytest

from score_embed.fleet.messages import Empty, Peer
from score_embed.fleet.origin import OWN, Origin, Standing
from score_embed.fleet.server.admission import FAULTS, MOST_LOCAL, MOST_NAMES, Admission, Expel

KEY = Origin(Standing.KEY, "lab", host="192.0.2.1")
LOCAL = Origin(Standing.LOOPBACK)


def said_by(client: str) -> Empty:
    return Empty(Peer(client, 1), 1, 0)


@pytest.mark.parametrize(
    ("origin", "may", "may_not"),
    [(KEY, ["lab", "lab.2"], ["lab2", "other"]), (LOCAL, ["lab", "x"], []), (Origin(Standing.ORDERS), [], ["lab"])],
)
def test_who_has_a_key_speaks_for_its_own(origin: Origin, may: list[str], may_not: list[str]) -> None:
    admission = Admission()
    assert [name for name in [*may, *may_not] if admission.admits(said_by(name), origin)] == may


@pytest.mark.parametrize(("origin", "most"), [(KEY, MOST_NAMES), (LOCAL, MOST_LOCAL)])
def test_strangers_have_a_limited_number_of_names(origin: Origin, most: int) -> None:
    admission = Admission()
    names = [f"lab.{number}" for number in range(most + 2)]
    assert [admission.admits(said_by(name), origin) for name in names] == [True] * most + [False] * 2
    assert admission.admits(said_by(names[0]), origin)  # it is one of them
    assert all(admission.admits(said_by(name), OWN) for name in names)


def test_strangers_have_so_many_frames_and_bytes_a_second() -> None:
    admission = Admission()
    assert [admission.has_room(KEY, 1, 0.0) for _ in range(2001)] == [True] * 2000 + [False]
    assert [admission.has_room(KEY, 1, 1.0) for _ in range(501)] == [True] * 500 + [False]
    assert not admission.has_room(KEY, (128 << 20) + 1, 1000.0)
    assert admission.has_room(KEY, 128 << 20, 1001.0)
    assert not admission.has_room(KEY, 1 << 20, 1001.0)
    assert admission.has_room(Origin(Standing.KEY, "other"), 1, 1001.0)  # each key by itself
    assert all(admission.has_room(OWN, 1 << 30, 0.0) for _ in range(3000))


def test_faults_send_strangers_away_and_nobody_else() -> None:
    admission = Admission()
    said = [admission.fault("lab.1", KEY, f"fault {number}") for number in range(FAULTS + 1)]
    assert said == [*[None] * (FAULTS - 1), Expel("lab.1", KEY, f"fault {FAULTS - 1}"), None]
    assert not admission.admits(said_by("lab.2"), KEY)  # all with this key
    assert [admission.fault("own", OWN, "fault") for _ in range(FAULTS + 1)] == [None] * (FAULTS + 1)
    assert admission.admits(said_by("own"), OWN)
