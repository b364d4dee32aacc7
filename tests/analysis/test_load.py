"""From a folder to a study."""

import pytest

from gymspace.analysis.curves import learning_curves, regret
from gymspace.analysis.load import finished, load_curves, load_study
from gymspace.analysis.ranking import rank
from gymspace.errors import ConfigError
from gymspace.results.cells import NULL
from gymspace.results.graphgym import import_graphgym
from tests.results.conftest import Sweep
from tests.results.graphgym_tables import nine


@pytest.fixture
def sweep(tmp_path):
    return Sweep(tmp_path / "study", aliases={"model.layers_mp": "l_mp"})


def test_a_sweep_is_read_with_its_choices_and_direction(sweep):
    """Field case B7: the choice null is ranked."""
    for clip in (None, 1.0):
        for depth, score in ((2, 0.5), (4, 0.7 if clip is None else 0.6)):
            for seed in (0, 1):
                choices = {"optim.grad_clip": clip, "model.layers_mp": depth}
                sweep.add(choices, seed=seed, val=[score])
    sweep.add({"optim.grad_clip": 1.0, "model.layers_mp": 8}, status="diverged")
    study = load_study(sweep.folder)
    assert set(study.dimensions) == {"optim.grad_clip", "model.layers_mp"}
    assert study.left_out == {"diverged": 1}
    ranking = rank(study, "grad_clip").choices.set_index("choice")["average_rank"]
    assert ranking[NULL] == 1
    assert rank(study, "l_mp").used == 2


def test_a_metric_is_better_low_if_it_chose_epochs_so(sweep):
    """Field case B1."""
    for depth, score in ((2, 0.5), (4, 0.7)):
        sweep.add({"model.layers_mp": depth}, val=[score], direction="min")
    study = load_study(sweep.folder)
    best = study.designs.sort_values("gain").iloc[-1]
    assert best["model.layers_mp"] == 2


def test_tasks_have_names_and_are_no_dimensions(sweep):
    for split in ("random", "per_class"):
        for depth in (2, 4):
            sweep.add({"data.split": split, "model.layers_mp": depth})
    study = load_study(sweep.folder)
    assert study.dimensions == ("model.layers_mp",)
    assert sorted(map(study.task_name, study.scores)) == ["per_class", "random"]


def test_curves_and_order_come_from_the_trials_files(sweep):
    for seed in (0, 1):
        sweep.add({"model.layers_mp": 2}, seed=seed, val=[0.1 + seed, 0.3 + seed])
        sweep.add({"model.layers_mp": 4}, seed=seed, val=[0.2, 0.2])
    study = load_study(sweep.folder)
    found = learning_curves(load_curves(sweep.folder, study, "val_accuracy"))
    assert sorted(found["mean"].round(3)) == [0.2, 0.2, 0.6, 0.8]
    assert len(regret(study, finished(sweep.folder, study))) == 4
    with pytest.raises(ConfigError, match="column=val_auc: no history of a trial has it; choices"):
        load_curves(sweep.folder, study, "val_auc")


@pytest.mark.parametrize(
    ("options", "line"),
    [
        ({"metric": "acuracy"}, "metric=acuracy: no such metric; choices: .*did you mean accuracy"),
        ({"split": "dev"}, "split=dev: unknown choice; choices: train, val, test"),
    ],
)
def test_a_metric_that_is_not_there_is_told(sweep, options, line):
    for depth in (2, 4):
        sweep.add({"model.layers_mp": depth})
    with pytest.raises(ConfigError, match=line):
        load_study(sweep.folder, **options)
    assert load_study(sweep.folder, "seconds").metric == "seconds"
    assert load_study(sweep.folder, split="test").metric == "test_accuracy"


def test_a_folder_that_has_nothing_to_say_is_told(sweep, tmp_path):
    with pytest.raises(ConfigError, match="no finished trial"):
        load_study(sweep.folder)
    sweep.add()
    with pytest.raises(ConfigError, match="nothing varies"):
        load_study(sweep.folder)
    with pytest.raises(ConfigError, match="no such folder"):
        load_study(tmp_path / "none")


def test_an_imported_folder_is_read_by_its_rule(tmp_path):
    import_graphgym(nine(tmp_path / "in"), tmp_path / "out")
    best, last = (load_study(tmp_path / "out", rule=rule) for rule in (None, "last"))
    assert best.frame["score"].max() == 0.644
    assert last.frame["score"].max() == 0.643
    with pytest.raises(ConfigError, match="rule=worst: unknown choice; choices: best, last"):
        load_study(tmp_path / "out", rule="worst")


def test_the_folds_of_a_kfold_split_are_known(sweep):
    made = sweep
    for depth, fold in ((2, 0), (2, 1), (4, 0), (4, 1)):
        text = f"kfold(folds=10, fold={fold}, seed 0): 8/1/1"
        made.add({"model.layers_mp": depth}, seed=fold, fold=fold, split=text)
    assert list(load_study(made.folder).folds.values()) == [10]
