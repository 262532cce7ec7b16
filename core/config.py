"""Settings: one frozen class, IMPRINT_* environment variables."""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import cached_property
from pathlib import Path
from typing import Annotated, Any, Literal, Self

from pydantic import (
    AnyUrl,
    Field,
    HttpUrl,
    IPvAnyNetwork,
    ModelWrapValidatorHandler,
    SecretStr,
    ValidationError,
    field_validator,
    model_validator,
)
from pydantic.fields import FieldInfo
from pydantic_settings import (
    BaseSettings,
    DotEnvSettingsSource,
    EnvSettingsSource,
    InitSettingsSource,
    PydanticBaseSettingsSource,
    SettingsConfigDict,
)

from core.errors import Misconfigured
from core.settings import brokers, faults, hosts, user_folder
from core.settings.faults import Files
from core.settings.limits import TenantLimits

Positive = Annotated[float, Field(gt=0)]
Count = Annotated[int, Field(ge=1)]


class _Environment(EnvSettingsSource):
    """Reads the environment; names the variable if a list or object is not JSON."""

    def decode_complex_value(self, field_name: str, field: FieldInfo, value: Any) -> Any:
        return _decode(super().decode_complex_value, field_name, field, value)


class _EnvFile(DotEnvSettingsSource):
    """Reads `.env` in the same way."""

    def decode_complex_value(self, field_name: str, field: FieldInfo, value: Any) -> Any:
        return _decode(super().decode_complex_value, field_name, field, value)


