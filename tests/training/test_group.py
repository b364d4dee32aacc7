"""Trials on two ranks are trials on one, to rounding."""

import pytest
import torch
from torch.distributed.algorithms.ddp_comm_hooks.default_hooks import allreduce_hook
from torch.nn.parallel import DistributedDataParallel

from gymspace.dist.jobs import Done, Failed, Job
from gymspace.dist.slots import Slots
from gymspace.records import LOG, Run
from gymspace.training.batches import full_graph
from gymspace.training.fit import train_epoch
from gymspace.training.group import Group
from gymspace.training.worker import Worker
from tests.training.trials import RING, assembled, history, run, spec_of

PARTS = {"name": "tests.training.tasks:parts", "parts": 3}
KEYS = {
    "precision": "float64",
    "metrics": ["accuracy", "auc", "f1"],
    "metric": "auc",
    "train.epochs": 6,
}
GRAPHS = {
    "dataset": {"name": "tests.graph.many:rings", "attr": True},
    "data.split": "random",
    "model.head": "graph",
}
# Without norm: BatchNorm's statistics are those of a rank's own graphs.
BATCHES = {"loader": "batches", "train.batch_size": 7, "model.norm": "none"}


@pytest.fixture(scope="module")
def pair():
    with Slots("gymspace.training.worker:Worker", 1, 2) as slots:
        yield slots


def close(value):
    """Equal to rounding in double precision; the AUC of a single node is nan on any number."""
    return pytest.approx(value, rel=1e-10, nan_ok=True)


def outcome(slots, folder, keys):
    """What becomes of a trial on the two ranks of ``slots``."""
    folder.mkdir(exist_ok=True)
    spec = spec_of({**keys, "dist.ranks": 2})
    return list(slots.run([Job("trial", Run(spec, folder, {}))]))[-1].outcome


@pytest.mark.parametrize(
    "change",
    [
        {},
        {"dataset": {"name": RING, "train": 9}},
        {"dataset": {"name": RING, "train": 1}},
        {"model.dropout": 0.5, "optim.grad_clip": 0.1},
        {"train.early_stopping": 2, "train.epochs": 60},
        {"dataset": {"name": RING, "edges": "none"}, "model.layer": "gat"},
        {"loader": PARTS, "optim.accumulate": 2, "optim.grad_clip": 0.1},
        {"optim.ema": 0.5, "optim.scheduler": {"name": "plateau", "patience": 0}},
        GRAPHS,
        {**GRAPHS, **BATCHES},
        {**GRAPHS, **BATCHES, "train.batch_size": 1},
        {**GRAPHS, **BATCHES, "optim.accumulate": 2, "model.layer": "gine"},
    ],
    ids=[
        *("even", "nine", "one", "dropout", "stopping", "edgeless", "accumulated", "averaged"),
        *("graphs", "batches", "batches of one", "accumulated batches"),
    ],
)
def test_two_ranks_train_and_judge_as_one(tmp_path, pair, change):
    """Field cases C1, C2, F1: 12, 9 and 1 train nodes, each counted once, none of them hanging.

    Also of 24 graphs in batches of 7, 7, 7 and 3 over both ranks, and of 1 each.
    """
    keys = {**KEYS, **change}
    one, two = run(tmp_path / "one", keys), outcome(pair, tmp_path / "two", keys)
    assert isinstance(two, Done), two
    assert two.value["ranks"] == 2
    assert {n: two.value[n] for n in ("epochs", "best_epoch", "split", "params")} == {
        n: one[n] for n in ("epochs", "best_epoch", "split", "params")
    }
    rows = zip(history(tmp_path / "one"), history(tmp_path / "two"), strict=True)
    for alone, shared in rows:
        expected = {name: close(float(value)) for name, value in alone.items()}
        assert {name: float(value) for name, value in shared.items()} == expected


