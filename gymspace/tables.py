"""Literal tables, one for each slot of the config: name -> where its factory is."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any


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
    smooth_l1=f"{_TRAINING}.losses:smooth_l1",
    focal=f"{_TRAINING}.losses:focal",
    bpr=f"{_TRAINING}.rank_losses:bpr",
    margin=f"{_TRAINING}.rank_losses:margin",
)
METRICS = _table(
    accuracy=f"{_TRAINING}.metrics:Accuracy",
    auc=f"{_TRAINING}.metrics:AUC",
    average_precision=f"{_TRAINING}.metrics:AveragePrecision",
    balanced_accuracy=f"{_TRAINING}.class_metrics:BalancedAccuracy",
    f1=f"{_TRAINING}.class_metrics:F1",
    f1_macro=Row(f"{_TRAINING}.class_metrics:F1", average="macro"),
    f1_micro=Row(f"{_TRAINING}.class_metrics:F1", average="micro"),
    precision=f"{_TRAINING}.class_metrics:Precision",
    recall=f"{_TRAINING}.class_metrics:Recall",
    mrr=f"{_TRAINING}.rank_metrics:MRR",
    hits=f"{_TRAINING}.rank_metrics:Hits",
    hits_1=Row(f"{_TRAINING}.rank_metrics:Hits", k=1),
    hits_3=Row(f"{_TRAINING}.rank_metrics:Hits", k=3),
    hits_10=Row(f"{_TRAINING}.rank_metrics:Hits", k=10),
    hits_50=Row(f"{_TRAINING}.rank_metrics:Hits", k=50),
    hits_100=Row(f"{_TRAINING}.rank_metrics:Hits", k=100),
    mae=f"{_TRAINING}.metrics:MAE",
    rmse=f"{_TRAINING}.metrics:RMSE",
    r2=f"{_TRAINING}.metrics:R2",
    spearman=f"{_TRAINING}.metrics:Spearman",
)
_PYG = f"{_DATASETS}:pyg"
DATASETS = _table(
    digits=f"{_DATASETS}:digits",
    scale_free=f"{_DATASETS}:scale_free",
    small_world=f"{_DATASETS}:small_world",
    scale_frees=f"{_DATASETS}:scale_frees",
    small_worlds=f"{_DATASETS}:small_worlds",
    folder="gymspace.graph.folder.dataset:folder",
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
    roman_empire=Row(
        _PYG, cls="HeterophilousGraphDataset", subset="Roman-empire", folder="heterophilous"
    ),
    amazon_ratings=Row(
        _PYG, cls="HeterophilousGraphDataset", subset="Amazon-ratings", folder="heterophilous"
    ),
    tolokers=Row(_PYG, cls="HeterophilousGraphDataset", subset="Tolokers", folder="heterophilous"),
    questions=Row(
        _PYG, cls="HeterophilousGraphDataset", subset="Questions", folder="heterophilous"
    ),
    cornell=Row(_PYG, cls="WebKB", subset="Cornell", folder="webkb"),
    texas=Row(_PYG, cls="WebKB", subset="Texas", folder="webkb"),
    wisconsin=Row(_PYG, cls="WebKB", subset="Wisconsin", folder="webkb"),
    chameleon=Row(_PYG, cls="WikipediaNetwork", subset="chameleon", folder="wikipedia_network"),
    squirrel=Row(_PYG, cls="WikipediaNetwork", subset="squirrel", folder="wikipedia_network"),
    actor=Row(_PYG, cls="Actor", folder="actor"),
    wiki_cs=Row(_PYG, cls="WikiCS", folder="wiki_cs"),
    reddit=Row(_PYG, cls="Reddit", folder="reddit"),
    flickr=Row(_PYG, cls="Flickr", folder="flickr"),
    yelp=Row(_PYG, cls="Yelp", folder="yelp"),
    ppi=Row(_PYG, cls="PPI", folder="ppi", parts="split"),
    mutag=Row(_PYG, cls="TUDataset", subset="MUTAG", folder="tudataset"),
    enzymes=Row(_PYG, cls="TUDataset", subset="ENZYMES", folder="tudataset", use_node_attr=True),
    proteins=Row(_PYG, cls="TUDataset", subset="PROTEINS", folder="tudataset", use_node_attr=True),
    imdb_binary=Row(_PYG, cls="TUDataset", subset="IMDB-BINARY", folder="tudataset"),
    imdb_multi=Row(_PYG, cls="TUDataset", subset="IMDB-MULTI", folder="tudataset"),
    collab=Row(_PYG, cls="TUDataset", subset="COLLAB", folder="tudataset"),
    reddit_binary=Row(_PYG, cls="TUDataset", subset="REDDIT-BINARY", folder="tudataset"),
    nci1=Row(_PYG, cls="TUDataset", subset="NCI1", folder="tudataset"),
    dd=Row(_PYG, cls="TUDataset", subset="DD", folder="tudataset"),
    esol=Row(_PYG, cls="MoleculeNet", subset="ESOL", folder="moleculenet"),
    freesolv=Row(_PYG, cls="MoleculeNet", subset="FreeSolv", folder="moleculenet"),
    bace=Row(_PYG, cls="MoleculeNet", subset="BACE", folder="moleculenet"),
    bbbp=Row(_PYG, cls="MoleculeNet", subset="BBBP", folder="moleculenet"),
    lipophilicity=Row(_PYG, cls="MoleculeNet", subset="Lipo", folder="moleculenet"),
    hiv=Row(_PYG, cls="MoleculeNet", subset="HIV", folder="moleculenet"),
    tox21=Row(_PYG, cls="MoleculeNet", subset="Tox21", folder="moleculenet"),
    toxcast=Row(_PYG, cls="MoleculeNet", subset="ToxCast", folder="moleculenet"),
    clintox=Row(_PYG, cls="MoleculeNet", subset="ClinTox", folder="moleculenet"),
    sider=Row(_PYG, cls="MoleculeNet", subset="SIDER", folder="moleculenet"),
    muv=Row(_PYG, cls="MoleculeNet", subset="MUV", folder="moleculenet"),
    pcba=Row(_PYG, cls="MoleculeNet", subset="PCBA", folder="moleculenet"),
    zinc=Row(_PYG, cls="ZINC", subset=True, folder="zinc", parts="split"),
    aqsol=Row(_PYG, cls="AQSOL", folder="aqsol", parts="split"),
    peptides_func=Row(
        _PYG, cls="LRGBDataset", subset="peptides-func", folder="lrgb", parts="split"
    ),
    peptides_struct=Row(
        _PYG, cls="LRGBDataset", subset="peptides-struct", folder="lrgb", parts="split"
    ),
    pascalvoc_sp=Row(_PYG, cls="LRGBDataset", subset="pascalvoc-sp", folder="lrgb", parts="split"),
    coco_sp=Row(_PYG, cls="LRGBDataset", subset="coco-sp", folder="lrgb", parts="split"),
    mnist=Row(
        _PYG, cls="GNNBenchmarkDataset", subset="MNIST", folder="gnn_benchmark", parts="split"
    ),
    cifar10=Row(
        _PYG, cls="GNNBenchmarkDataset", subset="CIFAR10", folder="gnn_benchmark", parts="split"
    ),
    pattern=Row(
        _PYG, cls="GNNBenchmarkDataset", subset="PATTERN", folder="gnn_benchmark", parts="split"
    ),
    cluster=Row(
        _PYG, cls="GNNBenchmarkDataset", subset="CLUSTER", folder="gnn_benchmark", parts="split"
    ),
    csl=Row(_PYG, cls="GNNBenchmarkDataset", subset="CSL", folder="gnn_benchmark"),
    malnet_tiny=Row(_PYG, cls="MalNetTiny", folder="malnet_tiny", parts="split"),
)
SPLITS = _table(
    own="gymspace.graph.splits:own",
    random="gymspace.graph.splits:random",
    per_class="gymspace.graph.splits:per_class",
    kfold="gymspace.graph.folds:kfold",
    saved="gymspace.graph.saved:saved",
    scaffold="gymspace.graph.scaffolds:scaffold",
)
TRANSFORMS = _table(
    normalize_features="torch_geometric.transforms:NormalizeFeatures",
    to_undirected="gymspace.graph.transforms:ToUndirected",
    largest_component="torch_geometric.transforms:LargestConnectedComponents",
    remove_self_loops="gymspace.graph.transforms:RemoveSelfLoops",
    degree="torch_geometric.transforms:OneHotDegree",
    degree_profile="torch_geometric.transforms:LocalDegreeProfile",
    constant="torch_geometric.transforms:Constant",
    structural_label="gymspace.graph.structural_label:StructuralLabel",
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
