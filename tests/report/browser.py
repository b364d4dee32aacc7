"""Debian's Chromium without a screen and without network, and what went wrong in it."""

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

SIZES = {"phone": {"width": 390, "height": 844}, "desktop": {"width": 1280, "height": 900}}


@contextmanager
def chromium() -> Iterator:
    """The browser; the test is skipped where there is none."""
    playwright = pytest.importorskip("playwright.sync_api", reason="needs playwright")
    path = os.environ.get("CHROMIUM") or shutil.which("chromium")
    if path is None:
        pytest.skip("needs Debian's package chromium")
    with playwright.sync_playwright() as running:
        browser = running.chromium.launch(executable_path=path, args=["--no-sandbox"])
        yield browser
        browser.close()


@contextmanager
def opened(browser, address: str, size: str = "desktop", scheme: str = "light", **options):
    """A page that has its leaderboard; whatever the browser complains of fails the test."""
    context = browser.new_context(
        viewport=SIZES[size], color_scheme=scheme, reduced_motion="reduce", **options
    )
    page, complaints = context.new_page(), []
    page.on("pageerror", lambda error: complaints.append(str(error)))
    page.on("console", lambda said: complaints.append(said.text) if said.type == "error" else None)
    page.on("request", lambda request: _count(request, address, complaints))
    page.goto(address)
    page.wait_for_selector("#board[data-ready]")
    yield page
    assert complaints == []
    context.close()


def _count(request, address: str, complaints: list[str]) -> None:
    """Anything from another place is a complaint."""
    own = ("data:", "blob:", address.rsplit("/", 1)[0])
    if not request.url.startswith(own):
        complaints.append(f"asks for {request.url}")


def draw_all(page) -> None:
    """Scroll to every figure that is shown, so that it is drawn."""
    for plot in page.query_selector_all(".plot"):
        if plot.is_visible():
            plot.scroll_into_view_if_needed()
            page.wait_for_function("plot => plot.dataset.drawn", arg=plot)


def overflow(page) -> int:
    """Pixels by which the page is wider than the window."""
    return page.evaluate("document.documentElement.scrollWidth - innerWidth")