def test_a_regression_with_missing_labels_on_two_ranks(tmp_path, pair):
    """Field cases C1, C3: ranks with different numbers of labels, R2 over the rows of both."""
    dataset = {"name": "tests.training.tasks:numbers", "tasks": 2}
    keys = {"dataset": dataset, "loss": "mse", "metrics": ["r2", "mae"], "metric": "r2"}
    keys |= {"precision": "float64"}
    one, two = run(tmp_path / "one", keys), outcome(pair, tmp_path / "two", keys)
    scores = [f"{s}_{n}" for s in ("train", "val", "test") for n in ("loss", "r2", "mae")]
    assert {n: two.value[n] for n in scores} == {n: close(one[n]) for n in scores}


def test_two_ranks_agree_that_a_trial_has_diverged(tmp_path, pair):
    """Field case B4: both stop, so neither waits for the other."""
    keys = {"optim.optimizer": "sgd", "optim.lr": 1e6, "model.norm": "none", "train.epochs": 20}
    assert outcome(pair, tmp_path / "trial", keys).value["status"] == "diverged"


def test_a_failure_of_one_of_two_ranks_is_logged_and_the_next_trial_runs(tmp_path, pair):
    keys = {"model.layer": "tests.training.tasks:RaisesOnRank1"}
    failed = outcome(pair, tmp_path / "bad", keys)
    assert isinstance(failed, Failed)
    assert failed.error == "rank 1: RuntimeError: only on rank 1"
    text = (tmp_path / "bad" / LOG).read_text()
    assert 'training/tasks.py", line' in text
    assert "RuntimeError: only on rank 1" in text
    assert outcome(pair, tmp_path / "good", {}).value["status"] == "done"


@pytest.mark.parametrize("change", [{}, {**GRAPHS, "loader": "batches", "train.batch_size": 7}])
def test_two_ranks_killed_and_begun_again_go_on_bitwise(tmp_path, change):
    """Field case G9: rank 0 is killed after epoch 4; both ranks go on from its checkpoint."""
    keys = {"train.epochs": 10, "train.checkpoint": True, "model.dropout": 0.5, **change}
    (tmp_path / "cut").mkdir()
    (tmp_path / "cut" / "die").write_text("4")
    with Slots("tests.training.tasks:Mortal", 1, 2) as slots:
        killed = outcome(slots, tmp_path / "cut", keys)
        assert isinstance(killed, Failed)
        assert "SIGKILL" in killed.error
        assert len(history(tmp_path / "cut")) == 5
        assert outcome(slots, tmp_path / "cut", keys).value["status"] == "done"
        assert outcome(slots, tmp_path / "straight", keys).value["status"] == "done"
    assert "resumed after epoch 4" in (tmp_path / "cut" / LOG).read_text()
    assert history(tmp_path / "cut") == history(tmp_path / "straight")


@pytest.mark.parametrize("ranks", [1, 2, 3, 7])
def test_each_row_of_a_split_is_in_the_share_of_one_rank(ranks):
    """Field case C2: nothing is padded, nothing counted twice, however the numbers divide."""
    task = Worker(0, 1)._task(spec_of())
    shares = [full_graph(task, Group(rank, ranks)).batch.rows for rank in range(ranks)]
    for split in ("train", "val", "test"):
        rows = torch.cat([share[split] for share in shares]).sort().values
        assert torch.equal(rows, getattr(task.split, split).nonzero().squeeze(1))


@pytest.fixture
def lone_rank():
    """A process group of this process alone."""
    store = torch.distributed.HashStore()
    torch.distributed.init_process_group("gloo", store=store, rank=0, world_size=1)
    yield
    torch.distributed.destroy_process_group()


@pytest.mark.parametrize(("accumulate", "steps"), [(1, 3), (2, 2), (3, 1)])
def test_gradients_are_sent_once_a_step(lone_rank, accumulate, steps):
    sent = []

    def send(state, bucket):
        sent.append(bucket.index())
        return allreduce_hook(state, bucket)

    trial = assembled({"loader": PARTS, "optim.accumulate": accumulate})
    model = DistributedDataParallel(trial.model)
    model.register_comm_hook(None, send)
    train_epoch(trial, model)
    assert sent == [0] * steps


def test_a_rank_alone_needs_no_process_group():
    group, model = Group(), torch.nn.Linear(2, 2)
    assert group.add(1.5, 2) == (1.5, 2)
    assert (group.any(True), group.any(False)) == (True, False)
    assert group.wrap(model) is model
