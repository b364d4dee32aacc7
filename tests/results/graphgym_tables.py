"""Tables as GraphGym leaves them, quirks included, at a size that one can check by hand."""

from itertools import product
from pathlib import Path

HEAD = "epoch,loss,loss_std,params,time_iter,time_iter_std,accuracy,accuracy_std"
CONTROLLED = f"sample,dataset,task,feature,dim,bn,act,{HEAD},auc,auc_std"


def controlled(folder: Path) -> Path:
    """A controlled draw over bn, act and epoch: three groups each, one of act missing, one partial.

    One row has no loss. Task `link` is measured by auc as well, the other by accuracy alone.
    """
    rows = []
    for group in range(3):
        key = f"{'cora,node,' if group else 'ddi,link,node_const'},{8 * (1 + group)}"
        for bn in (True, False):
            rows.append(("bn", key, bn, "relu", 99, 0.8 if bn else 0.7))
        for act in ("relu", "prelu", "swish")[: (0, 2, 3)[group]]:
            rows.append(("act", key, True, act, 199, {"relu": 0.6, "prelu": 0.7}.get(act, 0.5)))
        for epoch in (99, 199, 399):
            rows.append(("epoch", key, False, "prelu", epoch, 0.5 + epoch / 1000))
    lines = [CONTROLLED]
    for at, (sample, key, bn, act, epoch, score) in enumerate(rows):
        loss = ",," if at == 1 else "0.5,0.1,"
        scores = f"{1 - score:.4f},0.03,{score}" if "ddi" in key else f"{score},0.03,"
        rest = "0.03" if "ddi" in key else ""
        lines.append(f"{sample},{key},{bn},{act},{epoch},{loss}1000.0,0.02,0.001,{scores},{rest}")
    (folder / "agg").mkdir(parents=True)
    (folder / "agg" / "val.csv").write_text("\n".join(lines) + "\n")
    return folder


def nine(folder: Path) -> Path:
    """The nine tables of a grid of two dimensions over three repeats."""
    (folder / "agg").mkdir(parents=True)
    for at, (split, rule) in enumerate(
        product(("train", "val", "test"), ("", "_best", "_bestepoch"))
    ):
        # As GraphGym does it: one epoch per repeat from validation, but "bestepoch" split by split.
        epoch = {"": 199, "_best": 35, "_bestepoch": 100 + at}[rule]
        lines = [f"l_mp,stage,{HEAD}"]
        for mp, stage in product((2, 4), ("stack", "skipsum")):
            score = 0.5 + mp / 100 + 0.1 * (stage == "stack") + at / 1000
            lines.append(f"{mp},{stage},{epoch},0.4,0.01,5000.0,0.01,0.001,{score:.4f},0.02")
        (folder / "agg" / f"{split}{rule}.csv").write_text("\n".join(lines) + "\n")
    return folder
