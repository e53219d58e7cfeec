"""config.toml: read, checked in full and turned into specs before anything loads."""
from __future__ import annotations

import difflib
import ipaddress
import re
import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from models.budget import parse_budget
from models.errors import SpeechError
from models.families import REGISTRY, family
from models.families.options import defaults_of, expectation, fitting
from models.families.protocol import ModelSpec, Option
from models.routes import AUTO, DEFAULT

DEVICE = Option(str, "auto", "auto, cpu, cuda or cuda:N")
PRECISION = Option(str, "auto", "number format of the network", choices=("auto", "float32", "float16", "bfloat16"))
MODEL_KEYS = {
    "id": Option(str, "", "name of the session"),
    "family": Option(str, "", "kind of model", choices=tuple(REGISTRY)),
    "path": Option(str, "", "folder or file with the weights"),
    "device": DEVICE,
    "precision": PRECISION,
    "lazy": Option(bool, False, "load at the first request"),
    "voice": Option(str, "", "default voice"),
    "queue_limit": Option(int, 64, "requests that may wait", low=1, high=10_000),
    "priority": Option(int, 0, "who is loaded first where memory is short: the highest", low=-1000, high=1000),
    "evict": Option(bool, None, "may be unloaded to make room for another"),
}
SERVER_KEYS = {
    "host": Option(str, "127.0.0.1", "address to listen on"),
    "port": Option(int, 6006, "port to listen on", low=0, high=65535),
    "default_model": Option(str, "", "model used when a request names none"),
    "text_limit": Option(int, 20_000, "characters a request may have", low=1, high=1_000_000),
    "deadline": Option(float, 3600.0, "seconds a request may take", low=1, high=86_400),
    "hang": Option(float, 300.0, "seconds without a sign of life after which a model is loaded anew", low=1, high=86_400),
    "watermark": Option(str, "off", "which sound carries an inaudible mark", choices=("off", "cloned", "all")),
    "trusted_proxies": Option(str, "127.0.0.1, ::1", "addresses or networks whose X-Forwarded-For is believed"),
}
LIMIT_KEYS = {  # 0: none
    "requests": Option(int, 120, "requests a user may make in a minute", low=0, high=1_000_000),
    "at_once": Option(int, 16, "requests of a user that may wait or be spoken", low=0, high=100_000),
    "characters": Option(int, 500_000, "characters a user may have spoken in an hour", low=0, high=1_000_000_000),
    "users_per_address": Option(int, 40, "how many users' worth one address may ask for", low=1, high=100_000),
}


@dataclass(frozen=True)
class ServerConfig:
    host: str
    port: int
    default_model: str
    text_limit: int
    deadline: float
    hang: float
    watermark: str
    trusted_proxies: str
    memory_budget: int | None  # bytes the sessions' process may hold on each device; None: a share of what is free


@dataclass(frozen=True)
class LimitsConfig:
    """What each user may ask for, as `LIMIT_KEYS` says; 0 for no limit."""

    requests: int
    at_once: int
    characters: int
    users_per_address: int


@dataclass(frozen=True)
class Config:
    """server: the edge's settings. models: one checked spec a session, in the file's order. routes: language tag or
    "default" -> the id of the model that speaks it when a request's model is "auto". limits_given: there is a
    [limits] table, so that they hold where no password is asked for, too."""

    server: ServerConfig
    models: tuple[ModelSpec, ...]
    routes: Mapping[str, str] = field(default_factory=dict)
    limits: LimitsConfig = field(default_factory=lambda: LimitsConfig(**defaults_of(LIMIT_KEYS)))
    limits_given: bool = False

    def only(self, model_id: str) -> Config:
        """The same configuration with one model alone. Raises SpeechError("model_unknown")."""
        chosen = tuple(spec for spec in self.models if spec.id == model_id)
        if not chosen:
            raise SpeechError("model_unknown", "model", name=model_id, choices=[spec.id for spec in self.models])
        return replace(self, models=chosen, server=replace(self.server, default_model=model_id), routes={})


def load_config(path: Path, overrides: Mapping[str, Any] | None = None) -> Config:
    """Read and check a configuration file; `overrides` replace keys of [server] (from the command line).

    Raises SpeechError with code config_file, config_unknown_key or config_invalid.
    """
    try:
        data = tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise SpeechError("config_file", path=path, reason=str(error)) from error
    _known(data, ("server", "models", "routes", "limits"), str(path))
    entries = data.get("models", [])
    if not isinstance(entries, list) or not entries or not all(isinstance(entry, dict) for entry in entries):
        raise SpeechError("config_invalid", where=path, name="models", expected="one or more [[models]] entries")
    models = tuple(_model(entry, path, number) for number, entry in enumerate(entries, 1))
    names = [spec.id for spec in models]
    if repeated := next((name for name in names if names.count(name) > 1), None):
        raise SpeechError("config_invalid", where=path, name=f"the id {repeated}", expected="used by one model only")
    server, limits = _table(data, "server", path), _table(data, "limits", path)
    server = {**server, **{k: v for k, v in (overrides or {}).items() if v is not None}}
    budget = _budget(server.pop("memory_budget", "auto"), f"{path} [server]")
    values = _values(server, SERVER_KEYS, f"{path} [server]") | {"memory_budget": budget}
    _proxies(values["trusted_proxies"], f"{path} [server]")
    values["default_model"] = values["default_model"] or names[0]
    if values["default_model"] not in names:
        raise SpeechError("config_invalid", where=f"{path} [server]", name="default_model",
                          expected=f"one of {', '.join(names)}")
    return Config(ServerConfig(**values), models, _routes(data.get("routes", {}), names, f"{path} [routes]"),
                  LimitsConfig(**_values(limits, LIMIT_KEYS, f"{path} [limits]")), "limits" in data)


