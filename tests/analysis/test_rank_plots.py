"""Pictures of the rankings for TensorBoard: one per dimension, none where nothing ranks."""

from io import BytesIO

from PIL import Image
from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

from gymspace.analysis.load import load_study
from gymspace.analysis.rank_plots import FILE, rank_plot, write_rank_plots
from gymspace.analysis.ranking import rank
from tests.results.conftest import Sweep


def grid(folder):
    sweep = Sweep(folder)
    for layers in (1, 2):
        for stage, lead in (("stack", 0.1), ("skipsum", 0.0)):
            choices = {"model.layers_mp": layers, "model.stage": stage}
            sweep.add(choices, val=[0.5 + lead + layers / 100])
    return folder


def test_each_dimension_has_a_picture(tmp_path):
    write_rank_plots(grid(tmp_path / "s"))
    events = EventAccumulator(str(tmp_path / "s")).Reload()
    assert set(events.Tags()["images"]) == {"ranks/layers_mp", "ranks/stage"}
    (picture,) = events.Images("ranks/stage")
    size = Image.open(BytesIO(picture.encoded_image_string)).size
    assert size == (picture.width, picture.height)


def test_the_bars_are_the_average_ranks(tmp_path):
    ranking = rank(load_study(grid(tmp_path / "s")), "model.stage")
    average, shares = rank_plot(ranking, "stage").axes
    assert [bar.get_width() for bar in average.patches] == [2.0, 1.0]
    assert [label.get_text() for label in average.get_yticklabels()] == ["skipsum", "stack"]
    assert sum(bar.get_width() for bar in shares.patches) == 2.0


def test_where_nothing_ranks_there_is_none_any_more(tmp_path):
    sweep = Sweep(tmp_path / "s")
    sweep.add({"model.layers_mp": 1})
    (tmp_path / "s" / FILE).write_bytes(b"of an earlier state")
    write_rank_plots(tmp_path / "s")
    assert not (tmp_path / "s" / FILE).exists()
