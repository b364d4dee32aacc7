"""Literal tables from names to factories; `module:attr` reaches what is not in a table."""

import hashlib
import importlib
import importlib.util
import inspect
from collections.abc import Callable, Hashable, Iterator, Mapping
from difflib import get_close_matches
from functools import lru_cache
from pathlib import Path
from types import MappingProxyType
from typing import Any

from gymspace.errors import ConfigError


class Row:
    """A table row: a `module:attr` target, and arguments that this name fixes beforehand."""

    def __init__(self, target: str, **preset: Any):
        self.target = target
        self.preset = MappingProxyType(preset)


def _table(**rows: "str | Row") -> Mapping[str, Row]:
    return MappingProxyType({k: v if isinstance(v, Row) else Row(v) for k, v in rows.items()})


_LAYERS = "gymspace.models.layers"
_DATASETS = "gymspace.graph.datasets"
_TRAINING = "gymspace.training"

LAYERS = _table(
    linear=f"{_LAYERS}:Linear",
    mlp=f"{_LAYERS}:MLP",
    general=f"{_LAYERS}:General",
    gcn=f"{_LAYERS}:GCN",
    sage=f"{_LAYERS}:SAGE",
    gat=f"{_LAYERS}:GAT",
    gin=f"{_LAYERS}:GIN",
    none="gymspace.models.pyg_layers:NoLayer",
    gatv2="gymspace.models.pyg_layers:GATv2",
    gine="gymspace.models.edge_layers:GINE",
    general_edge="gymspace.models.edge_layers:GeneralEdge",
    general_sampled_edge=Row("gymspace.models.edge_layers:GeneralEdge", keep=0.5),
    graphconv="gymspace.models.pyg_layers:GraphConv",
    edgeconv="gymspace.models.pyg_layers:EdgeConv",
    gatedgcn="gymspace.models.edge_layers:GatedGCN",
    pna="gymspace.models.pyg_layers:PNA",
    gen="gymspace.models.pyg_layers:GEN",
    transformer="gymspace.models.pyg_layers:Transformer",
    cheb="gymspace.models.pyg_layers:Cheb",
    tag="gymspace.models.pyg_layers:TAG",
    sgc="gymspace.models.pyg_layers:SGC",
    idgcn="gymspace.models.id_layers:IDGCN",
    idsage="gymspace.models.id_layers:IDSAGE",
    idgat="gymspace.models.id_layers:IDGAT",
    idgin="gymspace.models.id_layers:IDGIN",
)
ACTIVATIONS = _table(
    prelu="torch.nn:PReLU",
    relu="torch.nn:ReLU",
    leaky_relu="torch.nn:LeakyReLU",
    elu="torch.nn:ELU",
    gelu="torch.nn:GELU",
    selu="torch.nn:SELU",
    silu="torch.nn:SiLU",
    sigmoid="torch.nn:Sigmoid",
    tanh="torch.nn:Tanh",
    none="torch.nn:Identity",
)
NORMS = _table(
    batch="gymspace.models.norms:Batch",
    layer="torch.nn:LayerNorm",
    graph="gymspace.models.norms:Graph",
    pair="gymspace.models.norms:Pair",
    instance="gymspace.models.norms:Instance",
    none="gymspace.models.norms:NoNorm",
)
ATTENTIONS = _table(
    transformer="gymspace.models.attention:Transformer",
    performer="gymspace.models.attention_linear:Performer",
    bigbird="gymspace.models.attention_block:BigBird",
    linear="gymspace.models.attention_linear:Linear",
    exphormer="gymspace.models.attention_sparse:Exphormer",
    graphormer="gymspace.models.attention:Graphormer",
)
NODE_ENCODERS = _table(
    linear="gymspace.models.encoders:LinearNode",
    integer="gymspace.models.encoders:IntegerNode",
    atom="gymspace.models.encoders:Atom",
)
EDGE_ENCODERS = _table(
    linear="gymspace.models.encoders:LinearEdge",
    integer="gymspace.models.encoders:IntegerEdge",
    bond="gymspace.models.encoders:Bond",
)
_ENCODINGS = "gymspace.encodings"
ENCODINGS = _table(
    lap=f"{_ENCODINGS}.spectral:Lap",
    signnet=f"{_ENCODINGS}.spectral:SignNet",
    equivstable_lap=f"{_ENCODINGS}.spectral:EquivStableLap",
    heat=f"{_ENCODINGS}.spectral:HeatKernel",
    electrostatic=f"{_ENCODINGS}.spectral:Electrostatic",
    rwse=f"{_ENCODINGS}.structural:RWSE",
    degree=f"{_ENCODINGS}.structural:Degree",
    clustering=f"{_ENCODINGS}.structural:Clustering",
    pagerank=f"{_ENCODINGS}.structural:PageRank",
    betweenness=f"{_ENCODINGS}.structural:Betweenness",
    path_length=f"{_ENCODINGS}.structural:PathLength",
    identity=f"{_ENCODINGS}.structural:Identity",
    constant=f"{_ENCODINGS}.structural:Constant",
    onehot=f"{_ENCODINGS}.structural:OneHot",
    spd=f"{_ENCODINGS}.structural:ShortestPaths",
)
AGGREGATIONS = _table(
    add="gymspace.models.aggregate:Add",
    mean="gymspace.models.aggregate:Mean",
    max="gymspace.models.aggregate:Max",
)
STAGES = _table(
    stack="gymspace.models.stages:Stack",
    skipsum="gymspace.models.stages:SkipSum",
    skipconcat="gymspace.models.stages:SkipConcat",
    gps="gymspace.models.gps:GPS",
)
HEADS = _table(node="gymspace.models.heads:NodeHead", graph="gymspace.models.heads:GraphHead")
OPTIMIZERS = _table(
    adam="torch.optim:Adam",
    adamw="torch.optim:AdamW",
    sgd=Row("torch.optim:SGD", momentum=0.9),
    rmsprop="torch.optim:RMSprop",
    adagrad="torch.optim:Adagrad",
    adamax="torch.optim:Adamax",
)
SCHEDULERS = _table(
    cosine=f"{_TRAINING}.optim:cosine",
    step=f"{_TRAINING}.optim:step",
    none=f"{_TRAINING}.optim:constant",
    plateau=f"{_TRAINING}.schedules:plateau",
    warmup_linear=f"{_TRAINING}.schedules:warmup_linear",
    warmup_cosine=f"{_TRAINING}.schedules:warmup_cosine",
    warmup_polynomial=f"{_TRAINING}.schedules:warmup_polynomial",
    one_cycle=f"{_TRAINING}.schedules:one_cycle",
)
LOSSES = _table(
    cross_entropy=f"{_TRAINING}.losses:cross_entropy",
    bce=f"{_TRAINING}.losses:bce",
    mse=f"{_TRAINING}.losses:mse",
    mae=f"{_TRAINING}.losses:mae",
)
METRICS = _table(
    accuracy=f"{_TRAINING}.metrics:Accuracy",
    auc=f"{_TRAINING}.metrics:AUC",
    f1=f"{_TRAINING}.metrics:F1",
    mae=f"{_TRAINING}.metrics:MAE",
    rmse=f"{_TRAINING}.metrics:RMSE",
    r2=f"{_TRAINING}.metrics:R2",
)
_PYG = f"{_DATASETS}:pyg"
DATASETS = _table(
    digits=f"{_DATASETS}:digits",
    scale_free=f"{_DATASETS}:scale_free",
    small_world=f"{_DATASETS}:small_world",
    scale_frees=f"{_DATASETS}:scale_frees",
    small_worlds=f"{_DATASETS}:small_worlds",
    pyg=_PYG,
    cora=Row(_PYG, cls="Planetoid", subset="Cora", folder="planetoid"),
    citeseer=Row(_PYG, cls="Planetoid", subset="CiteSeer", folder="planetoid"),
    pubmed=Row(_PYG, cls="Planetoid", subset="PubMed", folder="planetoid"),
    amazon_photo=Row(_PYG, cls="Amazon", subset="Photo", folder="amazon"),
    amazon_computers=Row(_PYG, cls="Amazon", subset="Computers", folder="amazon"),
    coauthor_cs=Row(_PYG, cls="Coauthor", subset="CS", folder="coauthor"),
    coauthor_physics=Row(_PYG, cls="Coauthor", subset="Physics", folder="coauthor"),
    cora_ml=Row(_PYG, cls="CitationFull", subset="Cora_ML", folder="citation_full"),
    minesweeper=Row(
        _PYG, cls="HeterophilousGraphDataset", subset="Minesweeper", folder="heterophilous"
    ),
    mutag=Row(_PYG, cls="TUDataset", subset="MUTAG", folder="tudataset"),
    enzymes=Row(_PYG, cls="TUDataset", subset="ENZYMES", folder="tudataset", use_node_attr=True),
    proteins=Row(_PYG, cls="TUDataset", subset="PROTEINS", folder="tudataset", use_node_attr=True),
    imdb_binary=Row(_PYG, cls="TUDataset", subset="IMDB-BINARY", folder="tudataset"),
    esol=Row(_PYG, cls="MoleculeNet", subset="ESOL", folder="moleculenet"),
    freesolv=Row(_PYG, cls="MoleculeNet", subset="FreeSolv", folder="moleculenet"),
    bace=Row(_PYG, cls="MoleculeNet", subset="BACE", folder="moleculenet"),
    bbbp=Row(_PYG, cls="MoleculeNet", subset="BBBP", folder="moleculenet"),
)
SPLITS = _table(
    own="gymspace.graph.splits:own",
    random="gymspace.graph.splits:random",
    per_class="gymspace.graph.splits:per_class",
    kfold="gymspace.graph.folds:kfold",
)
TRANSFORMS = _table(
    normalize_features="torch_geometric.transforms:NormalizeFeatures",
    to_undirected="torch_geometric.transforms:ToUndirected",
    largest_component="torch_geometric.transforms:LargestConnectedComponents",
    remove_self_loops="torch_geometric.transforms:RemoveSelfLoops",
    degree="torch_geometric.transforms:OneHotDegree",
    constant="torch_geometric.transforms:Constant",
)
LOADERS = _table(
    full="gymspace.training.batches:full_graph",
    batches="gymspace.training.graph_batches:graph_batches",
)
_DRAWS = "gymspace.sweep.draws"
DRAWS = _table(
    grid=f"{_DRAWS}.draw:Grid",
    random=f"{_DRAWS}.draw:Random",
    controlled=f"{_DRAWS}.controlled:Controlled",
    sobol=f"{_DRAWS}.sobol:Sobol",
    optuna="gymspace.sweep.search:Optuna",
)
_SAMPLERS = "optuna.samplers"
SAMPLERS = _table(
    tpe=f"{_SAMPLERS}:TPESampler",
    tpe_multivariate=Row(f"{_SAMPLERS}:TPESampler", multivariate=True),
    cmaes=f"{_SAMPLERS}:CmaEsSampler",
    gp=f"{_SAMPLERS}:GPSampler",
    nsga2=f"{_SAMPLERS}:NSGAIISampler",
    nsga3=f"{_SAMPLERS}:NSGAIIISampler",
    qmc=f"{_SAMPLERS}:QMCSampler",
    brute_force=f"{_SAMPLERS}:BruteForceSampler",
    random=f"{_SAMPLERS}:RandomSampler",
)
_PRUNERS = "optuna.pruners"
PRUNERS = _table(
    none=f"{_PRUNERS}:NopPruner",
    median=f"{_PRUNERS}:MedianPruner",
    percentile=Row(f"{_PRUNERS}:PercentilePruner", percentile=25.0),
    halving=f"{_PRUNERS}:SuccessiveHalvingPruner",
    hyperband=f"{_PRUNERS}:HyperbandPruner",
    wilcoxon=f"{_PRUNERS}:WilcoxonPruner",
)

