"""A sweep of the example grid on Cora beside GraphGym's published table, as markdown.

`python benchmarks/published.py results/cora [<folder with the published agg/*.csv>]`
"""

import argparse
from pathlib import Path

import pandas as pd

PUBLISHED = (
    Path(__file__).parents[1] / "../shared/data/graphgym_results/pyg/example_node_grid_example/agg"
)
KEYS = ["l_pre", "l_mp", "l_post", "stage"]


def beside(ours: Path, published: Path) -> pd.DataFrame:
    """Both tables by design: accuracy on test at the epoch chosen on validation, parameters."""
    columns = [*KEYS, "params", "accuracy", "accuracy_std"]
    left, right = (pd.read_csv(path / "test_best.csv")[columns] for path in (ours, published))
    return left.merge(right, on=KEYS, suffixes=("", "_published"), validate="1:1")


def designs(table: pd.DataFrame) -> list[str]:
    """A markdown row for each design."""
    rows = ["| l_pre | l_mp | l_post | stage | params | published | gymspace | published | diff |"]
    rows.append("| ---: | ---: | ---: | :--- | ---: | ---: | ---: | ---: | ---: |")
    for row in table.itertuples():
        mine = f"{row.accuracy:.4f} ± {row.accuracy_std:.4f}"
        theirs = f"{row.accuracy_published:.4f} ± {row.accuracy_std_published:.4f}"
        rows.append(
            f"| {row.l_pre} | {row.l_mp} | {row.l_post} | {row.stage} | {row.params:,.0f} "
            f"| {row.params_published:,.0f} | {mine} | {theirs} "
            f"| {row.accuracy - row.accuracy_published:+.4f} |"
        )
    return rows


def means(table: pd.DataFrame, key: str) -> list[str]:
    """A markdown row of mean accuracies for each choice of ``key``."""
    rows = [f"| {key} | gymspace | published | diff |", "| :--- | ---: | ---: | ---: |"]
    for choice, group in table.groupby(key):
        mine, theirs = group["accuracy"].mean(), group["accuracy_published"].mean()
        rows.append(f"| {choice} | {mine:.4f} | {theirs:.4f} | {mine - theirs:+.4f} |")
    return rows


def main() -> None:
    """Print the table of designs, then the means by stage and by number of layers."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("sweep", type=Path)
    parser.add_argument("published", type=Path, nargs="?", default=PUBLISHED)
    args = parser.parse_args()
    table = beside(args.sweep / "agg", args.published)
    print("\n".join(designs(table)))
    for key in reversed(KEYS):
        print("", *means(table, key), sep="\n")
    rank = table["accuracy"].corr(table["accuracy_published"], method="spearman")
    print(f"\nrank correlation of the {len(table)} designs: {rank:.2f}")


if __name__ == "__main__":
    main()
