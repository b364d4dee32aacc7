"""Words of a command line in the order and the form that Hydra takes."""

import pytest

from gymspace.errors import ConfigError
from gymspace.sweep.arguments import FLAGS, flags_first


@pytest.mark.parametrize(
    "words",
    [["-m", "a=1", "b=2"], ["a=1", "-m", "b=2"], ["a=1", "b=2", "-m"]],
    ids=["first", "middle", "last"],
)
def test_a_flag_may_stand_anywhere(words):
    assert flags_first(words) == ["-m", "a=1", "b=2"]


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (["a=1", "--cfg", "job", "b=2"], ["--cfg", "job", "a=1", "b=2"]),
        (["a=1", "--cfg=job"], ["--cfg", "job", "a=1"]),
        (["--info", "a=1"], ["--info", "all", "a=1"]),
        (["--info"], ["--info", "all"]),
        (["--info", "-m"], ["--info", "all"]),
        (["a=1", "-m", "--cfg", "job"], ["--cfg", "job", "a=1"]),
        (["a=1", "-i", "defaults-tree"], ["-i", "defaults-tree", "a=1"]),
        (["-cd", "my/conf", "-m", "-cn", "x"], ["-cd", "my/conf", "-m", "-cn", "x"]),
        (["~a", "+b=-1", "++c=1"], ["~a", "+b=-1", "++c=1"]),
    ],
)
def test_a_flag_keeps_its_word(words, expected):
    assert flags_first(words) == expected


@pytest.mark.parametrize("words", [("a:B", "cora"), ("cora", "a:B"), ("b:C", "a:B")])
def test_the_last_of_several_datasets_is_taken(words):
    first, last = (f"dataset={word}" for word in words)
    assert flags_first([first, "seed=1", last]) == flags_first(["seed=1", last])


@pytest.mark.parametrize(
    ("word", "expected"),
    [
        ("dataset=cora", "dataset=cora"),
        ("dataset=my.data:Ring", "dataset.name=my.data:Ring"),
        ("dataset=my.data:Ring,cora", "dataset=my.data:Ring,cora"),
        ("dataset.nodes=90", "++dataset.nodes=90"),
        ("dataset={name: digits, k: 5}", "++dataset={name: digits, k: 5}"),
        ("sweep.space={a: [1, 2]}", "++sweep.space={a: [1, 2]}"),
        ("model.layer=my.layers:Mine", "model.layer=my.layers:Mine"),
        ("data.root=/tmp", "data.root=/tmp"),
    ],
)
def test_a_dataset_takes_a_module_and_arguments_without_more_ado(word, expected):
    assert flags_first([word]) == [expected]


@pytest.mark.parametrize(
    ("words", "line"),
    [
        (["--frobnicate"], "--frobnicate: unknown flag; choices: --help"),
        (["--multi-run"], "did you mean --multirun?"),
        (["--cfg"], "--cfg: needs a word behind it; choices: job, hydra, all"),
        (
            ["--cfg", "jbo"],
            "--cfg=jbo: unknown choice; choices: job, hydra, all; did you mean job?",
        ),
        (["--cfg=x"], "--cfg=x: unknown choice"),
        (["--info", "x"], "--info=x: unknown choice"),
        (["--config-name"], "--config-name: needs a word behind it"),
        (["-m", "-r"], "-m: is one too many: -m, -r"),
        (["--cfg", "job", "--info"], "--cfg: is one too many: --cfg, --info"),
        (["--resolve", "-m"], "--resolve: goes with --cfg or --help"),
        (["=3"], "an override is written key=value"),
        (["cora"], "command line=cora: an override is written key=value"),
        ([""], "an override is written key=value"),
    ],
)
def test_a_word_that_is_neither_is_told_in_one_line(words, line):
    with pytest.raises(ConfigError) as error:
        flags_first(words)
    assert line in str(error.value)


def test_the_flags_are_those_of_hydra():
    """A Hydra with other flags would take them for overrides, or the reverse."""
    from hydra._internal.utils import get_args_parser

    actions = get_args_parser()._actions
    assert {name for action in actions for name in action.option_strings} == set(FLAGS)
    takes_a_word = {n for a in actions if a.nargs != 0 for n in a.option_strings}
    assert {name for name in FLAGS if FLAGS[name] is not None} == takes_a_word
    choices = {n: tuple(a.choices) for a in actions if a.choices for n in a.option_strings}
    assert {name: words for name, words in FLAGS.items() if words} == choices
