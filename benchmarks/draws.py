"""Draws from GraphGym's space of 12 dimensions: how long they take, how even they are.

A controlled draw of 96 settings per dimension is to take less than two seconds. Evenness is the p
value of a chi-square test that every design of a small space is drawn equally often: values near 0
would mean that some are drawn more often than others.
"""

import argparse
from collections import Counter
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

from interleave import seconds, spread
from scipy.stats import chisquare

from gymspace.sweep.draws.controlled import Controlled
from gymspace.sweep.draws.draw import Draw, Grid, Random
from gymspace.sweep.draws.sobol import Sobol
from gymspace.sweep.spaces.space import Space, identity, parse_space

LIMIT = 2.0
GRAPHGYM = {
    "model.norm": ["batch", "none"],
    "model.dropout": [0.0, 0.3, 0.6],
    "model.act": ["relu", "prelu", "silu"],
    "model.agg": ["mean", "max", "add"],
    "model.stage": ["stack", "skipsum", "skipconcat"],
    "model.layers_pre_mp": [1, 2, 3],
    "model.layers_mp": [2, 4, 6, 8],
    "model.layers_post_mp": [1, 2, 3],
    "loader.batch": [16, 32, 64],
    "optim.lr": [0.1, 0.01, 0.001],
    "optim.optimizer": ["sgd", "adam"],
    "train.epochs": [100, 200, 400],
}
SMALL = {
    "product": {"a": [1, 2, 3, 4], "b": [1, 2, 3]},
    "condition": {"a": [1, 2, 3], "b": {"choices": [1, 2, 3, 4, 5], "when": {"a": 1}}},
    "union": [{"a": [1, 2]}, {"a": [2, 3, 4], "b": [1, 2, 3]}],
}


def designs(draw: Draw) -> list[Any]:
    """All that a draw gives."""
    return list(iter(draw.ask, None))


def evenness(space: Space, draw: Callable[[Space, int], Draw], seeds: int) -> tuple[float, float]:
    """The p value over ``seeds`` draws, and the most frequent design's share times their number."""
    times = Counter(identity(d) for seed in range(seeds) for d in designs(draw(space, seed)))
    counts = [times[identity(design)] for design in designs(Grid(space))]
    return float(chisquare(counts).pvalue), max(counts) * len(counts) / sum(counts)


def main() -> None:
    """Print both tables; exit with 1 if the controlled draw takes too long."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=10)
    parser.add_argument("--seeds", type=int, default=50_000)
    arguments = parser.parse_args()
    space = parse_space(GRAPHGYM)
    peers: Mapping[str, Callable[[], object]] = {
        kind.__name__: partial(lambda kind: designs(kind(parse_space(GRAPHGYM), 96)), kind)
        for kind in (Random, Controlled, Sobol)
    }
    print(f"{space.size:,} designs; n = 96, seconds as median (quartiles)")
    taken = seconds(peers, arguments.rounds)
    for name, turn in peers.items():
        print(f"  {name:<10} {len(turn()):>5} designs  {spread(taken[name], 4)}")
    print(f"evenness over {arguments.seeds} seeds: p value, largest share over the fair one")
    for name, raw in SMALL.items():
        p, most = evenness(parse_space(raw), lambda s, seed: Random(s, 1, seed), arguments.seeds)
        print(f"  {name:<10} {p:.3f}  {most:.3f}")
    if (slowest := max(taken["Controlled"])) > LIMIT:
        raise SystemExit(f"a controlled draw took {slowest:.2f} s, more than {LIMIT:g}")


if __name__ == "__main__":
    main()
