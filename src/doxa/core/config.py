"""One tree of settings, built from file < environment < arguments. Nothing else reads the environment.

Every setting has one environment name: `DOXA_` and its path in capitals (`recall.top_k` is
`DOXA_RECALL_TOP_K`); the field `name` of a group is the group itself (`llm.name` is `DOXA_LLM`).
"""

from __future__ import annotations

import difflib
import os
import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Literal, get_args

from pydantic import BaseModel, Field, SecretStr, ValidationError, field_validator, model_validator

from doxa.core.bases import CommonsenseConfig
from doxa.core.clustering import ClusterConfig
from doxa.core.errors import ConfigError
from doxa.core.roles import MOVED, Group, Profile, RolesConfig, resolved, without_preset
from doxa.core.shared import MemoryConfig
from doxa.core.storage import StoreConfig

__all__ = [
    "AmrConfig",
    "ClusterConfig",
    "CommonsenseConfig",
    "Config",
    "DriftConfig",
    "EncoderConfig",
    "EngineConfig",
    "LLMConfig",
    "LexiconConfig",
    "MCP_PROFILES",
    "MemoryConfig",
    "McpProfile",
    "NliConfig",
    "ParserConfig",
    "ReaderConfig",
    "ReasonConfig",
    "RecallConfig",
    "RolesConfig",
    "ServerConfig",
    "StoreConfig",
    "TasksConfig",
    "UnderstandConfig",
    "VerifyConfig",
    "data_folder",
    "environment_name",
    "settings",
]

FILE_NAME = "doxa.toml"
MISSPELT = 0.85
"""How alike (difflib ratio) a variable has to be to a setting's name to be taken for a slip of it."""


class EncoderConfig(Group):
    """Which sentence encoder makes the vectors."""

    name: str = Field("builtin", description="`builtin`, `hf:NAME` (extra hf), `openai:NAME`, or `hash` (tests).")
    base_url: str | None = Field(None, description="Address of an OpenAI-compatible embeddings server.")
    api_key: SecretStr | None = Field(None, description="Key of that server; OPENAI_API_KEY is used if unset.")


class ParserConfig(Group):
    """Which parser reads sentences."""

    name: str = Field("builtin", description="`builtin`, or a parser that an installed package adds.")
    head: Path | None = Field(
        None,
        description="File of what it was taught (`doxa teach`), for all users, with the marks beside it (`.jsonl`); "
        "unset is one for each user, beside the database file.",
    )

    @field_validator("head")
    @classmethod
    def _arrays(cls, value: Path | None) -> Path | None:
        if value is not None and value.suffix != ".npz":
            raise ValueError("expected a file that ends in .npz")  # its marks have its name, with another ending
        return value


class LLMConfig(Group):
    """Which language model plays the roles that are left to one; none is needed."""

    name: str | None = Field(
        None,
        description="`openai:NAME` for any OpenAI-compatible server, or `recorded:FOLDER`; unset works offline.",
    )
    base_url: str | None = Field(None, description="Address of the server, for example http://localhost:11434/v1.")
    api_key: SecretStr | None = Field(None, description="Key of the server; OPENAI_API_KEY is used if unset.")
    api_key_file: Path | None = Field(None, description="File that holds the key, as an alternative to `api_key`.")
    timeout_s: float = Field(30.0, gt=0, description="Seconds to wait for one answer.")
    max_retries: int = Field(3, ge=0, description="Retries after time-outs, rate limits and server errors.")
    context_tokens: int = Field(2000, gt=0, description="Most tokens of evidence put into one prompt.")
    max_tokens: int = Field(400, gt=0, description="Most tokens of one answer.")
    record: Path | None = Field(
        None, description="Folder in which every answer of the model is kept, for `recorded:FOLDER`."
    )


class UnderstandConfig(Group):
    """What a model, or AMR parser, may cost that reads a turn (see `roles.extract`)."""

    max_tokens: int = Field(1500, gt=0, description="Most tokens of one answer of the model about a turn.")
    parallel: int = Field(
        1,
        gt=0,
        description="How many turns of one user the model, or AMR parser, reads at once. Of turns that are read "
        "together none sees as facts what the others say; more is faster where many turns are taken in.",
    )


