"""The expansion of topologies, imported when a scenario has one."""

from longhaul.scenario.expand.topologies.laid import Laid
from longhaul.scenario.inputs import Inputs
from longhaul.scenario.syntax.yaml_tree import Branch, Source


def lay_out(source: Source, tree: Branch, inputs: Inputs) -> Laid:
    """``tree`` with what its topology describes; as it was, if there is none or it cannot be read.

    ``inputs`` reads the files that the topology names.
    """
    if "topology" not in tree.entries:
        return Laid(tree)
    from longhaul.scenario.expand.topologies.expansion import expand_topology

    return expand_topology(source, tree, inputs)