class Settings(BaseSettings):
    """All settings, with production values as defaults. An empty value means the default.

    Raises Misconfigured: one sentence for each wrong value, with the setting and its source.
    """

    model_config = SettingsConfigDict(env_prefix=faults.PREFIX, extra="ignore", frozen=True)

    home: Path = Field(Path(".imprint"), description="Folder for data, secrets, pid files and logs of the local stack.")

    database_url: SecretStr | None = Field(
        None, description="URL of your own PostgreSQL, with its owner; default: an embedded server is started."
    )
    database_app_url: SecretStr | None = Field(
        None, description="URL of the role `imprint_app`; default: derived from the owner's URL."
    )
    database_router_url: SecretStr | None = Field(
        None, description="URL of the role `imprint_router`; default: derived from the owner's URL."
    )
    replica_url: SecretStr | None = Field(
        None,
        description="URL of a standby of the database that answers searches; without a user: as the role "
        "`imprint_app` of the database.",
    )
    database_pool: Count = Field(8, description="Maximum open database connections of a process.")
    broker_url: SecretStr | None = Field(
        None, description="URL of your own Redis, Valkey or RabbitMQ; default: an embedded server is started."
    )

    url: str | None = Field(
        None, description="URL of the server that the commands use; default: the stack in this home."
    )
    api_key: SecretStr | None = Field(None, description="API key that the commands use; default: the key in this home.")

    http_host: str = Field("127.0.0.1", description="Address the HTTP API listens on.")
    http_port: int = Field(8070, ge=0, le=65535, description="Port of the HTTP API.")
    api_processes: Count | None = Field(
        None,
        description="Processes of the HTTP API, which accept from one port; default: one for each core, at most 4. "
        "Always 1 outside of Linux.",
    )
    http_connections: Count = Field(
        1000, description="Maximum open HTTP connections of an API process; further ones are answered with 503."
    )
    http_header_seconds: Positive = Field(10, description="Timeout for the headers of a request, in seconds.")
    http_body_seconds: Positive = Field(
        20, description="Timeout for the body of a request, in seconds; one more second for each 64 KiB received."
    )
    http_idle_seconds: Count = Field(
        15, description="Keep-alive timeout of idle connections, in seconds; a proxy's own must be shorter."
    )
    metrics_host: str = Field("127.0.0.1", description="Address of the `/metrics` listener.")
    metrics_port: int = Field(
        9070,
        ge=0,
        le=65535,
        description="Port of the `/metrics` listener; 0: none. If not set, `imprint up` uses a free port if this "
        "one is taken.",
    )

    batch_events: Count = Field(1000, description="Maximum events in one request.")
    request_bytes: Count = Field(
        8 * 1024 * 1024,
        description="Maximum size of a request to `POST /v1/events`, in bytes; for other routes see guarantees.md.",
    )
    event_bytes: Count = Field(256 * 1024, description="Maximum size of an event, in bytes.")
    http_statement_seconds: Positive = Field(
        30, description="Timeout of a database statement of an HTTP request, in seconds; then the answer is 503."
    )
    tenant_limits: TenantLimits = Field(
        TenantLimits(), description="Limits of every tenant that differ from the defaults, as JSON; see guarantees.md."
    )
    bus_tenant: str = Field("default", description="Tenant of bus messages without an API key.")

    poll_seconds: Positive = Field(
        0.5,
        description="Interval at which the router polls the log without a hint, in seconds; four times that while "
        "nothing is open.",
    )
    rules_poll_seconds: Positive = Field(0.5, description="Interval at which edited rules are loaded, in seconds.")
    max_hops: Count = Field(
        8, description="Maximum events in a causal chain; beyond it the chain is stopped with a dead letter."
    )

    lease_seconds: Positive = Field(
        30, description="Lifetime of a worker's lease on a dispatch without renewal, in seconds."
    )
    worker_niceness: int = Field(
        5,
        ge=0,
        le=19,
        description="By how much workers, and the processes of the embedded PostgreSQL that work for them, give way to "
        "requests, as in `nice`; 0: not at all. The router gives way by a third of it.",
    )
    resend_seconds: Positive = Field(
        10, description="Time after which a dispatch that no worker has started is sent again, in seconds."
    )
    sweep_seconds: Positive = Field(
        1,
        description="Interval at which the clock looks for due dispatches and schedules, in seconds; twice that while "
        "nothing is open.",
    )
    retry_base_seconds: Positive = Field(2, description="First delay of the exponential back-off, in seconds.")
    attempts: Count = Field(8, description="Attempts after which a dispatch is dead.")
    agent_seconds: dict[str, Positive] = Field(
        {},
        description=(
            "Timeouts of agents that differ from the defaults, in seconds, as JSON by agent or by `cpu`, "
            "`io`, `model`; see operations.md."
        ),
    )
    task_seconds: Count = Field(600, description="Maximum timeout of any agent, in seconds.")

    rules_per_tenant: Count = Field(1000, description="Maximum rules in force per tenant.")
    alarms_per_tenant: Count = Field(30, description="Maximum alarms (rules with counts) among them.")
    rule_cost: Count = Field(
        100_000, description="Maximum cost of a rule for one event, in comparisons; a rule above it is refused."
    )
    rules_cost: Count = Field(
        1_000_000, description="Maximum total cost of a tenant's rules for one event, in comparisons."
    )
    four_eyes: bool = Field(
        False,
        description="Forbid a key to approve actions of rules that the same key has saved or run. Leave it off if"
        " there is only one key: nothing could be approved.",
    )
    approval_seconds: Positive = Field(
        24 * 3600, description="Time after which a dispatch that waits for approval expires, in seconds."
    )
    catch_up: Literal["skip", "once", "all"] = Field(
        "once",
        description="Due times that fire late after all clocks were stopped: those of the last minute (`skip`), "
        "the latest one (`once`), or `all`.",
    )
    schedule_page: Count = Field(500, description="Users for which a schedule fires in one transaction.")
    webhook_hosts: list[str] = Field(
        [],
        description="Allowed hosts of webhooks and channels, as JSON: `hooks.example.com` (https), "
        "`*.example.com:8443`, `http://10.0.0.7:9000`, `mailto:*@example.com`. The tenant `default` "
        "may use all of them, other tenants those that their admins choose from them.",
    )
    webhook_secret: SecretStr | None = Field(
        None,
        description="Signing secret of webhooks of the tenant `default`, as defined by Standard Webhooks; several"
        " separated by spaces during a rotation. Other tenants have their own secrets.",
    )
    webhook_private_networks: list[IPvAnyNetwork] = Field(
        [], description="Private networks that webhooks and channels may call, as JSON; all others are refused."
    )
    webhook_give_up_seconds: Positive = Field(
        5 * 24 * 3600, description="Time after which an address that keeps failing is disabled, in seconds."
    )
    webhook_timeout_seconds: Positive = Field(10, description="Timeout of a webhook call, in seconds.")
    notify_channels: dict[str, AnyUrl] = Field(
        {},
        description='Channels of `notify` in the tenant `default` in addition to `log`, as JSON: `{"ops": '
        '"https://…", "ann": "mailto:ann@…"}`. Other tenants have their own channels.',
    )
    smtp_url: SecretStr | None = Field(
        None, description="Mail server: `smtp://user:password@host:587` (STARTTLS) or `smtps://…:465`."
    )
    smtp_from: str = Field("imprint@localhost", description="Sender of e-mail.")
    celery_queues: list[str] | dict[str, list[str]] = Field(
        [],
        description="Queues of other services that `celery` actions may send to, as JSON: a list for the tenant "
        '`default`, or lists by tenant, `{"acme": ["billing"]}`.',
    )
    celery_broker_url: SecretStr | None = Field(None, description="Broker of those queues; default: Imprint's broker.")

    llm_base_url: HttpUrl | None = Field(
        None, description="OpenAI-compatible endpoint of the language model; default: none, extraction by rules."
    )
    llm_api_key: SecretStr = Field(SecretStr(""), description="API key of that endpoint.")
    llm_model: str = Field("gpt-5-mini", description="Name of the language model.")
    llm_input_price: float = Field(0, ge=0, description="Price of a million input tokens, in your currency.")
    llm_output_price: float = Field(0, ge=0, description="Price of a million output tokens, in your currency.")
    llm_timeout_seconds: Positive = Field(
        120, description="Timeout of a model call, in seconds; one that reads 40 messages writes some 3,000 tokens."
    )
    llm_max_output_tokens: Count = Field(
        16_384, description="Maximum output tokens of a model call; most tasks have a lower limit, see models.md."
    )
    llm_temperature: float | None = Field(
        None, ge=0, le=2, description="Temperature of all model calls; default: by task, 0 to 0.3, see models.md."
    )
    llm_requests_per_minute: Positive | None = Field(
        None, description="Maximum model requests per minute of all workers together; default: unlimited."
    )
    llm_tokens_per_minute: Positive | None = Field(
        None, description="Maximum model tokens per minute of all workers together; default: unlimited."
    )
    llm_tokens_per_day: Count | None = Field(
        None, description="Maximum model tokens per tenant and day (UTC); work beyond it waits for the next day."
    )
    llm_cost_per_day: Positive | None = Field(
        None,
        description="Maximum model cost per tenant and day (UTC), by the prices above; work beyond it waits for "
        "the next day.",
    )
    extractor: str = Field(
        "auto",
        pattern=r"^[a-z0-9_.-]+$",
        description="Extractor: `offline` (rules), `llm`, `both`, or one from an installed package; `auto`: `both` if "
        "a model is configured.",
    )
    prompts: Literal["production", "eval"] = Field(
        "production", description="Set of prompts; `eval` keeps relative dates next to absolute ones."
    )

    embedding: str = Field(
        "local",
        pattern=r"^[a-z0-9_.-]+$",
        description="Embedding: `english` or `multilingual` on this machine (`local`: the default of the two), "
        "`openai`, or one from an installed package; `hash` is for tests.",
    )
    embedding_base_url: HttpUrl | None = Field(None, description="OpenAI-compatible endpoint for embeddings.")
    embedding_api_key: SecretStr = Field(SecretStr(""), description="API key of that endpoint.")
    embedding_model: str = Field("text-embedding-3-small", description="Embedding model at that endpoint.")
    embedding_dimension: Count = Field(384, description="Dimension of its vectors.")
    embedding_at_start: bool = Field(
        True,
        description="Load the local model when the API starts; if not, the first question waits half a second for it.",
    )
    embedding_idle_seconds: float = Field(
        300,
        ge=0,
        description="Time without a text after which a process frees the local model, in seconds; the next text waits "
        "half a second for it. 0: never.",
    )

    extract_messages: Count = Field(200, description="Maximum messages per extraction; the rest follows immediately.")
    unit_gap_seconds: Positive = Field(1800, description="Silence after which a new unit begins, in seconds.")
    session_idle_seconds: Positive = Field(
        24 * 3600, description="Silence after which an open session is closed, in seconds."
    )
    recent_messages: Count = Field(100, description="Newest messages cached per session.")
    summarize_messages: Count = Field(200, description="Number of messages from which a session is summarized.")
    summarize_tokens: Count = Field(8000, description="Number of tokens from which a session is summarized.")
    context_tokens: Count = Field(
        8000, description="Token limit of a context if the request has neither limit nor model."
    )
    document_bytes: Count = Field(4 * 1024 * 1024, description="Maximum size of a document, in bytes.")
    passage_tokens: Count = Field(300, description="Maximum tokens of a passage of a document.")
    merge_similarity: float = Field(
        0.95,
        gt=0,
        le=1,
        description="Minimum cosine at which statements are merged whose words share only their stems.",
    )
    near_similarity: float = Field(
        0.90,
        gt=0,
        le=1,
        description="Minimum cosine at which statements are merged whose words are the same, or contain those of "
        "the other.",
    )
    novel_similarity: float = Field(0.35, ge=0, le=1, description="Cosine below which two statements are unrelated.")
    judge_with_model: bool = Field(
        True,
        description="Ask the language model, if configured, about statements that words alone do not decide.",
    )
    secrets: Literal["redact", "refuse"] = Field(
        "redact", description="Treatment of statements with a secret or card number: mask it, or refuse the statement."
    )
    instructions: Literal["confirmed", "heard", "none"] = Field(
        "confirmed",
        description="Standing instructions that contexts include as system instructions: `confirmed` ones (others"
        " are quoted), all that were `heard`, or `none` except pinned memories.",
    )
    echo_seconds: float = Field(
        3600,
        ge=0,
        description="Time during which a served text counts as an echo if the assistant repeats it, in seconds.",
    )
    verdict_days: Positive = Field(90, description="Retention of verdicts on statements that were not stored, in days.")
    strength_formula: Literal["fading", "even_blend", "recent_blend", "weekly"] = Field(
        "fading", description="Formula by which the strength of memories decays; see fading.md."
    )
    fade_under: float = Field(
        0.05, gt=0, lt=1, description="Strength below which a memory has faded; the nightly sweep archives it."
    )
    memories_per_user: Count = Field(
        10_000, description="Maximum active memories of a user; the weakest of the excess are archived."
    )
    compress_days: Positive = Field(90, description="Days without use after which memories are compressed.")
    compress_uses: Count = Field(5, description="Number of uses from which a memory is never compressed.")
    drop_archived_days: float | None = Field(
        None, gt=0, description="Days after which archived memories that were compressed are deleted; default: never."
    )
    mirror_dir: Path | None = Field(
        None, description="Folder in which each user's memories are mirrored as Markdown; default: no mirror."
    )
    mirror_git: bool = Field(False, description="Treat that folder as a git repository and commit each sync.")
    secrets_key: SecretStr | None = Field(
        None,
        description="Encryption key of tenants' secrets: 32 bytes in base64; several separated by spaces during a"
        " rotation, the new one first. Default: a key generated in the home.",
    )
    receipt_key: SecretStr | None = Field(
        None,
        description="Ed25519 private key that signs receipts, 32 bytes in base64; default: a key generated in the"
        " home.",
    )
    announce_recalls: bool = Field(
        True, description="Announce the memories that searches return, as `memory.recalled` events."
    )
    log_level: Literal["debug", "info", "warning", "error"] = Field("info", description="Minimum level of log lines.")
    log_format: Literal["json", "text"] = Field("json", description="Format of log lines.")

    @field_validator("broker_url")
    @classmethod
    def _is_usable_broker(cls, url: SecretStr | None) -> SecretStr | None:
        if url is not None:
            return SecretStr(brokers.normalized(url.get_secret_value()))
        return url

    @field_validator("webhook_hosts")
    @classmethod
    def _are_hosts(cls, entries: list[str]) -> list[str]:
        for entry in entries:
            try:
                hosts.parse(entry)
            except ValueError as error:
                raise ValueError(f"{entry!r} {error}") from None
        return entries

    @classmethod
    def settings_customise_sources(
        cls,
        settings_cls: type[BaseSettings],
        init_settings: PydanticBaseSettingsSource,
        env_settings: PydanticBaseSettingsSource,  # noqa: ARG003 - pydantic's signature
        dotenv_settings: PydanticBaseSettingsSource,  # noqa: ARG003 - likewise
        file_secret_settings: PydanticBaseSettingsSource,
    ) -> tuple[PydanticBaseSettingsSource, ...]:
        try:
            file = _EnvFile(settings_cls, env_file=faults.ENV_FILE)
        except UnicodeDecodeError as error:
            raise Misconfigured(f"{faults.ENV_FILE} is not UTF-8 at byte {error.start}.") from None
        toml = InitSettingsSource(settings_cls, faults.toml())
        return init_settings, _Environment(settings_cls), file, toml, file_secret_settings

    @model_validator(mode="wrap")
    @classmethod
    def _fits(cls, given: dict[str, Any], handler: ModelWrapValidatorHandler[Self]) -> Self:
        try:
            return handler({name: value for name, value in given.items() if value != ""})
        except ValidationError as error:
            raise faults.of_validation(error, cls.model_fields, cls._files()) from None

    @classmethod
    def _files(cls) -> Files:
        return faults.PROJECT

    @cached_property
    def stack(self) -> dict[str, str]:
        """Addresses of the stack running in this home (`run/stack.json`); empty if none."""
        path = self.home / "run" / "stack.json"
        if not path.exists():
            return {}
        try:
            return {key: str(value) for key, value in json.loads(path.read_text()).items()}
        except (OSError, ValueError, AttributeError) as error:
            raise Misconfigured(f"{path} cannot be read: {error}. Stop `imprint up`, remove it, start again.") from None