class ReviseConfig(Group):
    """What happens when beliefs clash."""

    policy: Literal["recency", "trust", "minimal", "weighted", "reject-new", "ask"] = Field(
        "recency",
        description="Which of several beliefs that cannot all be true gives way: the older (`recency`), that of "
        "whoever is further from the subject (`trust`), as few as possible (`minimal`), the lightest (`weighted`), the "
        "new one (`reject-new`), or none until somebody decides (`ask`).",
    )
    firm: float = Field(
        0.35,
        ge=0,
        le=1,
        description="Least confidence with which a statement that was read out of a turn is believed. What has less is "
        "kept as tentative: it can be found and shown, and changes nothing; 0 believes all of it.",
    )


class VerifyConfig(Group):
    """How replies are checked against the memory before they leave."""

    mode: Literal["off", "annotate", "repair", "block"] = Field(
        "annotate",
        description="What is done with a reply that contradicts the memory: nothing, without looking (`off`); the "
        "verdict says so (`annotate`); it is written again, told what clashes, and at last from memory alone "
        "(`repair`); or it is replaced by a sentence that says what the memory holds (`block`).",
    )
    repairs: int = Field(2, ge=0, description="How often a reply is written again at most (`repair`).")
    history: int = Field(40, ge=0, description="How many earlier turns of the agent a reply is held against.")
    clauses: int = Field(6, ge=0, description="Most clauses of one reply that the NLI model reads; 0 asks it none.")
    contradiction: float = Field(
        0.6,
        ge=0,
        le=1,
        description="Probability from which a clause is contradicted, by logic, wording and the NLI model together.",
    )
    entailment: float = Field(
        0.8, ge=0, le=1, description="P(entailment) from which the NLI model alone makes a sentence supported."
    )


class AmrConfig(Group):
    """Which parser turns sentences into AMR graphs, for `doxa amr` and `roles.extract`."""

    name: str | None = Field(None, description="`spring:URL`, `amrlib` or `amrlib:FOLDER` (extra amr), or `llm`.")
    timeout_s: float = Field(30.0, gt=0, description="Seconds to wait for the graph of one sentence.")


class LexiconConfig(Group):
    """Where word senses come from."""

    name: str = Field(
        "wordnet", description="`wordnet`, `wordnet:FOLDER`, or `none`; without one, words have no senses."
    )


class Replaceable(Group):
    """A model that ships, or another in its place."""

    name: str
    model: Path | None

    @property
    def options(self) -> dict[str, Any]:
        """What the factory of the model is given beside its name."""
        own = self.name.partition(":")[0] == "builtin" and self.model is not None
        return {"folder": self.model} if own else {}


class NliConfig(Replaceable):
    """Which model judges whether one text follows from another, or contradicts it."""

    name: str = Field(
        "builtin",
        description="`builtin`; `hf:NAME` (extra hf), such as `hf:cross-encoder/nli-deberta-v3-large`, the paper's "
        "model; or `none`.",
    )
    model: Path | None = Field(
        None, description="Folder of other weights for `builtin`, as `training/nli` writes them; unset is what ships."
    )


class ReaderConfig(Replaceable):
    """Which model reads short answers out of what was said, where facts do not answer."""

    name: str = Field(
        "builtin",
        description="`builtin`: a model reads the words that answer out of a turn, and weighs what facts say against "
        "what was said; or `none`: answers from facts are told as they are, and whole sentences are quoted.",
    )
    model: Path | None = Field(
        None, description="Folder of other weights for `builtin`, as `training/reader` writes them."
    )


class GraderConfig(Replaceable):
    """Which model judges how far a reading can be trusted, and what a turn says to a reply."""

    name: str = Field(
        "builtin",
        description="`builtin`: a model taught on annotated everyday chats; or `none`: everything that is read is "
        "believed, and verdicts rest on less.",
    )
    model: Path | None = Field(
        None, description="Folder of other weights for `builtin`, as `training/trust` writes them."
    )


