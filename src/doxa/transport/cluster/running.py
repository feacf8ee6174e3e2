"""Settings -> replicas of the server on a Ray cluster; and how they stand, and their end."""

from __future__ import annotations

import logging
import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

from pydantic import BaseModel

from doxa.core.config import Config
from doxa.core.errors import BackendError, BackendUnavailableError, ConfigError, InputError, MissingDependencyError
from doxa.core.storage import MEMORY, database_file
from doxa.transport.cluster.names import NAME, SHARD_HEADER

__all__ = ["Standing", "connect", "down", "environment", "placed", "require_shared", "served", "standing", "up"]

T = TypeVar("T", bound=BaseModel)

ROUTER = "ray.serve.experimental.consistent_hash_router.ConsistentHashRouter"
WAITING = 4_096
"""Streams on which clients of one replica may wait for news, beside the requests that are worked on at once."""
LOCAL = "local"
"""The address of a cluster that begins now, even where one runs."""
MARGIN_S = 10.0
OBJECTS_BYTES = 268_435_456
"""Memory for objects of a cluster that begins here: requests do not go through it, and claims are small."""
LOOK_S = 0.25
"""How often a replica that is to end looks whether its requests are over."""

logger = logging.getLogger("doxa.server")


@dataclass(frozen=True, slots=True, kw_only=True)
class Standing:
    """How the replicas of a cluster are."""

    status: str
    """In Ray's words: RUNNING, DEPLOYING, UNHEALTHY, DEPLOY_FAILED, or NOT_STARTED."""
    replicas: Mapping[str, int] = field(default_factory=dict)
    """How many are in which state, in Ray's words."""
    message: str = ""
    nodes: int = 0
    cpus: float = 0.0
    """Cores of the whole cluster."""
    address: str = ""
    """Of the Ray cluster, for `--address`."""


def connect(config: Config, *, address: str | None = None, told: bool = False) -> bool:
    """Join a Ray cluster: the one at an address (`auto`: that of this machine), or one that begins here and now.

    Args:
        config: the settings.
        address: where it is; by default the one that runs on this machine or that RAY_ADDRESS names, if any does;
            `local` is a new one all the same.
        told: whether what the replicas log is shown here as well.

    Returns:
        True where the cluster began here, and so ends with this process.

    Raises:
        MissingDependencyError: Ray is not installed.
        BackendUnavailableError: there is no cluster at that address.
    """
    ray = _ray()
    given = {
        "namespace": NAME,
        "runtime_env": {"env_vars": environment()},
        "log_to_driver": told,
        "logging_level": logging.ERROR,
    }
    for name in ("ray", "ray.serve"):  # what happens while Ray starts and ends is its own business
        logging.getLogger(name).setLevel(logging.ERROR)
    if address != LOCAL and _joined(ray, address, given):
        return False
    # Ray reports how it is used, unless it is told otherwise; nothing of a memory's owner goes anywhere unasked.
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")  # noqa: TID251  it is written for Ray, and not read
    ray.init(address=LOCAL, include_dashboard=False, object_store_memory=OBJECTS_BYTES, **given)
    return True


def _joined(ray: Any, address: str | None, given: Mapping[str, Any]) -> bool:
    """Join a cluster that is there; False where none was named and none runs."""
    try:
        ray.init(address=address or "auto", **given)
    except ConnectionError as exc:
        if address is None:
            return False
        raise BackendUnavailableError(
            f"There is no Ray cluster at {address}, or it wants a token (RAY_AUTH_MODE=token): {exc} Start one "
            "with `ray start --head`, or leave --address out for one on this machine alone."
        ) from exc
    return True


def disconnect() -> None:
    """Leave the cluster; one that began here ends."""
    import ray

    ray.shutdown()


def environment() -> dict[str, str]:
    """Return what Ray's proxies and replicas need in their environment for requests to follow their user."""
    return {
        "RAY_SERVE_HTTP_PROXY_CALLBACK_IMPORT_PATH": "doxa.transport.cluster.following:middlewares",
        "RAY_SERVE_SESSION_ID_HEADER_KEY": SHARD_HEADER,
    }


def up(config: Config) -> Standing:
    """Have the replicas run, on the cluster that was joined; those that run already are replaced one by one.

    Raises:
        InputError: the database is one that several machines or processes cannot share.
        BackendError: the replicas do not start; the message is theirs.
    """
    from ray import serve

    require_shared(config, nodes=len(_alive()))
    server = config.server
    serve.start(
        proxy_location="EveryNode",
        http_options={"host": server.host, "port": server.port},
        logging_config=_quiet(),
    )
    try:
        serve.run(_application(config), name=NAME, route_prefix="/")
    except RuntimeError as exc:
        raise BackendError(f"The replicas did not start. `doxa cluster status` and Ray's log say more: {exc}") from exc
    return standing()


def served(arguments: Mapping[str, str]) -> Any:
    """Return the application for a Serve config file (`import_path: doxa.transport.cluster:served`).

    The settings are those of `doxa.toml` and the environment, as everywhere; `arguments` may name the file (`config`).

    Raises:
        ConfigError: a setting cannot be used, or an argument is unknown.
    """
    if unknown := set(arguments) - {"config"}:
        raise ConfigError(f"Expected the argument config at most, got {', '.join(sorted(unknown))}.")
    config = Config.load(arguments.get("config"))
    require_shared(config, nodes=1)
    return _application(config)


