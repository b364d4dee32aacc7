"""Samplers of users, for the tests."""

import optuna


class Stubborn(optuna.samplers.RandomSampler):
    """Proposes the same design again and again."""

    def __init__(self):
        super().__init__(seed=0)

    def sample_independent(self, study, trial, param_name, param_distribution):
        """The first choice."""
        return param_distribution.to_external_repr(0)


class NoSampler:
    """Is none."""
