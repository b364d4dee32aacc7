"""Node embeddings of a trained model, as TensorBoard's projector reads them."""

import logging
import math
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import torch
from google.protobuf import text_format
from tensorboard.plugins.projector.projector_config_pb2 import ProjectorConfig
from torch import Tensor, nn

from gymspace.graph.graph import Graph
from gymspace.graph.task import Task
from gymspace.training.batches import SPLITS

log = logging.getLogger(__name__)
MOST = 10_000  # nodes: what the projector still moves smoothly
CONFIG, VECTORS, NODES = "projector_config.pbtxt", "embeddings.tsv", "embeddings_nodes.tsv"


def write_embeddings(folder: Path, model: nn.Module, task: Task, epoch: int) -> None:
    """Write the embeddings of ``task``'s nodes, as ``model`` was after ``epoch``, to ``folder``.

    The projector colours and names the nodes by label and by split. Of more than `MOST` nodes every
    n-th is taken.
    """
    vectors = embed(model, task.source.graph)
    step = math.ceil(len(vectors) / MOST)
    kept = range(0, len(vectors), step)
    log.info("embeddings of %d of %d nodes after epoch %d", len(kept), len(vectors), epoch)
    np.savetxt(folder / VECTORS, vectors[::step].cpu().numpy(), fmt="%.6g", delimiter="\t")
    rows = ["node\tlabel\tsplit", *(_about(task, node) for node in kept)]
    (folder / NODES).write_text("\n".join(rows) + "\n")
    config = ProjectorConfig()
    config.embeddings.add(
        tensor_name=f"{len(kept)} of {len(vectors)} nodes after epoch {epoch}",
        tensor_path=VECTORS,
        metadata_path=NODES,
    )
    (folder / CONFIG).write_text(text_format.MessageToString(config))


@torch.no_grad()
def embed(model: nn.Module, graph: Graph) -> Tensor:
    """What goes into the head's last map [N, D] in evaluation; a head may name it as ``last``."""
    seen: list[Tensor] = []

    def see(_: nn.Module, inputs: Sequence[Tensor | Graph]) -> None:
        seen.append(inputs[0].x if isinstance(inputs[0], Graph) else inputs[0])

    head = model.get_submodule("head")
    last: nn.Module = getattr(head, "last", head)
    hook = last.register_forward_pre_hook(see)
    try:
        model.eval()(graph)
    finally:
        hook.remove()
    return seen[-1].flatten(1)


def _about(task: Task, node: int) -> str:
    label = " ".join(f"{value:g}" for value in task.source.y[node].flatten().tolist())
    split = next((name for name in SPLITS if getattr(task.split, name)[node]), "none")
    return f"{node}\t{label}\t{split}"
