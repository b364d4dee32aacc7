"""Settled designs that another version of the user's code led to: refused, kept or run again."""

from collections.abc import Mapping

from optuna.trial import FrozenTrial

from gymspace.errors import ConfigError
from gymspace.sweep.study.history import CODE
from gymspace.sweep.study.ledger import Ledger


def heed(ledger: Ledger, code: Mapping[str, str], stale: str) -> None:
    """Do as ``stale`` says with what is outdated by ``code``, the digests as they are now.

    With "rerun" such designs are queued again and count as settled no more; with "keep" they stay.

    Raises:
        ConfigError: there are some, and ``stale`` is "error".
    """
    if stale == "keep":
        return
    trials = ledger.trials()
    settled = [trials[known.number] for known in ledger.update().settled.values()]
    outdated = {trial.number: names for trial in settled if (names := _changed(trial, code))}
    if outdated and stale == "error":
        code_names = ", ".join(sorted(set().union(*outdated.values())))
        problem = f"{len(outdated)} settled designs were run with another version of {code_names}"
        raise ConfigError("sweep.stale", problem, value="error", choices=("keep", "rerun"))
    for number in outdated:
        ledger.queue_again(trials[number])


def _changed(trial: FrozenTrial, code: Mapping[str, str]) -> set[str]:
    """The code behind a trial that is another now."""
    noted = trial.user_attrs.get(CODE, {})
    return {name for name, digest in noted.items() if code.get(name, digest) != digest}