TABLES: Mapping[str, Mapping[str, Row]] = MappingProxyType(
    {
        "dataset": DATASETS,
        "data.split": SPLITS,
        "data.transform": TRANSFORMS,
        "loader": LOADERS,
        "model.layer": LAYERS,
        "model.stage": STAGES,
        "model.norm": NORMS,
        "model.act": ACTIVATIONS,
        "model.agg": AGGREGATIONS,
        "model.head": HEADS,
        "model.node_encoder": NODE_ENCODERS,
        "model.edge_encoder": EDGE_ENCODERS,
        "model.attention": ATTENTIONS,
        "encodings": ENCODINGS,
        "optim.optimizer": OPTIMIZERS,
        "optim.scheduler": SCHEDULERS,
        "loss": LOSSES,
        "metrics": METRICS,
        "sweep.draw": DRAWS,
        "sweep.sampler": SAMPLERS,
        "sweep.pruner": PRUNERS,
    }
)


def lookup(key: str, name: str) -> Row:
    """The row of ``name`` in the table of the config ``key``, without importing what it points to.

    Raises:
        ConfigError: the name is neither in the table nor the `module:attr` of a module that exists.
    """
    table = TABLES[key]
    if name in table:
        return table[name]
    if ":" not in name:
        raise ConfigError(
            key, "unknown name (a `module:attr` is taken too)", value=name, choices=table
        )
    source_file(key, name)
    return Row(name)


