"""A split of molecules by their scaffolds: what is tested has rings that training never saw."""

from collections.abc import Mapping, Sequence

import torch
from torch_geometric.data import Data

from gymspace.errors import ConfigError
from gymspace.graph.arguments import fraction
from gymspace.graph.rows import Rows, Split, check_fold


def scaffold(
    data: Data,
    fold: int = 0,
    train: float = 0.8,
    val: float = 0.1,
    chirality: bool = False,
    rows: str = "graphs",
) -> Split:
    """Molecules of one Bemis-Murcko scaffold go to one part, the largest groups to training.

    Groups, by size and then by their first molecule, fill ``train``, then ``val`` as fractions of
    the labelled molecules; a group that does not fit goes to the next part (Wu et al. 2018, as
    DeepChem and OGB draw it). Nothing is drawn: all seeds have the same split. The molecules are
    ``data.smiles``; ``chirality`` tells mirrored scaffolds apart.

    Raises:
        ConfigError: no SMILES for each graph, one that RDKit cannot read, RDKit is missing, an
            empty part.
    """
    check_fold(fold, 1, "a scaffold split has")
    shares = [fraction("data.split.train", train), fraction("data.split.val", val)]
    if sum(shares) > 1 + 1e-9:
        raise ConfigError("data.split", f"train={train} and val={val} sum to more than 1")
    found = Rows.of(data, rows)
    labelled = found.labelled.nonzero().squeeze(1).tolist()
    molecules = _molecules(data, len(found))
    groups = _groups({row: molecules[row] for row in labelled}, chirality)
    limits = [share * len(labelled) + 1e-9 for share in (shares[0], sum(shares))]
    parts: tuple[list[int], ...] = ([], [], [])
    for group in groups:
        filled = [len(parts[0]), len(parts[0]) + len(parts[1])]
        fits = (n for n in (0, 1) if filled[n] + len(group) <= limits[n])
        parts[next(fits, 2)].extend(group)
    first, second, third = (torch.tensor(part, dtype=torch.int64) for part in parts)
    return found.split(first, second, third, f"scaffold(train={train}, val={val})")


def _molecules(data: Data, count: int) -> Sequence[str]:
    """The SMILES of each graph."""
    smiles = getattr(data, "smiles", None)
    if not isinstance(smiles, list | tuple) or len(smiles) != count:
        problem = "needs molecules: a text 'smiles' in each graph, as MoleculeNet's have"
        raise ConfigError("data.split", problem, value="scaffold")
    return smiles


def _groups(molecules: Mapping[int, str], chirality: bool) -> list[list[int]]:
    """Rows by scaffold, the largest group first, of equally large ones that of the first row."""
    try:
        from rdkit import rdBase
        from rdkit.Chem.Scaffolds.MurckoScaffold import MurckoScaffoldSmiles
    except ImportError as error:
        problem = (
            "needs the package rdkit, which is not installed (pip install gymspace[molecules])"
        )
        raise ConfigError("data.split", problem, value="scaffold") from error
    groups: dict[str, list[int]] = {}
    for row, smiles in molecules.items():
        try:
            with rdBase.BlockLogs():
                name = MurckoScaffoldSmiles(smiles=smiles, includeChirality=chirality)
        except Exception as error:  # ValueError, or what RDKit's C++ raises
            problem = f"RDKit cannot read the molecule of graph {row}, {smiles!r}"
            raise ConfigError("data.split", problem, value="scaffold") from error
        groups.setdefault(name, []).append(row)
    return sorted(groups.values(), key=len, reverse=True)
