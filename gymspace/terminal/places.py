"""Whether the first places of a leaderboard can be told apart, in words."""

from collections.abc import Sequence

from gymspace.analysis.load import view_study
from gymspace.analysis.variance import distinguishable, warnings
from gymspace.errors import ConfigError
from gymspace.results.tables import Row
from gymspace.results.view import View, narrowed


def places(view: View, rows: Sequence[Row], metric: str | None) -> list[str]:
    """A sentence for each task whose first place is shared among the ``rows`` of the leaderboard.

    The places are those by the mean over repeats, whatever the order of the rows.
    """
    if view.imported:
        return ["of means over repeats it is not known whether places can be told apart"]
    first = {(row["task"], row["design"]) for row in rows}
    some = [row for row in view.trials.rows if (row["task"], row["design"]) in first]
    try:
        study = view_study(narrowed(view, some), metric)
    except ConfigError:  # one design, or none with a score: no places
        return []
    return list(warnings(study, distinguishable(study, top=len(rows))))
