from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from models.families.vits.windows import windows


@given(total=st.integers(1, 3000), first=st.integers(1, 60), factor=st.integers(1, 20))
def test_windows_cover_everything_once_and_in_order(total, first, factor):
    cuts = list(windows(lambda end: total, first, first * factor))
    assert [start for start, _ in cuts] == [0, *(end for _, end in cuts[:-1])]
    assert cuts[-1][1] == total
    assert all(end > start for start, end in cuts)


@given(total=st.integers(1, 3000), first=st.integers(4, 60))
def test_first_is_short_and_no_window_is_much_over_the_largest(total, first):
    sizes = [end - start for start, end in windows(lambda end: total, first, 4 * first)]
    assert sizes[0] <= first + first // 2
    assert max(sizes) <= 4 * first + first // 2


def test_they_grow():
    assert [end - start for start, end in windows(lambda end: 240, 16, 64)] == [16, 32, 64, 64, 64]


@given(total=st.integers(200, 3000), first=st.integers(1, 60), late=st.integers(0, 3000))
def test_the_end_may_be_told_late(total, first, late):
    """As long as `late` frames aren't reached, all that is said is that there are more."""
    def known(end: int) -> int:
        return end + first if end < min(late, total - first) else total

    assert list(windows(known, first, 4 * first)) == list(windows(lambda end: total, first, 4 * first))
