"""Rankings in the terminal: the published study's averages, and what is said with them."""

import pytest

from gymspace.results.graphgym import import_graphgym
from tests.results.graphgym_tables import controlled

PUBLISHED = {
    "bn": {"true": 1.281, "false": 1.625},
    "act": {"prelu": 1.511, "relu": 1.938, "swish": 2.042},
    "agg": {"add": 1.495, "mean": 1.916, "max": 2.179},
    "optim": {"adam": 1.323, "sgd": 1.573},
    "drop": {"0.0": 1.553, "0.3": 1.766, "0.6": 2.351},
}


def test_the_published_study_prints_its_averages(shared_data, tmp_path, ask):
    source = shared_data / "graphgym_results" / "design_v1_grid_round1" / "agg" / "val.csv"
    import_graphgym(source, tmp_path / "v1")
    said = ask("rank", tmp_path / "v1", "--incomplete", "--keep", "done,diverged")
    lines = [line.split() for line in said.out.splitlines()]
    for dimension, averages in PUBLISHED.items():
        start = next(at for at, words in enumerate(lines) if words[:1] == [dimension])
        lines[start] = lines[start][1:]
        table = lines[start : start + len(averages)]
        assert {words[0]: float(words[1]) for words in table} == averages
    assert "91 to 96 groups per dimension" in said.out
    assert "act: 2 groups are partial; 2 have no prelu" in said.out


def test_dropped_groups_and_left_out_trials_are_said(grid, ask):
    """Field case B5."""
    words = " ".join(ask("rank", grid, "--dimension", "stage", "--json").json["words"])
    for part in ("groups that lack a choice: 1, dropped", "failed are left out", "(Holm)"):
        assert part in words
    assert "ranked as they are" in ask("rank", grid, "--incomplete").out


def test_a_group_is_a_mean_or_a_repeat(grid, ask):
    for options, groups in (((), 5), (("--per-repeat",), 9)):
        rows = ask("rank", grid, "--csv", *options).rows
        assert {row["used"] for row in rows} == {str(groups)}


def test_the_correction_is_that_which_was_asked_for(tmp_path, ask):
    import_graphgym(controlled(tmp_path / "in"), tmp_path / "out")
    p = {}
    for name in ("holm", "bonferroni"):
        said = ask("rank", tmp_path / "out", "--csv", "--correction", name)
        p[name] = [float(row["p_corrected"] or 0) for row in said.rows]
        assert f"({name.capitalize()})" in said.err  # beside CSV the words go there
    assert sum(p["holm"]) < sum(p["bonferroni"])


def test_a_wide_tolerance_ties_everything(grid, ask):
    rows = ask("rank", grid, "--csv", "--tolerance", "1").rows
    assert {row["average_rank"] for row in rows} == {"1.0"}


@pytest.mark.parametrize("metric", ["accuracy", "loss"])
def test_less_is_better_of_a_loss(metric, grid, ask):
    rows = ask("rank", grid, "--dimension", "stage", "--metric", metric, "--csv").rows
    best = min(rows, key=lambda row: float(row["average_rank"]))
    assert best["choice"] == "stack"
    assert 0 < float(best["score"]) < 1


def test_without_a_test_nothing_is_said_of_p(ask, sweep):
    """One group, and a design that differs from the others in both dimensions."""
    made = sweep(seeds=[0], folds=[0])
    for stage, depth in (("stack", 2), ("stack", 4), ("skipsum", 6)):
        made.add({"model.stage": stage, "model.layers_mp": depth}, val=[0.1 * depth])
    said = ask("rank", made.folder)
    assert "no test: too few groups" in said.out
    assert "not told apart" not in said.out
    assert "1 mean without a partner, dropped" in said.out
