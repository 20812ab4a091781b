"""A Dask cluster on Kubernetes whose pods talk TLS, by dask-kubernetes' operator.

The operator knows Dask's unencrypted protocol alone. What it needs for the other one is in the cluster's
description: the certificate, from a Secret of the same name, and where its scheduler is, as ``tls://``.
"""

import copy
import functools
import secrets
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import yaml

from longhaul.sweeps.tls import Certificates, module

Json = dict[str, Any]

PORT = 8786
_PARTS: Mapping[str, str] = {"ca_file": "CA_FILE", "cert": "{role}__CERT", "key": "{role}__KEY"}
_MADE_OF = ("image", "n_workers", "resources", "env", "worker_command")
"""Options of KubeCluster that describe the cluster's pods."""


@contextmanager
def asked(options: Mapping[str, Any], certificates: Certificates, *, dashboard: bool) -> Iterator[Any]:
    """A cluster of dask-kubernetes; inside, it and its Secret exist. ``options`` are those of KubeCluster."""
    package = {"package": "dask-kubernetes", "extra": "kubernetes"}
    made = module("dask_kubernetes.operator.kubecluster.kubecluster", **package)
    networking = module("dask_kubernetes.operator.networking", **package)
    kr8s = module("kr8s", **package)
    given = dict(options)
    name = given.pop("name", f"longhaul-{secrets.token_hex(4)}")
    spec = given.pop("custom_cluster_spec", None)
    if isinstance(spec, str):
        spec = yaml.safe_load(Path(spec).read_text(encoding="utf-8"))
    if spec is None:
        spec = made.make_cluster_spec(name=name, **{key: given.pop(key) for key in _MADE_OF if key in given})
    name = spec["metadata"]["name"]
    namespace = given.pop("namespace", None) or kr8s.api().namespace
    secret = module("kr8s.objects", **package).Secret(secret_of(certificates, name), namespace=namespace)
    secret.create()
    rpc = functools.partial(
        module("distributed.core").rpc, connection_args=certificates.security.get_connection_args("client")
    )
    before = made.rpc, networking.rpc
    made.rpc = networking.rpc = rpc
    try:
        kind = _kind(made.KubeCluster, certificates)
        ours = secured_spec(spec, namespace=namespace, dashboard=dashboard)
        with kind(custom_cluster_spec=ours, namespace=namespace, **given) as cluster:
            yield cluster
    finally:
        made.rpc, networking.rpc = before
        secret.delete()


def _kind(kind: Any, certificates: Certificates) -> Any:
    async def address(self: Any) -> str:
        found: str = await kind._get_scheduler_address(self)
        return found.replace("tcp://", "tls://", 1)

    return type(
        kind.__name__, (kind,), {"security": certificates.security, "_get_scheduler_address": address}
    )


def secret_of(certificates: Certificates, name: str) -> Json:
    """The Secret with the certificate of cluster ``name``."""
    parts = certificates.security.get_tls_config_for_role("worker")
    return {
        "apiVersion": "v1",
        "kind": "Secret",
        "type": "Opaque",
        "metadata": {"name": f"{name}-tls", "labels": {"dask.org/cluster-name": name}},
        "stringData": {part.replace("_", "-"): parts[part] for part in _PARTS},
    }


def secured_spec(spec: Mapping[str, Any], *, namespace: str, dashboard: bool) -> Json:
    """The description of a DaskCluster, with TLS for its scheduler and its workers."""
    found: Json = copy.deepcopy(dict(spec))
    name = found["metadata"]["name"]
    routes = {} if dashboard else {"DASK_DISTRIBUTED__SCHEDULER__HTTP__ROUTES": '["distributed.http.health"]'}
    address = f"tls://{name}-scheduler.{namespace}.svc.cluster.local:{PORT}"
    plain: dict[str, dict[str, str]] = {
        "scheduler": routes,
        "worker": {"DASK_SCHEDULER_ADDRESS": address, "DASK_DISTRIBUTED__WORKER__HTTP__ROUTES": "[]"},
    }
    for role, more in plain.items():
        for container in found["spec"][role]["spec"]["containers"]:
            theirs = container.get("env") or []
            if isinstance(theirs, Mapping):
                theirs = [{"name": key, "value": value} for key, value in theirs.items()]
            ours: list[Json] = [
                {"name": "PYTHONSAFEPATH", "value": "1"},
                {"name": "DASK_DISTRIBUTED__COMM__REQUIRE_ENCRYPTION", "value": "True"},
                {"name": "DASK_DISTRIBUTED__COMM__DEFAULT_SCHEME", "value": "tls"},
                *({"name": key, "value": value} for key, value in more.items()),
                *(
                    {
                        "name": f"DASK_DISTRIBUTED__COMM__TLS__{variable.format(role=role.upper())}",
                        "valueFrom": {"secretKeyRef": {"name": f"{name}-tls", "key": part.replace("_", "-")}},
                    }
                    for part, variable in _PARTS.items()
                ),
            ]
            names = {each["name"] for each in ours}
            container["env"] = [*(each for each in theirs if each["name"] not in names), *ours]
    return found
