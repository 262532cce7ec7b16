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
from core.settings import faults, hosts
from core.settings.limits import TenantLimits

Positive = Annotated[float, Field(gt=0)]
Count = Annotated[int, Field(ge=1)]


class _Environment(EnvSettingsSource):
    """Reads the environment; names the variable if a list or object is not JSON."""

    def decode_complex_value(self, field_name: str, field: FieldInfo, value: Any) -> Any:
        return _decode(super().decode_complex_value, field_name, field, value)


class _EnvFile(DotEnvSettingsSource):
    """Reads `.env`, likewise."""

    def decode_complex_value(self, field_name: str, field: FieldInfo, value: Any) -> Any:
        return _decode(super().decode_complex_value, field_name, field, value)


class Settings(BaseSettings):
    """All settings, with production values as defaults. An empty value means the default.

    Raises Misconfigured: a value is wrong, with a sentence for each that names the setting and its source.
    """

    model_config = SettingsConfigDict(env_prefix=faults.PREFIX, extra="ignore", frozen=True)

    home: Path = Field(Path(".imprint"), description="Folder for the embedded servers' data, secrets, pids and logs.")

    database_url: SecretStr | None = Field(
        None, description="PostgreSQL of your own (the owner's URL); without it an embedded one is started."
    )
    database_app_url: SecretStr | None = Field(
        None, description="URL of the role `imprint_app`; derived from the owner's URL if not given."
    )
    database_router_url: SecretStr | None = Field(
        None, description="URL of the role `imprint_router`; derived from the owner's URL if not given."
    )
    database_pool: Count = Field(8, description="Connections a process keeps open at the most.")
    broker_url: SecretStr | None = Field(None, description="Redis or RabbitMQ of your own; without it an embedded one.")

    url: str | None = Field(None, description="Server that the commands talk to; else the stack on this home.")
    api_key: SecretStr | None = Field(None, description="Key that the commands use; else the one of this home.")

    http_host: str = Field("127.0.0.1", description="Address the HTTP API listens on.")
    http_port: int = Field(8070, ge=0, le=65535, description="Port of the HTTP API.")
    http_connections: Count = Field(1000, description="Connections open at the same time; above it: 503.")
    http_header_seconds: Positive = Field(10, description="Longest wait for the headers of a request, seconds.")
    http_body_seconds: Positive = Field(
        20, description="Longest wait for the body of a request, seconds; one more for each 64 KiB that came."
    )
    http_idle_seconds: Count = Field(
        15, description="How long a connection stays open without a request, seconds; keep a proxy's wait below it."
    )
    metrics_host: str = Field("127.0.0.1", description="Address of the `/metrics` listener.")
    metrics_port: int = Field(
        9070,
        ge=0,
        le=65535,
        description="Port of the `/metrics` listener; 0: none. Not set, `imprint up` takes a free one if it is taken.",
    )

    batch_events: Count = Field(1000, description="Events accepted in one request at the most.")
    request_bytes: Count = Field(
        32 * 1024 * 1024, description="Bytes of one request to `POST /v1/events` at the most; others: see limits.md."
    )
    event_bytes: Count = Field(256 * 1024, description="Bytes of one event at the most.")
    http_statement_seconds: Positive = Field(
        30, description="Longest time of one database statement of an HTTP request, seconds; then it answers 503."
    )
    tenant_limits: TenantLimits = Field(
        TenantLimits(), description="Limits of each tenant where they differ from the defaults, as JSON; see limits.md."
    )
    bus_tenant: str = Field("default", description="Tenant of bus messages that carry no key.")

    poll_seconds: Positive = Field(0.5, description="How often the log is looked at when no doorbell rings, seconds.")
    rules_poll_seconds: Positive = Field(0.5, description="How often a router looks for edited rules, seconds.")
    max_hops: Count = Field(8, description="Events in one chain before it is stopped with a dead letter.")

    lease_seconds: Positive = Field(30, description="How long a worker owns a dispatch without renewing, seconds.")
    resend_seconds: Positive = Field(
        10, description="How long a sent dispatch may wait before it is sent again, seconds."
    )
    sweep_seconds: Positive = Field(1, description="How often the clock looks for what is owed, seconds.")
    retry_base_seconds: Positive = Field(2, description="First pause of the exponential back-off, seconds.")
    attempts: Count = Field(8, description="Attempts before a dispatch is dead.")
    agent_seconds: dict[str, Positive] = Field(
        {},
        description=(
            "Longest attempt of an agent where it differs from the defaults, seconds, as JSON by agent or by `cpu`, "
            "`io`, `model`; see fairness.md."
        ),
    )
    task_seconds: Count = Field(600, description="Longest attempt of any agent, seconds.")

    rules_per_tenant: Count = Field(1000, description="Rules a tenant may have in force.")
    rule_cost: Count = Field(
        100_000, description="Bound of one rule's cost for one event, in comparisons; a rule above it is refused."
    )
    rules_cost: Count = Field(1_000_000, description="Bound of the cost of all rules of a tenant together, as above.")
    four_eyes: bool = Field(
        False,
        description="Whether a key may not approve what a rule asks for that the key itself has saved or run. Leave it "
        "off where there is one key: nothing could be approved.",
    )
    approval_seconds: Positive = Field(
        24 * 3600, description="How long a held dispatch waits for someone's approval, seconds."
    )
    catch_up: Literal["skip", "once", "all"] = Field(
        "once", description="What becomes of the due times that a stopped clock has missed."
    )
    schedule_page: Count = Field(500, description="Users that a schedule reaches in one transaction.")
    webhook_hosts: list[str] = Field(
        [],
        description="Where webhooks and channels of any tenant may lead, as JSON: `hooks.example.com` (https), "
        "`*.example.com:8443`, `http://10.0.0.7:9000`, `mailto:*@example.com`. Tenant `default` may use all of them, "
        "others what their admin chooses of them.",
    )
    webhook_secret: SecretStr | None = Field(
        None,
        description="Signs webhooks of the tenant `default`, as Standard Webhooks describes it; several with spaces "
        "between while one rotates. Other tenants have secrets of their own.",
    )
    webhook_private_networks: list[IPvAnyNetwork] = Field(
        [], description="Private networks that webhooks and channels may reach, as JSON; all others are refused."
    )
    webhook_give_up_seconds: Positive = Field(
        5 * 24 * 3600, description="How long an address may fail before it is disabled, seconds."
    )
    webhook_timeout_seconds: Positive = Field(10, description="Longest wait for one webhook, seconds.")
    notify_channels: dict[str, AnyUrl] = Field(
        {},
        description="Channels of `notify` in the tenant `default` besides `log`, as JSON: "
        '`{"ops": "https://…", "ann": "mailto:ann@…"}`. Other tenants have channels of their own.',
    )
    smtp_url: SecretStr | None = Field(
        None, description="Server for e-mail: `smtp://user:password@host:587` (STARTTLS) or `smtps://…:465`."
    )
    smtp_from: str = Field("imprint@localhost", description="Who e-mail comes from.")
    celery_queues: list[str] | dict[str, list[str]] = Field(
        [],
        description="Queues of other services that `celery` actions may send to, as JSON: a list for the tenant "
        '`default`, or by tenant, `{"acme": ["billing"]}`.',
    )
    celery_broker_url: SecretStr | None = Field(
        None, description="Broker of those queues; without it the one that Imprint uses."
    )

    llm_base_url: HttpUrl | None = Field(
        None, description="An OpenAI-compatible endpoint for extraction; none: offline."
    )
    llm_api_key: SecretStr = Field(SecretStr(""), description="Key of that endpoint.")
    llm_model: str = Field("gpt-5-mini", description="Model asked for structured extraction.")
    llm_input_price: float = Field(0, ge=0, description="Price of a million tokens asked, in your currency.")
    llm_output_price: float = Field(0, ge=0, description="Price of a million tokens answered, in your currency.")
    llm_timeout_seconds: Positive = Field(60, description="Longest wait for one model call, seconds.")
    llm_requests_per_minute: Positive | None = Field(
        None, description="Requests a minute that all workers together may put to the model; none: as many as they can."
    )
    llm_tokens_per_minute: Positive | None = Field(None, description="Tokens a minute, likewise.")
    llm_tokens_per_day: Count | None = Field(
        None, description="Tokens a day (UTC) that a tenant may spend on models; work beyond it waits for the next day."
    )
    llm_cost_per_day: Positive | None = Field(None, description="Money a day, likewise, by the prices above.")
    extractor: str = Field(
        "auto",
        pattern=r"^[a-z0-9_.-]+$",
        description="What extracts: `offline` (rules), `llm`, or what a package brings; `auto`: `llm` with a model.",
    )
    prompts: Literal["production", "eval"] = Field(
        "production", description="Which set of prompts; `eval` keeps relative dates beside absolute ones."
    )

    embedding: str = Field(
        "local",
        pattern=r"^[a-z0-9_.-]+$",
        description="Who makes vectors: `local`, `openai`, or what a package brings; `hash` is for tests.",
    )
    embedding_base_url: HttpUrl | None = Field(None, description="OpenAI-compatible endpoint for embeddings.")
    embedding_api_key: SecretStr = Field(SecretStr(""), description="Key of that endpoint.")
    embedding_model: str = Field("text-embedding-3-small", description="Model asked there.")
    embedding_dimension: Count = Field(384, description="Length of the vectors asked there.")

    extract_messages: Count = Field(
        200, description="Messages one extraction reads at the most; the rest follows at once."
    )
    unit_gap_seconds: Positive = Field(1800, description="Silence after which a new unit of talk begins, seconds.")
    session_idle_seconds: Positive = Field(
        24 * 3600, description="Silence after which a session that nobody ended is ended, seconds."
    )
    recent_messages: Count = Field(100, description="Newest messages of a session that are cached.")
    summarize_messages: Count = Field(200, description="Messages from which a session is summarised.")
    summarize_tokens: Count = Field(8000, description="Tokens from which a session is summarised.")
    context_tokens: Count = Field(8000, description="Tokens of a context for which neither limit nor model is given.")
    document_bytes: Count = Field(4 * 1024 * 1024, description="Bytes of one document at the most.")
    passage_tokens: Count = Field(300, description="Tokens of one passage of a document at the most.")
    merge_similarity: float = Field(
        0.95, gt=0, le=1, description="Cosine from which words that share their beginning may count as the same."
    )
    near_similarity: float = Field(
        0.90,
        gt=0,
        le=1,
        description="Cosine from which statements in the same words, or with more of them, are merged.",
    )
    novel_similarity: float = Field(
        0.35, ge=0, le=1, description="Cosine below which two statements have nothing to do with each other."
    )
    judge_with_model: bool = Field(
        True,
        description="Whether a model, where one is configured, is asked about what words leave unclear.",
    )
    secrets: Literal["redact", "refuse"] = Field(
        "redact", description="What becomes of a statement that holds a secret or a card number."
    )
    instructions: Literal["confirmed", "heard", "none"] = Field(
        "confirmed",
        description="Standing instructions that contexts give with the system's voice: `confirmed` ones (others are "
        "quoted), all that were `heard`, or `none` but pinned memories.",
    )
    echo_seconds: float = Field(
        3600,
        ge=0,
        description="How long a text that was handed out is an echo if the assistant repeats it, seconds.",
    )
    verdict_days: Positive = Field(90, description="How long verdicts that kept nothing are remembered, days.")
    strength_formula: Literal["fading", "even_blend", "recent_blend", "weekly"] = Field(
        "fading", description="By which formula the strength of memories falls; see memory.md."
    )
    fade_under: float = Field(
        0.05, gt=0, lt=1, description="Strength below which a memory has faded, and the nightly sweep archives it."
    )
    memories_per_user: Count = Field(10_000, description="Active memories of a user above which the weakest go.")
    compress_days: Positive = Field(90, description="Days without use after which memories are compressed.")
    compress_uses: Count = Field(5, description="Uses from which a memory is never compressed.")
    drop_archived_days: float | None = Field(
        None, gt=0, description="Days after which archived memories that were compressed are dropped; none: never."
    )
    mirror_dir: Path | None = Field(
        None, description="Folder where each user's memories are mirrored as Markdown; none: no mirror."
    )
    mirror_git: bool = Field(False, description="Whether that folder is a git repository that each sync commits to.")
    secrets_key: SecretStr | None = Field(
        None,
        description="Encrypts the secrets of tenants: 32 bytes in base64; several with spaces between while one "
        "rotates, the new one first. Else one is made in the home.",
    )
    receipt_key: SecretStr | None = Field(
        None, description="Ed25519 private key, 32 bytes in base64, that signs receipts; else one is made in the home."
    )
    announce_recalls: bool = Field(
        True, description="Whether searches announce by `memory.recalled` which memories they handed out."
    )
    log_level: Literal["debug", "info", "warning", "error"] = Field("info", description="Least severe line to log.")
    log_format: Literal["json", "text"] = Field("json", description="How a line of the log looks.")

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
            raise faults.of_validation(error, cls.model_fields) from None

    @cached_property
    def stack(self) -> dict[str, str]:
        """Addresses of the stack running on this home (`run/stack.json`), or nothing."""
        path = self.home / "run" / "stack.json"
        if not path.exists():
            return {}
        try:
            return {key: str(value) for key, value in json.loads(path.read_text()).items()}
        except (OSError, ValueError, AttributeError) as error:
            raise Misconfigured(f"{path} cannot be read: {error}. Stop `imprint up`, remove it, start again.") from None


def unknown() -> list[str]:
    """Return a sentence for each name in the environment, `.env` and `imprint.toml` that is no setting."""
    return faults.unknown(Settings.model_fields)


def _decode(decode: Callable[[str, FieldInfo, Any], Any], name: str, field: FieldInfo, value: Any) -> Any:
    if value == "":
        return value
    try:
        return decode(name, field, value)
    except ValueError:
        raise faults.of_json(name, Settings.model_fields, value) from None
