"""The report in a real browser: it loads alone, sorts, filters, leads from rows to curves."""

import pytest

from gymspace.report.page import write_report
from tests.report.browser import chromium, draw_all, opened, overflow


@pytest.fixture(scope="module")
def browser():
    with chromium() as running:
        yield running


@pytest.fixture(scope="module")
def address(grid, tmp_path_factory):
    """The report of the grid, at a place of its own: nothing else of the sweep is beside it."""
    path = write_report(grid, tmp_path_factory.mktemp("report") / "report.html")
    return path.as_uri()


def column(page, title):
    head = page.locator("#board thead th").all_inner_texts()
    at = [text.split("\n")[0].strip() for text in head].index(title)
    return page.locator(f"#board tbody tr td:nth-child({at + 1})").all_inner_texts()


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("size", ["phone", "desktop"])
def test_it_loads_alone_and_fits(browser, address, size, scheme):
    with opened(browser, address, size, scheme, offline=True) as page:
        draw_all(page)
        assert overflow(page) <= 0
        assert page.locator(".plot .main-svg").count() >= 10
        ground = page.evaluate("getComputedStyle(document.body).backgroundColor")
        assert (ground == "rgb(20, 24, 27)") == (scheme == "dark")


def test_sorting_by_mouse_and_by_keyboard(browser, address):
    with opened(browser, address) as page:
        assert column(page, "rank") == [str(n) for n in range(1, 10)]
        page.locator("#board thead th", has_text="val accuracy").click()
        page.wait_for_selector("#board th[aria-sort=descending]:has-text('val accuracy')")
        scores = [text.split()[0] for text in column(page, "val accuracy")]
        assert scores == sorted(scores, reverse=True)
        page.get_by_role("button", name="l_mp: ").press("Enter")
        page.wait_for_selector("#board th[aria-sort=ascending]:has-text('l_mp')")
        assert column(page, "l_mp") == ["2"] * 3 + ["4"] * 3 + ["6"] * 3


def test_a_list_of_long_names_fits_a_phone(browser, address):
    """A list is as wide as the longest name in it, if nothing holds it."""
    with opened(browser, address, "phone") as page:
        page.evaluate(
            "document.querySelector('#filters select').append(new Option('x'.repeat(99)))"
        )
        assert overflow(page) <= 0


def test_filters_by_choice_and_by_text(browser, address):
    with opened(browser, address) as page:
        page.get_by_label("stage", exact=True).select_option("stack")
        assert set(column(page, "stage")) == {"stack"}
        assert "1 to 3 of 3 designs (of 9)" in page.locator(".dt-info").inner_text()
        page.get_by_role("button", name="clear").click()
        page.get_by_label("search").fill("skipsum")
        assert set(column(page, "stage")) == {"skipsum"}
        page.get_by_label("search").fill("nothing such")
        assert page.locator("#board tbody").inner_text() == "no design matches"


def test_a_row_leads_to_its_curves(browser, address):
    with opened(browser, address) as page:
        shown = page.locator("#chosen button")
        assert shown.count() == 5
        page.locator("#board tbody tr").last.get_by_role("link").press("Enter")
        page.wait_for_function("document.querySelectorAll('#chosen button').length === 6")
        plot = page.locator("#curves .plot").first
        page.wait_for_selector("#curves .plot[data-drawn]")
        assert plot.evaluate("plot => plot.data.filter(t => t.line).length") == 6
        assert 0 <= page.locator("#curves").bounding_box()["y"] < 200
        for _ in range(6):
            shown.first.click()
        assert page.locator("#chosen").inner_text().startswith("Add a design")


def test_another_quantity_and_another_cost(browser, address):
    with opened(browser, address) as page:
        page.locator("select[data-shows=curves]").select_option(label="train loss")
        page.wait_for_function("document.querySelectorAll('#curves figure')[3].offsetParent")
        assert page.locator("#curves figure:visible").count() == 1
        drawn = page.locator("#curves figure:visible .plot[data-drawn]")
        drawn.wait_for()
        assert drawn.evaluate("plot => plot.layout.yaxis.title.text") == "train loss"


def test_a_page_that_turns_dark_is_drawn_anew(browser, address):
    with opened(browser, address) as page:
        draw_all(page)
        ink = "document.querySelector('#importance .plot').layout.font.color"
        light = page.evaluate(ink)
        page.emulate_media(color_scheme="dark")
        page.wait_for_function(f"{ink} !== '{light}'")


def test_thousands_of_rows(browser, grid, tmp_path, monkeypatch):
    """Only the rows of one page are in the document."""
    from gymspace.report import compose

    whole = compose.leaderboard

    def many(*arguments):
        section = whole(*arguments)
        section.data["rows"] = [
            [n, *row[1:]] for n in range(1, 556) for row in section.data["rows"]
        ]
        return section

    monkeypatch.setattr(compose, "leaderboard", many)
    with opened(browser, write_report(grid, tmp_path / "many.html").as_uri()) as page:
        assert "of 4,995 designs" in page.locator(".dt-info").inner_text()
        assert page.locator("#board tbody tr").count() == 25
        for _ in range(2):
            page.locator("#board thead th", has_text="rank").click()
        page.wait_for_selector("#board th[aria-sort=descending]")
        assert set(column(page, "rank")) <= {"555", "554", "553"}
