"""Node embeddings for the projector: what the last map gets, with labels and splits."""

import numpy as np
import pytest
import torch

from gymspace.errors import ConfigError
from gymspace.training import embeddings
from gymspace.training.worker import Worker
from tests.training.trials import assembled, run, spec_of

WANTED = {"log.tensorboard": True, "log.embeddings": True}


def vectors(folder):
    return np.loadtxt(folder / embeddings.VECTORS, delimiter="\t", ndmin=2)


@pytest.mark.parametrize("layers", [0, 1, 2])
def test_the_last_map_turns_embeddings_into_scores(layers):
    keys = {"model.layers_post_mp": layers, "model.layer": "linear"}
    model, task = assembled(keys).model, Worker(0, 1)._task(spec_of(keys))
    graph = task.source.graph
    found = embeddings.embed(model, graph)
    last = model.head.last
    with torch.no_grad():
        scores = last(found) if layers else last(graph.with_x(found)).x
        assert torch.equal(scores, model(graph))
    assert not last._forward_pre_hooks


def test_each_node_has_its_vector_label_and_split(tmp_path):
    assert run(tmp_path, WANTED)["status"] == "done"
    header, *rows = (tmp_path / embeddings.NODES).read_text().splitlines()
    task = Worker(0, 1)._task(spec_of())
    assert header.split("\t") == ["node", "label", "split"]
    assert [row.split("\t")[1] for row in rows] == [str(int(y)) for y in task.source.y]
    assert [row.endswith("\ttrain") for row in rows] == task.split.train.tolist()
    assert vectors(tmp_path).shape == (len(rows), 8)


def test_the_best_epoch_is_embedded_where_it_is_kept(tmp_path):
    kept = {**WANTED, "train.checkpoint": True, "optim.lr": 0.3, "train.epochs": 9}
    result = run(tmp_path / "best", kept)
    run(tmp_path / "last", {**kept, "train.checkpoint": False})
    assert result["best_epoch"] < 8
    assert f"epoch {result['best_epoch']}" in (tmp_path / "best" / embeddings.CONFIG).read_text()
    assert "epoch 8" in (tmp_path / "last" / embeddings.CONFIG).read_text()
    assert not np.allclose(vectors(tmp_path / "best"), vectors(tmp_path / "last"))


def test_of_too_many_nodes_every_nth_is_taken(tmp_path, monkeypatch):
    monkeypatch.setattr(embeddings, "MOST", 10)
    run(tmp_path, WANTED)
    _, *rows = (tmp_path / embeddings.NODES).read_text().splitlines()
    nodes = [int(row.split("\t")[0]) for row in rows]
    assert len(vectors(tmp_path)) == len(nodes) <= 10
    assert len(set(np.diff(nodes))) == 1
    assert f"{len(nodes)} of " in (tmp_path / embeddings.CONFIG).read_text()


def test_none_are_written_unasked_or_of_a_diverged_trial(tmp_path):
    run(tmp_path / "unasked", {"log.tensorboard": True})
    broken = {**WANTED, "optim.lr": 1e6, "optim.optimizer": "sgd"}
    assert run(tmp_path / "diverged", broken)["status"] == "diverged"
    assert list(tmp_path.glob("*/embeddings*")) == []


def test_without_tensorboard_they_are_refused():
    with pytest.raises(ConfigError, match=r"log.embeddings.*needs log.tensorboard=true"):
        spec_of({"log.embeddings": True})
