"""What is in `deploy/` is well formed, names what is there, and says what the code needs."""

import re
from pathlib import Path

import pytest
import yaml

from doxa.core.config import settings
from doxa.transport import cluster

ROOT = Path(__file__).parents[1]
COMPOSE = [ROOT / "compose.yaml", ROOT / "deploy" / "compose.cluster.yaml"]
SERVICE = ROOT / "deploy" / "rayservice.yaml"
CONFIGURED = {name for name, *_ in settings()}
CHOSEN = {"DOXA_POSTGRES_PASSWORD", "DOXA_RAY_TOKEN"}
"""Of whoever deploys it: they are put into other values."""


def containers() -> list[dict[str, object]]:
    spec = yaml.safe_load(SERVICE.read_text())["spec"]["rayClusterConfig"]
    groups = [spec["headGroupSpec"], *spec["workerGroupSpecs"]]
    return [one for group in groups for one in group["template"]["spec"]["containers"]]


@pytest.mark.parametrize("path", COMPOSE, ids=lambda path: path.name)
def test_compose_files_name_services_that_are_there_and_no_foreign_host(path):
    told = yaml.safe_load(path.read_text())
    services = told["services"]
    for service in services.values():
        assert set(service.get("depends_on", ())) <= set(services)
        assert "image" in service or "build" in service
        assert "/" not in service.get("image", "")  # an official image, or one that is built here
        volumes = [volume.partition(":")[0] for volume in service.get("volumes", ())]
        assert set(volumes) <= set(told.get("volumes", ()))


@pytest.mark.parametrize("path", [*COMPOSE, SERVICE], ids=lambda path: path.name)
def test_every_setting_that_a_file_gives_is_one(path):
    assert set(re.findall(r"\bDOXA_[A-Z_]+", path.read_text())) - CHOSEN <= CONFIGURED


def test_requests_follow_their_user_in_every_node_of_a_deployment():
    needed = cluster.environment()
    for one in containers():
        given = {variable["name"]: variable.get("value") for variable in one["env"]}
        assert needed.items() <= given.items()
    told = yaml.safe_load(COMPOSE[1].read_text())["services"]
    for name in ("head", "worker"):
        assert needed.items() <= told[name]["environment"].items()


def test_the_manifest_serves_what_the_code_has():
    spec = yaml.safe_load(SERVICE.read_text())
    assert (spec["apiVersion"], spec["kind"]) == ("ray.io/v1", "RayService")
    served = yaml.safe_load(spec["spec"]["serveConfigV2"])
    (one,) = served["applications"]
    module, _, name = one["import_path"].partition(":")
    assert module == cluster.__name__
    assert callable(getattr(cluster, name))
    ports = {port["name"]: port["containerPort"] for port in containers()[0]["ports"]}
    assert ports["serve"] == served["http_options"]["port"]


def test_ray_takes_the_serve_config_of_the_manifest():
    schema = pytest.importorskip("ray.serve.schema", reason="Ray is not installed: pip install doxa[cluster]")
    served = yaml.safe_load(yaml.safe_load(SERVICE.read_text())["spec"]["serveConfigV2"])
    assert schema.ServeDeploySchema.model_validate(served).applications[0].route_prefix == "/"