class ClientSettings(Settings):
    """Settings of commands that call the service: the environment, then `imprint.toml` of the user's own folder."""

    @classmethod
    def settings_customise_sources(
        cls,
        settings_cls: type[BaseSettings],
        init_settings: PydanticBaseSettingsSource,
        env_settings: PydanticBaseSettingsSource,  # noqa: ARG003 - pydantic's signature
        dotenv_settings: PydanticBaseSettingsSource,  # noqa: ARG003 - likewise
        file_secret_settings: PydanticBaseSettingsSource,  # noqa: ARG003 - likewise
    ) -> tuple[PydanticBaseSettingsSource, ...]:
        toml = InitSettingsSource(settings_cls, faults.toml(cls._files().toml))
        return init_settings, _Environment(settings_cls), toml

    @model_validator(mode="before")
    @classmethod
    def _own_home(cls, given: dict[str, Any]) -> dict[str, Any]:
        return {**given, "home": user_folder.home(given.get("home"))}

    @classmethod
    def _files(cls) -> Files:
        return Files(None, str(user_folder.folder() / faults.TOML_FILE))


def unknown() -> list[str]:
    """Return a sentence for each name in the environment, `.env` and `imprint.toml` that is not a setting."""
    return faults.unknown(Settings.model_fields)


def _decode(decode: Callable[[str, FieldInfo, Any], Any], name: str, field: FieldInfo, value: Any) -> Any:
    if value == "":
        return value
    try:
        return decode(name, field, value)
    except ValueError:
        raise faults.of_json(name, Settings.model_fields, value) from None