class RecallConfig(Group):
    """How evidence is searched for."""

    top_k: int = Field(10, gt=0, description="How many pieces of evidence an answer may rest on.")
    pool: int = Field(64, gt=0, description="How many turns, of all that the views propose, are scored by every view.")
    deadline_ms: float = Field(
        500.0,
        ge=0,
        description="Milliseconds after which search begins no further step and gives what it has; 0: none.",
    )
    route: bool = Field(
        False,
        description="Whether a learned router plans each search: fewer candidates, for slightly less of the evidence; "
        "otherwise all searches share one plan.",
    )
    consistency: bool = Field(
        False,
        description="Whether search ranks by weights of which the graph and the dense view were aligned: they differ "
        "less, and find slightly less; what is learned from feedback is then not used.",
    )
    feedback: bool = Field(
        True, description="Whether answers that were verified are noted, so that search can learn from them."
    )
    learned: Path | None = Field(
        None, description="Folder of what was learned from feedback; unset is beside the database file."
    )
    promote: bool = Field(True, description="Whether repeated statements are lifted to what the user is like.")
    tau: float = Field(0.7, ge=0, le=1, description="How likely to last it has to be to be lifted (`promote`).")
    promotions: int = Field(64, ge=0, description="How many promotions one user may have.")
    promote_private: bool = Field(
        False, description="Whether health, religion, politics, sexuality, ethnicity and money are lifted as well."
    )


class DriftConfig(Group):
    """How it is watched whether search still does as well as it did, and what is done where it does not."""

    watch: bool = Field(
        True, description="Whether questions are sampled, to see whether search still finds what it did."
    )
    hours: float = Field(24.0, gt=0, description="Length of a window in hours, by the clock of the memory.")
    questions: int = Field(50, gt=0, description="Questions after which a window ends before its time.")
    refresh: bool = Field(True, description="Whether what was learned is refreshed after an alarm (extra `learn`).")
    every: int = Field(0, ge=0, description="Windows after which it is refreshed without an alarm too; 0: never.")


class ReasonConfig(Group):
    """How an answer is searched for where facts do not give it at once, and what a model may cost for one question."""

    knowledge: Literal["memory", "open"] = Field(
        "memory",
        description="What an answer of the language model may rest on: the memory alone (`memory`), or, where that "
        "holds nothing, what the model knows of the world as well (`open`): never against the memory, never cited, and "
        "the trace says so.",
    )
    parallel: int = Field(9, gt=0, description="Most calls to the language model under way at once, for one question.")
    calls: int = Field(60, gt=0, description="Most calls to the language model for one question.")
    tokens: int = Field(150_000, gt=0, description="Most tokens of prompts and answers for one question.")
    seconds: float = Field(60.0, gt=0, description="Most seconds that a question waits for the language model.")
    tree: bool = Field(True, description="Whether such an answer is searched for by the reasoning tree.")
    beam: int = Field(3, gt=0, description="How many states of the tree are expanded together.")
    branching: int = Field(3, gt=0, description="How many moves are tried from each state.")
    depth: int = Field(5, gt=0, description="Most moves on the way to an answer.")
    expansions: int = Field(12, gt=0, description="Most states that are expanded for one question.")
    order: Literal["beam", "best-first"] = Field(
        "beam", description="Level by level (`beam`), or always the most promising state of all (`best-first`)."
    )
    seed: int = Field(0, description="Decides between states that are alike in every other respect.")


class TasksConfig(Group):
    """How the tasks are kept, and what reaches them."""

    sure: float = Field(
        0.5,
        ge=0,
        le=1,
        description="With `roles.tasks` hybrid: confidence of the grammar below which the model is asked.",
    )
    doubted: float = Field(
        0.5, ge=0, le=1, description="Confidence of the model below which a change is asked back and not made."
    )

    route: Literal["auto", "off"] = Field(
        "auto",
        description="Whether a turn that is responded to reaches the tasks: when it opens, changes or asks about one "
        "(`auto`), or never (`off`); what is told to the tasks always does.",
    )
    dag: bool = Field(
        True, description="Whether tasks may share nodes and depend on each other; off only to measure what that gives."
    )
    ask_below: float = Field(
        0.0,
        ge=0,
        le=1,
        description="A change that is less likely than this to be what was meant is asked about and not made; with 0, "
        "only one where nothing tells which of several things is meant.",
    )