def placed(config: Config) -> Config:
    """Return settings whose paths hold in every process: what Ray starts has another working folder."""
    named = database_file(config.db)
    if named not in (None, "", MEMORY):
        config = config.model_copy(update={"db": str(Path(str(named)).absolute())})
    return _absolute(config)


def _absolute(group: T) -> T:
    found: dict[str, Any] = {}
    for name in type(group).model_fields:
        value = getattr(group, name)
        if isinstance(value, BaseModel):
            found[name] = _absolute(value)
        elif isinstance(value, Path):
            found[name] = value.absolute()
        elif isinstance(value, tuple):
            found[name] = tuple(one.absolute() if isinstance(one, Path) else one for one in value)
    return group.model_copy(update=found)


def down() -> bool:
    """End the replicas: no request comes in, those under way are answered, and what was received is understood.

    Returns:
        False where none ran.
    """
    from ray import serve
    from ray.exceptions import RayError

    if standing().status == "NOT_STARTED":
        return False
    try:
        serve.get_app_handle(NAME).broadcast("rest").results(timeout_s=MARGIN_S)
    except (RayError, RuntimeError, TimeoutError) as exc:
        logger.warning("streams that wait for news end by themselves: %s", exc)
    serve.delete(NAME)
    serve.shutdown()
    return True


def standing() -> Standing:
    """Return how the replicas are; the status is NOT_STARTED where there are none."""
    import ray
    from ray import serve

    nodes = _alive()
    cpus = float(ray.cluster_resources().get("CPU", 0.0))
    found = serve.status().applications.get(NAME)
    address = str(ray.get_runtime_context().gcs_address)
    if found is None:
        return Standing(status="NOT_STARTED", nodes=len(nodes), cpus=cpus, address=address)
    deployment = found.deployments.get(NAME)
    return Standing(
        status=str(found.status.value),
        replicas=dict(deployment.replica_states) if deployment else {},
        message=found.message or (deployment.message if deployment else ""),
        nodes=len(nodes),
        cpus=cpus,
        address=address,
    )


def _application(config: Config) -> Any:
    """Return the deployment, bound to its settings."""
    from ray import serve
    from ray.serve.config import RequestRouterConfig

    from doxa.transport.cluster.replica import Replica, longest_wait_s

    cluster, server = config.cluster, config.server
    # One replica after the primary on the ring: it is where a user is served until a dead primary is replaced.
    router = RequestRouterConfig(request_router_class=ROUTER, request_router_kwargs={"num_fallback_replicas": 1})
    deployment = serve.deployment(
        name=NAME,
        ray_actor_options={"num_cpus": cluster.cpus},
        # The server counts its requests itself and says 503. Were they counted here, a user would be sent to a replica
        # that does not hold their state whenever their own is busy.
        max_ongoing_requests=server.concurrency + WAITING,
        request_router_config=router,
        logging_config=_quiet(),
        graceful_shutdown_wait_loop_s=LOOK_S,
        graceful_shutdown_timeout_s=longest_wait_s(config) + server.drain_s + MARGIN_S,
        **_sizes(config),
    )
    return deployment(serve.ingress()(Replica)).bind(config)


def _quiet() -> Any:
    """Return that Ray logs what goes wrong; a line for each request the server writes itself, and names nobody."""
    from ray.serve.schema import LoggingConfig

    return LoggingConfig(log_level="WARNING", enable_access_log=False)


def _sizes(config: Config) -> dict[str, Any]:
    import ray

    cluster = config.cluster
    cpus = float(ray.cluster_resources().get("CPU", 1.0)) if ray.is_initialized() else 1.0
    most = cluster.max_replicas or max(cluster.replicas, int(cpus // cluster.cpus))
    if most == cluster.replicas:
        return {"num_replicas": cluster.replicas}
    scaling = {
        "min_replicas": cluster.replicas,
        "max_replicas": most,
        "target_ongoing_requests": cluster.requests,
    }
    return {"autoscaling_config": scaling}


def require_shared(config: Config, *, nodes: int) -> None:
    """Refuse a database that replicas cannot share."""
    file = database_file(config.db)
    if file in (MEMORY, ""):
        raise InputError(
            "Every replica would have a memory of its own in :memory:. Name a Postgres database: "
            "--db postgresql+psycopg://USER@HOST/NAME"
        )
    if file is not None and nodes > 1:
        raise InputError(
            f"The file {file} is on one machine and the cluster has {nodes}. Move it to Postgres, and name that: "
            "--db postgresql+psycopg://USER@HOST/NAME"
        )


def _alive() -> list[Mapping[str, Any]]:
    import ray

    return [node for node in ray.nodes() if node.get("Alive")]


def _ray() -> Any:
    try:
        import ray
        from ray import serve
    except ImportError as exc:
        raise MissingDependencyError("ray", extra="cluster", purpose="doxa cluster") from exc
    del serve
    return ray
