"""The words of a command line, put into the order and the form that Hydra takes."""

import re
from collections.abc import Sequence

from gymspace.errors import ConfigError

_ANY: tuple[str, ...] = ()
_CFG = ("job", "hydra", "all")
_INFO = ("all", "config", "defaults", "defaults-tree", "plugins", "searchpath")
# Hydra's flags, and what may follow them: None for nothing, else a word (out of these, if any).
FLAGS = {
    **dict.fromkeys(("--help", "-h", "--hydra-help", "--version", "--resolve")),
    **dict.fromkeys(("--run", "-r", "--multirun", "-m", "--shell-completion", "-sc")),
    **dict.fromkeys(("--package", "-p", "--config-path", "-cp", "--config-name", "-cn"), _ANY),
    **dict.fromkeys(("--config-dir", "-cd", "--experimental-rerun"), _ANY),
    **dict.fromkeys(("--cfg", "-c"), _CFG),
    **dict.fromkeys(("--info", "-i"), _INFO),
}
_RUN = {"--run": "run", "-r": "run", "--multirun": "multirun", "-m": "multirun"}
_TELL = {"--cfg": "cfg", "-c": "cfg", "--info": "info", "-i": "info"}
# Slots that are config groups: Hydra takes `dataset=x` for the name of a config file.
GROUPS = ("dataset", "loader")
OPEN = (*GROUPS, "sweep.space")  # mappings that may have keys which no default has


def flags_first(arguments: Sequence[str]) -> list[str]:
    """``arguments`` with the flags before the overrides, which Hydra wants in one piece.

    Raises:
        ConfigError: an unknown flag, one without its value, two that do not go together.
    """
    flags: list[list[str]] = []
    overrides: list[str] = []
    rest = list(arguments)
    while rest:
        word = rest.pop(0)
        if not word.startswith("-"):
            overrides.append(word)
            continue
        name, equals, value = word.partition("=")
        if name not in FLAGS:
            raise ConfigError(name, "unknown flag", choices=FLAGS, near=name)
        if equals:
            rest.insert(0, value)
        choices = FLAGS[name]
        flags.append([name] if choices is None else [name, _value(name, choices, rest)])
    flagged = (word for flag in _together(flags) for word in flag)
    return [*flagged, *(_own(word) for word in _last(overrides))]


def _together(flags: list[list[str]]) -> list[list[str]]:
    """The flags without `-m` where another asks to be told something instead of a run."""
    names = {flag[0] for flag in flags}
    if "--resolve" in names and not names & {"--cfg", "-c", "--help", "-h"}:
        raise ConfigError("--resolve", "goes with --cfg or --help")
    modes = _TELL if names & _TELL.keys() else _RUN
    if len({modes[name] for name in names & modes.keys()}) > 1:
        raise ConfigError(sorted(names)[0], f"is one too many: {', '.join(sorted(names))}")
    return [flag for flag in flags if modes is _RUN or flag[0] not in _RUN]


def _value(flag: str, choices: Sequence[str], rest: list[str]) -> str:
    """The word after a flag, taken from ``rest``; `--info` may go without."""
    if choices is _INFO and (not rest or rest[0].startswith("-") or "=" in rest[0]):
        return "all"
    if not rest:
        raise ConfigError(flag, "needs a word behind it", choices=choices)
    if choices and rest[0] not in choices:
        raise ConfigError(flag, "unknown choice", value=rest[0], choices=choices)
    return rest.pop(0)


def _last(overrides: Sequence[str]) -> list[str]:
    """The overrides without those of a config group that a later one sets again."""
    keys = [word.partition("=")[0] for word in overrides]
    return [
        word
        for place, word in enumerate(overrides)
        if keys[place] not in GROUPS or keys[place] not in keys[place + 1 :]
    ]


def _own(override: str) -> str:
    """An override in Hydra's words, where ours are shorter.

    `dataset=module:attr` and `dataset.nodes=900` name no config file and no key that is there.
    """
    key, equals, value = override.partition("=")
    if not ((key and equals) or key.startswith("~")):
        raise ConfigError("command line", "an override is written key=value", value=override)
    if key in GROUPS and re.fullmatch(r"[\w.]+:\w+", value):
        return f"{key}.name={value}"
    opened = key.startswith(tuple(f"{group}." for group in GROUPS))
    return f"++{override}" if opened or (key in OPEN and value.startswith("{")) else override