class EngineConfig(Group):
    """How the two loops run."""

    settle_s: float = Field(
        5.0,
        ge=0,
        description="Most seconds that a read waits for turns received before it to be processed; 0 never waits.",
    )
    workers: int = Field(
        8, gt=0, description="How many users' turns are processed at the same time where a model reads them."
    )
    lease_s: float = Field(30.0, gt=0, description="Seconds after which another process takes over a user's turns.")
    memory_mb: int = Field(
        1024, gt=0, description="MiB of users' folded memories that stay loaded; the longest unused is let go first."
    )
    snapshots: Path | None = Field(
        None,
        description="Folder of what was folded of each user's log, so that a memory opens at once; it may be removed "
        "at any time. Unset is one beside the database file, and none for a database on a server.",
    )
    max_turn_chars: int = Field(
        2_000_000, gt=0,
        description="Longest turn that is taken, in characters. It is searched whole; facts are made of its first 120 "
        "sentences (30,000 characters at most), and a trace says what was left unread.",
    )  # fmt: skip
    context_turns: int = Field(6, ge=0, description="How many earlier turns help to understand a new one.")
    answers: int = Field(
        200, ge=0, description="How many of the latest answers to a user are kept, with their traces; 0 keeps none."
    )


McpProfile = Literal["doxa", "reference", "mem0", "graphiti"]
MCP_PROFILES: tuple[McpProfile, ...] = get_args(McpProfile)
"""The sets of tools that an MCP server may offer."""


class ServerConfig(Group):
    """How `doxa serve` listens, and what it lets in."""

    host: str = Field("127.0.0.1", description="Address to listen on; another than this machine's own needs API keys.")
    port: int = Field(8377, ge=0, le=65535, description="Port to listen on; 0 takes a free one.")
    open: bool = Field(
        False,
        description="Whether requests without an API key are let in, as the user that they name, else as `user`; on "
        "this machine only.",
    )
    upstream: str | None = Field(
        None,
        description="Address of the OpenAI-compatible server that the proxy relays to, such as "
        "https://api.openai.com/v1; without one the built-in writer answers.",
    )
    upstream_key: SecretStr | None = Field(
        None, description="Key of that server; without one it gets the key that the client sends beside Doxa's."
    )
    upstream_timeout_s: float = Field(600.0, gt=0, description="Seconds to wait for the next bytes of that server.")
    recall_ms: float = Field(
        0.0,
        ge=0,
        description="Milliseconds that a message to the proxy waits for a search by meaning; what that finds later "
        "goes beside the next message. A search by words is always waited for.",
    )
    verify: Literal["off", "annotate", "repair", "block"] = Field(
        "off",
        description="What the proxy does with a reply that contradicts the memory: nothing, without looking (`off`); "
        "says so in a header or a last event (`annotate`); asks for another, not streamed (`repair`); or withholds it "
        "(`block`).",
    )
    mcp_profile: McpProfile = Field(
        "doxa",
        description="Which tools the MCP server offers, over stdio and at `/mcp`: its own six (`doxa`), or the names "
        "and shapes of the MCP project's reference memory server (`reference`), of `mem0` or of `graphiti`; at "
        "`/mcp/NAME` are those of that name whatever this says.",
    )
    max_body_bytes: int = Field(8_388_608, gt=0, description="Largest body of a request, imports aside.")
    max_bytes_at_once: int = Field(
        67_108_864,
        gt=0,
        description="Most bytes of all bodies that are worked on at once, imports aside: reading one takes up to "
        "fifty times its size. More get 503 and try again.",
    )
    max_import_bytes: int = Field(1_073_741_824, gt=0, description="Largest file that is imported.")
    concurrency: int = Field(64, gt=0, description="Requests that are worked on at once; more get 503 and try again.")
    rate: float = Field(0.0, ge=0, description="Requests a second that one key may make; 0 sets no limit.")
    cors: tuple[str, ...] = Field((), description="Origins whose pages may call the server; none by default.")
    query_s: float = Field(60.0, gt=0, description="Seconds that a SPARQL query or a check by HermiT may take.")
    drain_s: float = Field(30.0, ge=0, description="Seconds that a shutdown waits for requests under way.")
    logs: Literal["text", "json"] = Field("text", description="How a line of the log is written.")

    @field_validator("cors", mode="before")
    @classmethod
    def _several(cls, value: object) -> object:
        return value.replace(",", " ").split() if isinstance(value, str) else value


