"""A running TensorBoard over a sweep's folder, asked through its own HTTP API."""

import json
import re
import subprocess
import sys
import threading
import time
from urllib.parse import parse_qsl, urlencode
from urllib.request import Request, urlopen

import pytest

from gymspace.analysis.rank_plots import write_rank_plots
from gymspace.records import RESULT, SPEC, read_json, write_json
from gymspace.results.board import write_board
from gymspace.spec import identity
from tests.training.trials import run, spec_of

LOG = {"log.tensorboard": True, "train.epochs": 3}
ASKED = {"allowedStatuses": ["STATUS_SUCCESS", "STATUS_FAILURE"], "sliceSize": 99}


def train(folder, choices, seed, **log):
    """One trial in ``folder``, as a sweep leaves it."""
    keys = {**LOG, **choices, "seed": seed, **log}
    spec = spec_of(keys)
    trial = folder / "trials" / identity(spec)["trial"]
    result = run(trial, keys, choices=choices)
    write_json(trial / SPEC, {"choices": choices, "spec": spec.model_dump(mode="json")})
    return result


@pytest.fixture(scope="module")
def sweep(tmp_path_factory):
    """A sweep of two designs and two seeds that was widened by one trial, and failed in another."""
    folder = tmp_path_factory.mktemp("results") / "sweep"
    results = [
        train(folder, {"model.layers_mp": layers}, seed) for layers in (1, 2) for seed in (0, 1)
    ]
    write_board(folder)
    wide = {"model.layers_mp": 2, "model.stage": "skipsum", "model.residual": True}
    results.append(train(folder, wide, 0, **{"log.embeddings": True}))
    failed = train(folder, {"model.layers_mp": 3}, 0)
    path = folder / "trials" / failed["trial"] / RESULT
    write_json(path, {**read_json(path), "status": "failed", "val_accuracy": None})
    write_board(folder)
    write_rank_plots(folder)
    return folder, results, failed


@pytest.fixture(scope="module")
def get(sweep):
    """Asks the server; a body makes it a POST."""
    command = ("-m", "tensorboard.main", "--host", "127.0.0.1", "--port", "0", "--logdir")
    errors = {"stderr": subprocess.PIPE, "stdout": subprocess.DEVNULL, "text": True}
    with subprocess.Popen([sys.executable, *command, str(sweep[0])], **errors) as server:
        found = (re.search(r"http://127.0.0.1:\d+", line) for line in server.stderr)
        base = next(match[0] for match in found if match)
        threading.Thread(target=server.stderr.read, daemon=True).start()

        def ask(route, body=None, **query):
            headers = {"Content-Type": "application/json"}
            data = None if body is None else json.dumps(body).encode()
            with urlopen(Request(f"{base}/data/{route}?{urlencode(query)}", data, headers)) as got:
                return got.read()

        try:
            wait(ask, sweep[0])
            yield ask
        finally:
            server.terminate()


def wait(ask, folder):
    """Until the server, which answers before it has read everything, knows all runs."""
    paths = {path.parent.relative_to(folder) for path in folder.rglob("*tfevents*")}
    for _ in range(200):
        if len(json.loads(ask("runs"))) == len(paths):
            return
        time.sleep(0.1)
    pytest.fail("TensorBoard does not find all runs")


def test_all_trials_and_designs_are_runs(get, sweep):
    runs = json.loads(get("runs"))
    trials = {path.name for path in (sweep[0] / "trials").iterdir()}
    assert {run.removeprefix("trials/") for run in runs if run.startswith("trials")} == trials
    designs = [run for run in runs if run.startswith("designs/")]
    assert "designs/layers_mp=2, stage=skipsum, residual=true" in designs


def test_the_columns_are_those_of_the_whole_sweep(get):
    experiment = json.loads(get("plugin/hparams/experiment", {}))
    types = {info["name"]: info["type"] for info in experiment["hparamInfos"]}
    assert types == {
        "model.layers_mp": "DATA_TYPE_FLOAT64",
        "model.residual": "DATA_TYPE_BOOL",
        "model.stage": "DATA_TYPE_STRING",
        "seed": "DATA_TYPE_FLOAT64",
    }
    stage = next(i for i in experiment["hparamInfos"] if i["name"] == "model.stage")
    assert stage["domainDiscrete"] == ["skipsum", "stack"]


def test_each_trial_has_a_row_with_its_scores(get, sweep):
    groups = json.loads(get("plugin/hparams/session_groups", ASKED))["sessionGroups"]
    rows = {group["name"]: group for group in groups}
    _, results, failed = sweep
    assert set(rows) == {result["trial"] for result in (*results, failed)}
    for result in results:
        values = rows[result["trial"]]["metricValues"]
        got = {value["name"]["tag"]: value["value"] for value in values}
        for split in ("val", "test"):
            assert got[f"best/{split}_accuracy"] == pytest.approx(result[f"{split}_accuracy"])
        assert rows[result["trial"]]["hparams"]["seed"] == result["seed"]
    assert rows[failed["trial"]]["sessions"][0]["status"] == "STATUS_FAILURE"


def test_trials_and_designs_have_curves(get, sweep):
    tags = json.loads(get("plugin/scalars/tags"))
    result = sweep[1][0]
    assert {"accuracy/val", "loss/train", "lr"} <= tags[f"trials/{result['trial']}"].keys()
    names = {"run": f"trials/{result['trial']}", "tag": "accuracy/val"}
    points = json.loads(get("plugin/scalars/scalars", **names))
    assert points[result["best_epoch"]][2] == pytest.approx(result["val_accuracy"])
    assert "accuracy/val" in tags["designs/layers_mp=1, stage=stack, residual=false"]


def test_the_pictures_are_pictures(get):
    tags = json.loads(get("plugin/images/tags"))
    assert tags.keys() == {"."}
    assert "ranks/layers_mp" in tags["."]
    (image,) = json.loads(get("plugin/images/images", run=".", tag="ranks/layers_mp", sample=0))
    picture = get("plugin/images/individualImage", **dict(parse_qsl(image["query"])))
    assert picture.startswith(b"\x89PNG")


def test_the_projector_has_the_embeddings(get, sweep):
    run = f"trials/{sweep[1][-1]['trial']}"
    assert json.loads(get("plugin/projector/runs")) == [run]
    (found,) = json.loads(get("plugin/projector/info", run=run))["embeddings"]
    nodes, width = found["tensorShape"]
    rows = get("plugin/projector/metadata", run=run, name=found["tensorName"]).splitlines()
    assert rows[0].split(b"\t") == [b"node", b"label", b"split"]
    assert len(rows) == nodes + 1
    tensor = get("plugin/projector/tensor", run=run, name=found["tensorName"])
    assert len(tensor) == 4 * nodes * width
