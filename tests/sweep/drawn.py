"""Small spaces of every shape, and the designs of a draw."""

from typing import Any

from hypothesis import strategies as st

KEYS = "abcde"


def cells(draw: Any) -> list[Any]:
    """All designs of a draw, told a result after each."""
    found = []
    while (cell := draw.ask()) is not None:
        draw.tell(cell, {"status": "failed"})
        found.append(cell)
    return found


@st.composite
def subspaces(draw: Any) -> dict[str, Any]:
    """Dimensions of choices or steps, some of them conditional on an earlier one, some zipped."""
    raw: dict[str, Any] = {}
    for key in KEYS[: draw(st.integers(0, len(KEYS)))]:
        choices = draw(st.lists(st.integers(1, 5), min_size=1, max_size=3, unique=True))
        dimension: dict[str, Any] = {"choices": choices}
        if draw(st.booleans()):
            low = draw(st.integers(1, 3))
            dimension = {"low": low, "high": low + 2 * draw(st.integers(1, 2)), "step": 2}
        earlier = [k for k in raw if "choices" in raw[k] and "with" not in raw[k]]
        if earlier and draw(st.booleans()):
            other = draw(st.sampled_from(earlier))
            wanted = st.lists(st.sampled_from(raw[other]["choices"]), min_size=1, unique=True)
            dimension["when"] = {other: draw(wanted)}
        elif earlier and draw(st.booleans()):
            other = draw(st.sampled_from(earlier))
            size = len(raw[other]["choices"])
            exactly = st.lists(st.integers(1, 5), min_size=size, max_size=size)
            dimension = {"choices": draw(exactly), "with": other}
        raw[key] = dimension
    return raw


unions = st.lists(subspaces(), min_size=1, max_size=3)
