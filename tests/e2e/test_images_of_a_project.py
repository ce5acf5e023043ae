"""Images of one project: linked of the same objects, each begins with another function."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from score_embed.board.profile import find_board
from score_embed.config import DEFAULT_CHECKS
from score_embed.contract.entry import Told
from score_embed.contract.program import HARNESS_FILE, NO_STUBS
from score_embed.contract.sites import SiteKind
from score_embed.image.group import Group, Inputs
from score_embed.image.image import Image

CODE = """
struct s { int *p; int n; };
int first(struct s *s) { return s->p[s->n & 3] == 7; }
int second(struct s *s, int (*f)(int)) { return f(s->n) == 9; }
"""


@contextmanager
def _images(folder: Path, told: Told) -> Iterator[list[Image]]:
    path = folder / "p.c"
    path.write_text(CODE)
    inputs = Inputs([path], [], [], {path: ()}, (), told, NO_STUBS, (), DEFAULT_CHECKS)
    group = Group(find_board("native"), inputs, lambda step: None)
    try:
        functions = group.contents().functions
        group.build(functions)
        yield [group.image(function) for function in functions]
    finally:
        group.close()


def test_an_image_has_the_sites_of_its_own_harness(tmp_path: Path) -> None:
    """A record keeps where all sites of its program are: those of a hundred other harnesses have no place there."""
    with _images(tmp_path, Told()) as images:
        own = [{i for i, site in image.sites.sites.items() if site.file == HARNESS_FILE} for image in images]
        users = [{i: site for i, site in image.sites.sites.items() if site.file != HARNESS_FILE} for image in images]
    assert all(own)
    assert own[0].isdisjoint(own[1])
    assert users[0] == users[1]
    assert all(list(image.sites.sites) == sorted(image.sites.sites) for image in images)
    assert images[0].build_id != images[1].build_id


def test_a_harness_holds_its_own_stores_to_no_bounds_and_a_hints_reads_to_them(tmp_path: Path) -> None:
    for assume, has_checks in ((), False), (("s->p[9] == 0",), True):
        with _images(tmp_path, Told(assume=assume)) as images:
            sites = [site for image in images for site in image.sites.sites.values() if site.file == HARNESS_FILE]
        assert any(site.kind in (SiteKind.BOUNDS, SiteKind.SPAN) for site in sites) is has_checks