def source_file(key: str, target: str) -> Path | None:
    """The file that holds `module:attr`; None for a module without one (built in).

    Raises:
        ConfigError: there is no such module.
    """
    module = target.partition(":")[0]
    try:
        found = importlib.util.find_spec(module)
    except Exception as error:  # the packages around it are imported, and may be user code
        raise ConfigError(key, f"cannot import '{module}': {error}", value=target) from error
    if found is None:
        raise ConfigError(key, f"there is no module '{module}'", value=target)
    return Path(found.origin) if found.has_location and found.origin else None


def source_hash(key: str, target: str) -> str:
    """Digest of the file behind `module:attr`, kept with a trial to notice changed code."""
    path = source_file(key, target)
    return hashlib.sha256(path.read_bytes()).hexdigest()[:16] if path else "built-in"


def factory(key: str, name: str) -> Callable[..., Any]:
    """Import what ``name`` stands for (the row's presets are not applied: see `build`)."""
    target = lookup(key, name).target
    module, _, attribute = target.partition(":")
    try:
        found = importlib.import_module(module)
    except Exception as error:  # user code: whatever it raises is told with the key
        raise ConfigError(key, f"importing '{module}' failed: {error!r}", value=name) from error
    if not callable(getattr(found, attribute, None)):
        names = [n for n in vars(found) if not n.startswith("_") and callable(getattr(found, n))]
        close = names if len(names) <= 12 else get_close_matches(attribute, names)
        raise ConfigError(
            key,
            f"'{module}' has no callable '{attribute}'",
            value=name,
            choices=close,
            near=attribute,
        )
    return getattr(found, attribute)