class Config(Group):
    """All settings. `Config.load()` reads file and environment; arguments to `Config(...)` read neither.

    `profile` and what it sets are resolved when it is made, so `model_copy` changes no role: see `with_profile`.
    """

    profile: Profile | None = Field(
        None,
        description="What the language model does: nothing (`offline`), write answers (`writer`), or play all roles, "
        "with `verify.mode` repair (`full`); unset is `full` where `llm.name` is set, else `offline`. Single settings "
        "of `roles` and `verify` go before it.",
    )
    tenant: str = Field("default", description="Name of the tenant; users of two tenants never share anything.")
    db: str = Field("memory.db", description="Database of the command line: a path or an SQLAlchemy URL.")
    user: str = Field("me", description="User of the command line, and of requests to an open server that name none.")
    ontology: tuple[Path, ...] | None = Field(
        None,
        description="Turtle files with relations and classes of your own; in the environment separated as in PATH.",
    )
    store: StoreConfig = StoreConfig()
    memory: MemoryConfig = MemoryConfig()
    encoder: EncoderConfig = EncoderConfig()
    parser: ParserConfig = ParserConfig()
    llm: LLMConfig = LLMConfig()
    roles: RolesConfig = RolesConfig()
    understand: UnderstandConfig = UnderstandConfig()
    revise: ReviseConfig = ReviseConfig()
    verify: VerifyConfig = VerifyConfig()
    amr: AmrConfig = AmrConfig()
    lexicon: LexiconConfig = LexiconConfig()
    nli: NliConfig = NliConfig()
    reader: ReaderConfig = ReaderConfig()
    grader: GraderConfig = GraderConfig()
    recall: RecallConfig = RecallConfig()
    drift: DriftConfig = DriftConfig()
    reason: ReasonConfig = ReasonConfig()
    tasks: TasksConfig = TasksConfig()
    commonsense: CommonsenseConfig = CommonsenseConfig()
    engine: EngineConfig = EngineConfig()
    server: ServerConfig = ServerConfig()
    cluster: ClusterConfig = ClusterConfig()

    @model_validator(mode="before")
    @classmethod
    def _resolved(cls, tree: object) -> object:
        return resolved(tree) if isinstance(tree, Mapping) else tree

    @field_validator("ontology", mode="before")
    @classmethod
    def _several(cls, value: object) -> object:
        return [part for part in value.split(os.pathsep) if part] if isinstance(value, str) else value

    @classmethod
    def load(cls, path: Path | str | None = None, *, environ: Mapping[str, str] | None = None) -> Config:
        """Return the settings from `path` (default: `doxa.toml` here, if any), then the environment.

        Raises:
            ConfigError: the file cannot be read, a setting is unknown or misspelt, or a value does not fit.
        """
        environ = os.environ if environ is None else environ
        path = path or environ.get("DOXA_CONFIG")
        tree = _read_file(Path(path or FILE_NAME), required=path is not None)
        known = {name: keys for name, keys, _, _ in settings()}
        for old, new in MOVED.items():
            if environ.get(environment_name(old)):
                raise ConfigError(_moved(environment_name(old), environment_name(new)))
        for name in sorted(n for n in environ if n.startswith("DOXA_") and n not in known and n not in _NOT_SETTINGS):
            near = difflib.get_close_matches(name, known, n=3, cutoff=MISSPELT)
            if near:  # others may use the prefix for things of their own, so only what looks like a slip is refused
                raise ConfigError(
                    f"Unknown setting {name} in the environment. Did you mean {' or '.join(near)}? Rename or unset it."
                )
        cls.from_tree(tree)  # the file by itself: a group that is no table has no place for what follows
        for name, keys in known.items():
            if environ.get(name):
                _put(tree, keys, environ[name])
        key = environ.get("OPENAI_API_KEY")
        for group in ("llm", "encoder"):
            if key and not tree.get(group, {}).get("api_key") and not tree.get(group, {}).get("api_key_file"):
                _put(tree, (group, "api_key"), key)
        return cls.from_tree(tree)

    @classmethod
    def from_tree(cls, tree: Mapping[str, Any]) -> Config:
        """Return settings from nested plain data; raises ConfigError with the first thing that does not fit."""
        try:
            return cls.model_validate(tree)
        except ValidationError as exc:
            error = exc.errors()[0]
            where = ".".join(str(part) for part in error["loc"])
            if error["type"] == "extra_forbidden" and where in MOVED:
                raise ConfigError(_moved(where, MOVED[where])) from exc
            if error["type"] == "extra_forbidden":
                known = [".".join(path) for _, path, _, _ in settings()]
                near = difflib.get_close_matches(where, known, n=3)
                hint = f" Did you mean {' or '.join(near)}?" if near else ""
                raise ConfigError(f"Setting {where!r} is unknown.{hint}") from exc
            said = error["msg"].removeprefix("Value error, ")
            given = "****" if "key" in where else repr(error["input"])
            raise ConfigError(f"Setting {where!r}: {said}; it was given {given}.") from exc

    def with_profile(self, profile: Profile) -> Config:
        """Return these settings under another profile.

        What the old profile set is what the new one sets; single settings that differ from the old one's stay.
        """
        groups = {name: getattr(self, name) for name in type(self).model_fields}
        for group in ("roles", "verify"):
            groups[group] = without_preset(group, groups[group], self.profile)
        return Config(**groups | {"profile": profile})

    def secret(self, group: Literal["llm", "encoder"]) -> str | None:
        """Return the API key of a group, from the setting or its file; None when there is none."""
        value = getattr(self, group).api_key
        if value is not None:
            return str(value.get_secret_value())
        path = self.llm.api_key_file if group == "llm" else None
        if path is None:
            return None
        try:
            return path.read_text(encoding="utf-8").strip()
        except (OSError, ValueError) as exc:  # ValueError: a NUL in the path, or no UTF-8
            reason = getattr(exc, "strerror", None) or exc
            raise ConfigError(f"The key file {path} (setting llm.api_key_file) cannot be read: {reason}.") from exc


