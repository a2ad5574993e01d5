"""The settings: every field, its default, its limits and what it means."""

from typing import Annotated, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, PrivateAttr
from pydantic_settings import BaseSettings, NoDecode, PydanticBaseSettingsSource, SettingsConfigDict

SCHEMA_VERSION: Literal[1] = 1
ENV_PREFIX = "CODEFORGE_"
AUTO = "auto"


def _auto(value: object) -> object:
    """TOML has no null: "auto" stands for "choose by yourself"."""
    return None if value == AUTO else value


def _comma_separated(value: object) -> object:
    """One line of text (environment, `config set`) as a list."""
    if isinstance(value, str):
        return [part.strip() for part in value.split(",") if part.strip()]
    return value


_Auto = BeforeValidator(_auto)
_CommaSeparated = BeforeValidator(_comma_separated)


class _Section(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, use_attribute_docstrings=True)


class SandboxSettings(_Section):
    """How test commands are caged."""

    network: bool = False
    """Whether commands may use the network."""

    memory_mb: int = Field(default=4096, ge=64)
    """Most memory of a command, in MiB."""

    require: bool = False
    """Refuse to run commands when the platform offers no isolation."""


class ModelsSettings(_Section):
    """Where models come from."""

    hub: bool = True
    """Whether models may be fetched from the hub; package registries are the other source."""


class LiteLLMSettings(_Section):
    """Hosted models and OpenAI-compatible servers."""

    api_base: Annotated[str | None, _Auto] = None
    """The server's address, such as http://localhost:8000/v1; "auto" is the provider's own."""

    timeout_s: float = Field(default=300.0, gt=0)
    """Longest wait for one answer, in seconds."""

    max_retries: int = Field(default=4, ge=0)
    """Tries again after an error worth retrying."""


class Settings(BaseSettings):
    """The settings in force. Made by `codeforge.config.load_settings`."""

    model_config = SettingsConfigDict(
        extra="forbid",
        frozen=True,
        env_prefix=ENV_PREFIX,
        env_nested_delimiter="_",
        env_nested_max_split=1,
        env_ignore_empty=True,
        use_attribute_docstrings=True,
    )

    schema_version: Literal[1] = SCHEMA_VERSION
    """The version of the settings' format."""

    model: Annotated[str | None, _Auto] = None
    """The model; "auto" is the largest local one that fits this machine."""

    candidates: Annotated[int | None, _Auto] = Field(default=None, ge=1, le=1000)
    """Most model answers in all rounds together; "auto" goes by the model's size."""

    rounds: int = Field(default=2, ge=1, le=100)
    """Rounds; each after the first is told why the candidates before it failed."""

    budget_tokens: Annotated[int | None, _Auto] = Field(default=None, ge=256)
    """Most tokens of a prompt; "auto" goes by the model."""

    mutations: int = Field(default=200, ge=0, le=10000)
    """Most deterministic one-line changes tried before a model is asked; 0 turns them off."""

    mutation_seconds: float = Field(default=60.0, ge=0)
    """Longest time for trying them."""

    timeout_s: float = Field(default=120.0, gt=0)
    """Longest run of the test command, in seconds."""

    test_command: Annotated[str | None, _Auto] = Field(default=None, min_length=1)
    """The command that checks the repository; "auto" finds one."""

    scope: Annotated[list[str], NoDecode, _CommaSeparated] = Field(default_factory=list)
    """Globs of the files that may be edited; none is no limit."""

    temperature: Annotated[float | None, _Auto] = Field(default=None, ge=0, le=2)
    """Sampling temperature; "auto" goes by the model."""

    seed: int = Field(default=0, ge=0)
    """The seed of the first candidate; the others follow from it."""

    threads: Annotated[int | None, _Auto] = Field(default=None, ge=1)
    """Threads of a local model; "auto" goes by the cores that are free."""

    sandbox: SandboxSettings = SandboxSettings()
    """How test commands are caged."""

    models: ModelsSettings = ModelsSettings()
    """Where models come from."""

    litellm: LiteLLMSettings = LiteLLMSettings()
    """Hosted models and OpenAI-compatible servers."""

    _notices: tuple[str, ...] = PrivateAttr(default=())

    @classmethod
    def settings_customise_sources(
        cls,
        settings_cls: type[BaseSettings],
        init_settings: PydanticBaseSettingsSource,
        env_settings: PydanticBaseSettingsSource,
        dotenv_settings: PydanticBaseSettingsSource,
        file_secret_settings: PydanticBaseSettingsSource,
    ) -> tuple[PydanticBaseSettingsSource, ...]:
        """Only what is handed in: `load_settings` reads the sources, because it must tell them apart."""
        del settings_cls, env_settings, dotenv_settings, file_secret_settings
        return (init_settings,)

    @property
    def settings_notices(self) -> tuple[str, ...]:
        """What a person should know about where the settings came from ("ignored until you trust …")."""
        return self._notices