def build(key: str, component: Any, *positional: Any, **context: Any) -> Any:
    """Call the factory of ``component`` (it has ``name`` and ``args``) and return what it makes.

    ``context`` is offered, not forced: a factory gets those entries that its signature names.
    The component's own arguments must be in the signature and not in the context; they win over
    presets.

    Raises:
        ConfigError: an argument that the factory does not take, or one that it misses.
    """
    make = factory(key, component.name)
    signature = _signature(key, component.name, make)
    names, any_keyword = _parameters(signature, skip=len(positional))
    taken = [name for name in names if name not in context]
    for name, value in component.args:
        if name in context or (name not in taken and not any_keyword):
            raise ConfigError(
                f"{key}.{name}",
                f"'{component.name}' takes no such argument",
                value=value,
                choices=taken,
                near=name,
            )
        _check_type(f"{key}.{name}", value, signature.parameters.get(name))
    offered = {name: value for name, value in context.items() if name in names}
    arguments = {**offered, **lookup(key, component.name).preset, **dict(component.args)}
    _bind(key, component.name, signature, positional, arguments)
    if not any_keyword:
        return make(*positional, **arguments)
    try:
        return make(*positional, **arguments)
    except TypeError as error:  # what a signature with **kwargs takes shows only when called
        raise ConfigError(key, f"cannot be called: {error}", value=component.name) from error


def _signature(key: str, name: str, make: Callable[..., Any]) -> inspect.Signature:
    read = _signature_once if isinstance(make, Hashable) else inspect.signature
    try:
        return read(make)
    except ValueError as error:  # some functions written in C
        raise ConfigError(key, "does not tell its arguments", value=name) from error


@lru_cache(maxsize=1024)
def _signature_once(make: Callable[..., Any]) -> inspect.Signature:
    """Of the few factories of a sweep; a model asks for them dozens of times."""
    return inspect.signature(make)


def _bind(
    key: str, name: str, signature: inspect.Signature, positional: Any, arguments: Any
) -> None:
    try:
        signature.bind(*positional, **arguments)
    except TypeError as error:
        raise ConfigError(key, f"cannot be called: {error}", value=name) from error


def _check_type(key: str, value: Any, parameter: inspect.Parameter | None) -> None:
    """Hold an argument to a plain annotation; anything richer is the factory's own business."""
    wanted = parameter.annotation if parameter else None
    if wanted not in (bool, int, float, str):
        return
    fits = type(value) in ((int, float) if wanted is float else (wanted,))
    if not fits:
        raise ConfigError(key, f"must be of type {wanted.__name__}", value=value)


def _parameters(signature: inspect.Signature, skip: int) -> tuple[list[str], bool]:
    parameters = list(signature.parameters.values())
    by_name = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)
    names = [p.name for p in parameters[skip:] if p.kind in by_name]
    return names, any(p.kind is inspect.Parameter.VAR_KEYWORD for p in parameters)


def rows() -> Iterator[tuple[str, str, Row]]:
    """Every (config key, name, row) of every table."""
    for key, table in TABLES.items():
        for name, row in table.items():
            yield key, name, row
