"""The cluster files that we ship: they can be read, have the keys that Ray knows, and agree with each other."""

import json
import re
from pathlib import Path
from typing import Any

import jsonschema
import pytest
import yaml

from bitwright.common.workers.ray_jobs import ray_module

ROOT = Path(__file__).parents[1]
FOLDER = ROOT / "examples" / "cluster"
# What the operator's RayCluster has, of what we use (ray.io/v1); anything else it would pass over in silence.
GROUP = {"rayStartParams", "template"}
KNOWN = {
    "spec": {"rayVersion", "enableInTreeAutoscaling", "headGroupSpec", "workerGroupSpecs"},
    "head": GROUP | {"serviceType"},
    "workers": GROUP | {"groupName", "replicas", "minReplicas", "maxReplicas"},
    "container": {"name", "image", "resources", "volumeMounts", "env", "ports"},
}


def kubernetes() -> list[dict[str, Any]]:
    return list(yaml.safe_load_all((FOLDER / "kuberay.yaml").read_text()))


def test_the_launcher_takes_its_file() -> None:
    schema = json.loads((Path(ray_module().__file__).parent / "autoscaler" / "ray-schema.json").read_text())
    document = yaml.safe_load((FOLDER / "aws.yaml").read_text())
    jsonschema.validate(document, schema)
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate({**document, "workers": 3}, schema)
    assert document["head_node_type"] in document["available_node_types"]
    most = sum(kind["max_workers"] for kind in document["available_node_types"].values())
    assert document["max_workers"] <= most


def test_the_operator_knows_every_key() -> None:
    cluster, claim = kubernetes()
    assert (cluster["apiVersion"], cluster["kind"]) == ("ray.io/v1", "RayCluster")
    spec = cluster["spec"]
    assert set(spec) <= KNOWN["spec"]
    assert set(spec["headGroupSpec"]) <= KNOWN["head"]
    for group in spec["workerGroupSpecs"]:
        assert set(group) <= KNOWN["workers"]
        assert group["minReplicas"] <= group["replicas"] <= group["maxReplicas"]
    for group in (spec["headGroupSpec"], *spec["workerGroupSpecs"]):
        (container,) = group["template"]["spec"]["containers"]
        assert set(container) <= KNOWN["container"]
        assert all(isinstance(value, str) for value in group["rayStartParams"].values())  # or it is refused
    (volume,) = spec["headGroupSpec"]["template"]["spec"]["volumes"]
    assert volume["persistentVolumeClaim"]["claimName"] == claim["metadata"]["name"]


def test_all_of_them_name_the_versions_that_are_tested() -> None:
    pinned = dict(re.findall(r"^([\w-]+)==(\S+)$", (ROOT / "constraints.txt").read_text(), re.MULTILINE))
    assert kubernetes()[0]["spec"]["rayVersion"] == pinned["ray"]
    for name in ("aws.yaml", "Dockerfile"):
        text = (FOLDER / name).read_text()
        assert re.findall(r"ray\[default\]==([\d.]+)", text) == [pinned["ray"]]
        assert re.findall(r"numpy==([\d.]+)", text) == [pinned["numpy"]]
