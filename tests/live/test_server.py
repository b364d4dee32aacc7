"""The server: it shows what there is, grows with it, writes nothing, and opens nothing else."""

import json
import shutil

import pytest

from tests.report.browser import chromium, opened
from tests.results.conftest import Sweep

GRID = {"model.stage": "stack", "model.layers_mp": 2}


def files(root):
    return {path: path.stat().st_mtime_ns for path in root.rglob("*")}


def test_it_lists_sweeps_and_how_far_they_are(served):
    status, text = served("/")
    assert status == 200
    assert 'href="grid/"' in text
    assert "notes" not in text
    (state,) = json.loads(served("/state.json")[1])
    assert state["text"] == "19 finished, 1 of them badly, 1 without a result"


def test_a_grid_says_of_how_many(served):
    Sweep(served.root / "small", draw="grid", trials=4).add({"model.layers_mp": 2})
    (served.root / "small" / ".owner").write_text('{"pid": 1, "host": "elsewhere"}')
    state = json.loads(served("/small/state.json")[1])
    assert (state["text"], state["share"]) == ("1 of 4 finished, running", 0.25)


def test_the_report_grows_with_the_folder_and_nothing_is_written(served):
    before = files(served.root)
    first = json.loads(served("/grid/state.json")[1])["version"]
    page = served("/grid/")[1]
    assert f'data-version="{first}"' in page
    assert files(served.root) == before
    sweep = Sweep.__new__(Sweep)
    sweep.folder = served.root / "grid"
    sweep.add(GRID, seed=8)
    second = json.loads(served("/grid/state.json")[1])["version"]
    assert second != first
    newer = served("/grid/")[1]
    assert f'data-version="{second}"' in newer
    assert ("19 trials: " in page, "20 trials: " in newer) == (True, True)


def test_a_sweep_without_a_result_waits_for_one(served):
    sweep = Sweep(served.root / "young")
    (sweep.folder / "trials" / "x").mkdir()
    status, text = served("/young/")
    assert (status, "no finished trial yet (1 unfinished)" in text) == (200, True)
    version = json.loads(served("/young/state.json")[1])["version"]
    assert f'"{version}"' in text
    sweep.add()
    assert json.loads(served("/young/state.json")[1])["version"] != version


def test_damage_is_said_and_hurts_no_other(served):
    sweep = Sweep(served.root / "broken")
    (sweep.folder / "sweep.json").write_text("{")
    assert "sweep.json is damaged" in served("/broken/")[1]
    states = {state["name"]: state["text"] for state in json.loads(served("/state.json")[1])}
    assert "damaged" in states["broken"]
    assert "19 finished" in states["grid"]


@pytest.mark.parametrize(
    "path",
    [
        "/../secret.txt",
        "/%2e%2e/secret.txt",
        "/..%2fsecret.txt",
        "/grid/../../secret.txt",
        "/%2e%2e/",
        "/../other/",
        "/%2e%2e%2fother/",
        "/notes/",
        "/nothing/",
        "/grid/trials/../sweep.json",
        "/grid/trials/%2e%2e/sweep.json",
        "/grid/trials/..%2f..%2f..%2fsecret.txt/trial.log",
        "/grid/trials/%2e%2e%2f%2e%2e/result.json",
        "/grid/trials/{trial}/events",
        "/grid/trials/{trial}/%2e%2e%2fsecret",
        "/grid/trials/{trial}/..%2f..%2fsweep.json",
        "//etc/passwd",
        "/%00/",
        "/grid/trials/%00/trial.log",
    ],
)
def test_other_paths_are_refused(served, path):
    trial = next((served.root / "grid" / "trials").iterdir()).name
    status, text = served(path.replace("{trial}", trial))
    assert (status, "secret" in text, "root:" in text) == (404, False, False)


def test_links_lead_nowhere_else(served):
    outside = served.root.parent
    (served.root / "linked").symlink_to(outside / "other")
    trials = served.root / "grid" / "trials"
    (trials / "away").symlink_to(outside)
    (outside / "trial.log").write_text("secret")
    inside = next(path for path in trials.iterdir() if (path / "result.json").exists())
    (inside / "trial.log").symlink_to(outside / "secret.txt")
    paths = ("/linked/", "/grid/trials/away/trial.log", f"/grid/trials/{inside.name}/trial.log")
    assert [served(path)[0] for path in paths] == [404, 404, 404]
    assert "linked" not in served("/")[1]


def test_a_log_of_a_trial_is_text(served):
    trial = next(iter((served.root / "grid" / "trials").glob("*/result.json"))).parent
    (trial / "trial.log").write_text("<b>epoch 1</b>")
    assert served(f"/grid/trials/{trial.name}/trial.log") == (200, "<b>epoch 1</b>")
    assert json.loads(served(f"/grid/trials/{trial.name}/result.json")[1])["trial"] == trial.name


@pytest.mark.parametrize("method", ["HEAD", "POST", "PUT", "DELETE", "OPTIONS", "PATCH"])
def test_other_methods_are_refused(served, method):
    assert served("/", method)[0] == 405
    assert served("/grid/", method)[0] == 405


def test_another_name_for_this_machine_gets_nothing(served):
    assert served("/", Host="evil.example")[0] == 400
    assert served("/", Host=f"localhost:{served.port}")[0] == 200


def test_a_folder_that_went_is_gone(served):
    assert served("/grid/state.json")[0] == 200
    shutil.rmtree(served.root / "grid")
    assert (served("/grid/")[0], json.loads(served("/state.json")[1])) == (404, [])


def test_an_open_page_shows_what_comes(served):
    """In a real browser: the page has one more design, without anybody's doing."""
    with (
        chromium() as browser,
        opened(browser, f"http://127.0.0.1:{served.port}/grid/") as page,
    ):
        assert "9 designs" in page.locator(".dt-info").inner_text()
        sweep = Sweep.__new__(Sweep)
        sweep.folder = served.root / "grid"
        sweep.add({"model.stage": "stack", "model.layers_mp": 8}, val=[0.1, 0.9])
        page.wait_for_function(
            "document.querySelector('.dt-info')?.textContent.includes('10 designs')", timeout=60_000
        )