_NOT_SETTINGS = {"DOXA_CONFIG", "DOXA_DATA"}


def data_folder() -> Path | None:
    """Return where benchmark data lies (`DOXA_DATA`), or None when that is unset or no folder."""
    folder = os.environ.get("DOXA_DATA")
    return Path(folder) if folder and Path(folder).is_dir() else None


def settings(
    model: type[BaseModel] = Config, keys: tuple[str, ...] = ()
) -> Iterator[tuple[str, tuple[str, ...], Any, str]]:
    """Yield `(environment name, path, default, description)` of every setting, in order."""
    for name, info in model.model_fields.items():
        path = (*keys, name)
        if isinstance(info.annotation, type) and issubclass(info.annotation, BaseModel):
            yield from settings(info.annotation, path)
        else:
            visible = path[:-1] if name == "name" and keys else path
            yield environment_name(".".join(visible)), path, info.default, info.description or ""


def environment_name(setting: str) -> str:
    """Return the name in the environment of a dotted setting (`name` of a group is the group itself)."""
    return "DOXA_" + setting.replace(".", "_").upper()


def _moved(old: str, new: str) -> str:
    return f"Setting {old} is now called {new}. Rename it; its values are the same."


def _read_file(path: Path, *, required: bool) -> dict[str, Any]:
    if not required and not path.is_file():
        return {}
    try:
        text = path.read_bytes()
    except (OSError, ValueError) as exc:  # ValueError: a NUL in the path
        raise ConfigError(f"The settings file {path} cannot be read: {getattr(exc, 'strerror', None) or exc}.") from exc
    try:
        return tomllib.loads(text.decode("utf-8"))
    except (ValueError, RecursionError) as exc:  # a number of thousands of digits, or thousands of levels
        raise ConfigError(f"The settings file {path} is no TOML: {exc}.") from exc


def _put(tree: dict[str, Any], keys: tuple[str, ...], value: str) -> None:
    for key in keys[:-1]:
        tree = tree.setdefault(key, {})
    tree[keys[-1]] = value
