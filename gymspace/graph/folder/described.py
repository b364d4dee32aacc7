"""What was found in a folder, in a few lines for the terminal."""

from collections.abc import Iterator

import numpy as np
import torch
from torch import Tensor
from torch_geometric.data import Data

from gymspace.graph.folder.assembled import Learnt
from gymspace.graph.folder.dataset import Found
from gymspace.graph.folder.linked import Linked
from gymspace.graph.folder.sheets import Sheet

# So many names, or classes, are listed.
LISTED = 8


def describe(found: Found) -> Iterator[str]:
    """Its files with their columns; and of a sound folder graphs, features, labels and split."""
    if found.sheets is not None:
        for sheet in (found.sheets.nodes, found.sheets.edges, found.sheets.graphs):
            if sheet is not None:
                yield _line(sheet.path.name, _columns(sheet))
        if found.sheets.features is not None:
            rows, width = found.sheets.features.shape
            yield _line("features.npy", f"{rows:,} rows, {width:,} features of nodes")
    if found.whole is not None and found.linked is not None:
        yield _line("graph" if found.linked.graphs is None else "graphs", _graph(found.linked))
        yield _line("edges", _edges(found.whole.data))
        yield _line("features", _features(found.whole.data))
        yield _line("labels", _labels(found.learnt))
        yield _line("split", _split(found.learnt))


def command(path: str, found: Found) -> str:
    """How the folder is trained on, in the words of the command line."""
    words = ["python -m gymspace dataset=folder", f"dataset.path={path}"]
    rows = found.learnt
    if rows is None or not rows.masks:
        words.append("data.split=random")
    if rows is not None and rows.level == "graphs":
        words.append("loader=batches model.head=graph")
    if rows is not None and rows.labels.values.dtype.kind == "f":
        loss = (
            "loss=bce metrics=[auc] metric=auc"
            if _is_binary(rows)
            else "loss=mse metrics=[mae] metric=mae"
        )
        words.append(loss)
    if found.whole is not None and "x" not in found.whole.fields:
        words.append("data.transform=[constant]")
    return " ".join(words)


def _line(name: str, text: str) -> str:
    return f"  {name:<14} {text}"


def _columns(sheet: Sheet) -> str:
    uses = {
        "": sheet.columns.keys,
        "label": sheet.columns.labels,
        "split": sheet.columns.splits,
        "not used" if sheet.table.numbers.shape[1] == 0 else "features": sheet.columns.features,
    }
    parts = [f"{use} {_listed(names)}".strip() for use, names in uses.items() if names]
    return f"{sheet.table.rows:,} rows: " + "; ".join(parts)


def _graph(linked: Linked) -> str:
    alone = linked.nodes - len(np.unique(linked.ends))
    one = f"{linked.nodes:,} nodes, {alone:,} of them without an edge"
    if linked.graphs is None or linked.graph_of_node is None:
        return one
    sizes = np.bincount(linked.graph_of_node, minlength=linked.graphs)
    return f"{linked.graphs:,} with {sizes.min()} to {sizes.max()} nodes; {one}"


def _edges(data: Data) -> str:
    source, target = data.edge_index
    nodes = data.num_nodes or 0
    there, back = (source * nodes + target).unique(), (target * nodes + source).unique()
    loops, repeated = int((source == target).sum()), len(source) - len(there)
    direction = "undirected (each stands in both directions)"
    if not torch.equal(there, back):
        both = int(torch.isin(there, back).sum())
        direction = f"directed ({both:,} of {len(there):,} have their reverse;"
        direction += " data.transform=[to_undirected] adds it)"
    return f"{len(source):,}, {direction}; {loops:,} self loops, {repeated:,} repeated"


def _features(data: Data) -> str:
    width = "none of nodes: data.transform=[constant] or encodings=[...] give some"
    if data.x is not None:
        width = f"{data.x.size(1):,} of nodes"
    extra = {
        "edge_attr": "of edges",
        "edge_weight": "weights of edges",
        "edge_time": "times of edges",
    }
    parts = [
        f"{data[name].size(1):,} {text}" if data[name].dim() == 2 else text
        for name, text in extra.items()
        if name in data
    ]
    return ", ".join([width, *parts])


def _labels(rows: Learnt | None) -> str:
    if rows is None:
        return "none"
    values, names = torch.from_numpy(rows.labels.values), rows.labels.names
    if values.is_floating_point():
        return f"of {rows.level}: {_of_numbers(values)}"
    counts = values[values >= 0].bincount().tolist()
    classes = [f"{n} {names[n]}: {c:,}" if names else f"{n}: {c:,}" for n, c in enumerate(counts)]
    without = int((values < 0).sum())
    return f"of {rows.level}: {len(counts):,} classes ({_shortened(classes)}), {without:,} without"


def _of_numbers(values: Tensor) -> str:
    missing = int(values.isnan().sum())
    low, high = values[~values.isnan()].aminmax()
    columns = "numbers" if values.dim() == 1 else f"{values.size(1)} columns of numbers"
    return f"{columns} from {low:g} to {high:g}, {missing:,} missing"


def _is_binary(rows: Learnt) -> bool:
    values = rows.labels.values
    return bool(np.isin(values[~np.isnan(values)], (0, 1)).all())


def _split(rows: Learnt | None) -> str:
    if rows is None or not rows.masks:
        return "none: data.split=random or another rule draws one"
    first = next(iter(rows.masks.values()))
    several = f"{first.shape[1]} splits, the first " if first.ndim == 2 else ""
    firsts = {n: m[:, 0] if m.ndim == 2 else m for n, m in rows.masks.items()}
    sizes = [f"{name.removesuffix('_mask')} {mask.sum():,}" for name, mask in firsts.items()]
    rest = len(first) - sum(int(mask.sum()) for mask in firsts.values())
    return several + ", ".join([*sizes, f"neither {rest:,}"])


def _listed(names: tuple[str, ...]) -> str:
    return _shortened(list(names))


def _shortened(words: list[str]) -> str:
    more = f" and {len(words) - LISTED:,} more" if len(words) > LISTED else ""
    return ", ".join(words[:LISTED]) + more
