"""The settings of a cluster: replicas of the server, and workers of bulk work, that Ray places on machines."""

from __future__ import annotations

from pydantic import Field, model_validator

from doxa.core.roles import Group

__all__ = ["ClusterConfig"]


class ClusterConfig(Group):
    """What `doxa cluster` asks of Ray."""

    replicas: int = Field(1, gt=0, description="Replicas of the server that always run.")
    max_replicas: int = Field(
        0, ge=0, description="Most replicas under load; 0 is one for each `cpus` that the cluster has at the start."
    )
    cpus: float = Field(
        1.0, gt=0, description="Cores that Ray sets aside for one replica, and for one worker of bulk work."
    )
    requests: int = Field(
        8,
        gt=0,
        description="Requests under way on one replica, those that only wait for news included; where there are more "
        "for a while, another replica is started.",
    )

    @model_validator(mode="after")
    def _ordered(self) -> ClusterConfig:
        if 0 < self.max_replicas < self.replicas:
            raise ValueError(f"max_replicas ({self.max_replicas}) is less than replicas ({self.replicas})")
        return self
