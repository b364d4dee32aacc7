"""Batches of graphs: every graph once, in an order of the epoch's, dealt to the ranks."""

from dataclasses import replace
from itertools import chain

import pytest
import torch

from gymspace.errors import ConfigError
from gymspace.records import Inspect
from gymspace.training.batches import SPLITS, full_graph
from gymspace.training.encoded import known_of
from gymspace.training.fit import evaluate, fit
from gymspace.training.graph_batches import graph_batches
from gymspace.training.group import Group
from gymspace.training.worker import Worker
from tests.training.trials import assembled, history, run, spec_of

GRAPHS = {
    "dataset": {"name": "tests.graph.many:rings", "attr": True},
    "data.split": "random",
    "model.head": "graph",
    "loader": "batches",
}


def task_of(**keys):
    return Worker(0, 1)._task(spec_of({**GRAPHS, **keys}))


def loaders(task, size, ranks=1, seed=0):
    return [graph_batches(task, Group(rank, ranks), size, seed) for rank in range(ranks)]


def marked(task):
    """A task whose labels are the graphs' numbers."""
    task.source.y.copy_(torch.arange(len(task.source.y)))
    return task


def judged(batches, split="train"):
    """By batch the numbers of the graphs that are judged."""
    return [batch.y[batch.rows[split]].tolist() for batch in batches]


def flat(lists):
    return list(chain.from_iterable(lists))


@pytest.mark.parametrize(("size", "ranks"), [(7, 1), (7, 2), (1, 2), (5, 3), (24, 2), (100, 7)])
def test_each_training_graph_is_learnt_from_once_an_epoch(size, ranks):
    """Field cases F1, C2: 24 graphs; nothing is dropped, padded or counted twice."""
    task = marked(task_of())
    shares = [judged(loader.train(3)) for loader in loaders(task, size, ranks)]
    count = -(-24 // size)
    assert [len(share) for share in shares] == [count] * ranks
    assert len(loaders(task, size)[0]) == count
    whole = [flat(parts) for parts in zip(*shares, strict=True)]
    assert [len(batch) for batch in whole] == [min(size, 24 - n * size) for n in range(count)]
    assert sorted(flat(whole)) == task.split.train.nonzero().squeeze(1).tolist()
    (loader,) = loaders(task, size)
    alone = judged(loader.train(3))
    assert [sorted(batch) for batch in whole] == [sorted(batch) for batch in alone]


@pytest.mark.parametrize("ranks", [1, 2, 3, 50])
def test_each_graph_is_judged_once(ranks):
    """Field case C2, also with more ranks than graphs."""
    task = marked(task_of())
    every = [list(loader.evaluate()) for loader in loaders(task, 6, ranks)]
    assert all(every)
    for split in SPLITS:
        found = sorted(flat(flat(judged(batches, split) for batches in every)))
        assert found == getattr(task.split, split).nonzero().squeeze(1).tolist()


def test_graphs_outside_of_the_split_are_not_looked_at():
    split = {"name": "per_class", "train": 3, "val": 4, "test": 5}
    task = marked(task_of(**{"data.split": split}))
    (loader,) = loaders(task, 100)
    (batch,) = loader.evaluate()
    assert batch.graph.batch[-1] + 1 == len(batch.y) == 15


def test_the_order_is_of_seed_and_epoch_alone():
    """Field case F3."""
    task = marked(task_of())
    (loader,), (other,) = loaders(task, 24), loaders(task, 24, seed=1)
    first = judged(loader.train(0))
    torch.rand(3)
    assert judged(loader.train(0)) == first
    before = torch.get_rng_state()
    assert judged(loader.train(1)) != first != judged(other.train(0))
    assert torch.equal(torch.get_rng_state(), before)


def test_a_rank_without_graphs_goes_through_one_of_which_it_judges_nothing():
    """Field case F1: one graph, two ranks."""
    _, second = loaders(task_of(), 1, ranks=2)
    batch = next(second.train(0))
    assert (len(batch.y), len(batch.rows["train"])) == (1, 0)
    assert not batch.has_labels("train")


def test_a_batch_has_the_labels_and_edge_data_of_its_graphs():
    task = task_of()
    (loader,) = loaders(task, 7)
    for batch in loader.evaluate():
        assert batch.graph.links.attr.size(0) == batch.graph.links.index.size(1)
        assert len(batch.y) == batch.graph.batch[-1] + 1


def test_all_graphs_at_once_learn_from_those_of_the_training_split_alone():
    loader = full_graph(task_of(), Group())
    (learn,), (judge,) = loader.train(0), loader.evaluate()
    assert (len(learn.y), len(judge.y)) == (24, 40)
    assert learn.rows["train"].tolist() == list(range(24))


def test_one_batch_of_all_training_graphs_is_the_full_loader():
    keys = {**GRAPHS, "precision": "float64", "train.batch_size": 100}
    losses = []
    for loader in ("batches", "full"):
        trial = assembled({**keys, "loader": loader})
        losses.append([(e.loss, e.scores["test_loss"].value) for e in fit(trial, 3)])
    torch.testing.assert_close(*map(torch.tensor, losses), rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("size", [1, 3, 9])
def test_scores_do_not_depend_on_the_batches(size):
    """Field case C1."""
    keys = {**GRAPHS, "metrics": ["accuracy", "auc"], "precision": "float64"}
    trial = assembled({**keys, "train.batch_size": 100})
    small = assembled({**keys, "train.batch_size": size}).loader
    one, many = evaluate(trial), evaluate(replace(trial, loader=small))
    assert {name: score.n for name, score in one.items()} == {n: s.n for n, s in many.items()}
    for name, score in one.items():
        assert many[name].value == pytest.approx(score.value, rel=1e-10, nan_ok=True)


@pytest.mark.parametrize("layer", ["gcn", "gine", "pna", "gat", "gatedgcn"])
@pytest.mark.parametrize("size", [1, 4])
def test_any_layer_learns_from_graphs_without_edges_and_of_one_node(tmp_path, layer, size):
    """Field cases E1, E4."""
    keys = {**GRAPHS, "model.layer": layer, "train.batch_size": size, "train.epochs": 2}
    assert run(tmp_path / "trial", keys)["status"] == "done"


def test_what_the_trials_write_is_of_all_epochs(tmp_path):
    result = run(tmp_path / "trial", {**GRAPHS, "data.split": {"name": "kfold", "folds": 4}})
    assert result["split"] == "kfold(folds=4, fold=0, seed=0): 20/10/10"
    assert len(history(tmp_path / "trial")) == 5


def test_degrees_are_those_of_the_training_graphs():
    task = task_of()
    counts = torch.tensor(task.source.counts)
    edges = task.source.bounds.edges.diff()
    train = task.split.train
    known = known_of(task, spec_of(GRAPHS))
    assert known.degrees.sum() == counts[train].sum()
    assert known.degrees[1] == edges[train].sum()  # a ring: one edge comes in at each node
    assert (known.nodes, known.level, known.edge_dim) == (7, "graph", 2)


def test_a_single_graph_has_no_batches():
    with pytest.raises(ConfigError) as caught:
        Worker(0, 1)(Inspect(spec_of({"loader": "batches"})), lambda value: None)
    assert str(caught.value) == (
        "loader=batches: needs a dataset of many graphs, and this is one: set loader=full"
    )