def _proxies(given: str, where: str) -> None:
    try:
        for part in filter(None, map(str.strip, given.split(","))):
            ipaddress.ip_network(part)
    except ValueError as error:
        raise SpeechError("config_invalid", where=where, name="trusted_proxies", expected={
            "en": "addresses or networks such as 10.0.0.0/8, with commas between them",
            "zh": "以逗号分隔的地址或网段，例如 10.0.0.0/8"}) from error


def _table(data: Mapping[str, Any], name: str, path: Path) -> dict[str, Any]:
    found = data.get(name, {})
    if not isinstance(found, dict):
        raise SpeechError("config_invalid", where=path, name=name, expected=f"a [{name}] table")
    return found


def _budget(given: Any, where: str) -> int | None:
    try:
        return parse_budget(given)
    except ValueError as error:
        raise SpeechError("config_invalid", where=where, name="memory_budget", expected={
            "en": '"auto", an amount such as "4 GB", or a number of MB', "zh": '"auto"、"4 GB" 这样的大小或以 MB 计的数字',
        }) from error


def _routes(given: Any, names: list[str], where: str) -> dict[str, str]:
    """Every key a primary language tag or "default", every value the id of a model."""
    if not isinstance(given, dict):
        raise SpeechError("config_invalid", where=where, name="routes", expected="a [routes] table")
    for tag, model in given.items():
        if tag != DEFAULT and not re.fullmatch("[a-z]{2,3}", tag):
            raise SpeechError("config_invalid", where=where, name=tag,
                              expected='a language such as zh or en, or "default"')
        if model not in names:
            raise SpeechError("config_invalid", where=where, name=tag,
                              expected=f"the id of a model{nearest(str(model), names)}")
    return dict(given)


def _model(entry: dict, path: Path, number: int) -> ModelSpec:
    where = f"{path} [[models]] {entry.get('id') or number}"
    name = entry.get("family")
    if name not in REGISTRY:
        raise SpeechError("config_invalid", where=where, name="family",
                          expected=f"one of {', '.join(REGISTRY)}{nearest(str(name), REGISTRY)}")
    own = dict(entry)
    options = own.pop(name, {})
    _known(own, (*MODEL_KEYS, name), where)
    if not isinstance(options, dict):
        raise SpeechError("config_invalid", where=where, name=name, expected=f"options such as {name}.mem_saver = true")
    values = _values(own, MODEL_KEYS, where)
    if values["id"] in ("", AUTO):
        raise SpeechError("config_invalid", where=where, name="id",
                          expected=f'a name (other than "{AUTO}"), for example id = "kokoro"')
    if values["device"] not in ("auto", "cpu", "cuda") and not values["device"].removeprefix("cuda:").isdigit():
        raise SpeechError("config_invalid", where=where, name="device", expected="auto, cpu, cuda or cuda:N")
    values["path"] = (path.parent / Path(values["path"]).expanduser()).resolve() if values["path"] else None
    checked = _values(options, family(name).options, where, prefix=f"{name}.")
    return ModelSpec(**values, options=checked)


def _values(given: Mapping[str, Any], declared: Mapping[str, Option], where: str, prefix: str = "") -> dict[str, Any]:
    """Every declared key with its given or default value, checked."""
    _known(given, declared, where, prefix)
    return {
        name: _checked(given[name], option, f"{prefix}{name}", where) if name in given else option.default
        for name, option in declared.items()
    }


def _checked(value: Any, option: Option, name: str, where: str) -> Any:
    """The value as the option's type. Raises SpeechError("config_invalid") with what was expected."""
    try:
        return fitting(value, option)
    except ValueError as error:
        raise SpeechError("config_invalid", where=where, name=name, expected=expectation(option)) from error


def nearest(name: str, known: Iterable[str]) -> str:
    """', did you mean X?' for a near miss, else the list of what there is."""
    known = list(known)
    close = difflib.get_close_matches(name, known, 1, 0.5)
    return f" (did you mean {close[0]}?)" if close else f" (there are {', '.join(known)})"


def _known(given: Mapping[str, Any], known: Iterable[str], where: str, prefix: str = "") -> None:
    known = list(known)
    for name in given:
        if name not in known:
            raise SpeechError("config_unknown_key", where=where, name=f"{prefix}{name}", nearest=nearest(name, known))
