"""Values to JSON or TOML data and back, by their type annotations; foreign data is checked.

One mechanism for journal, socket, settings and the data files of the games, so that every wrong
value is reported in the same way: where it stands, what was expected, what was found.
"""

import tomllib
from collections.abc import Mapping
from dataclasses import MISSING, fields, is_dataclass
from difflib import get_close_matches
from functools import cache
from pathlib import Path
from types import NoneType, UnionType
from typing import Any, Literal, TypeVar, Union, get_args, get_origin, get_type_hints

from .errors import InvalidValue

T = TypeVar("T")


def encode(value: Any) -> Any:
    """Dataclasses, tuples and mappings as plain JSON data.

    >>> from rules.verdict import Violation
    >>> encode(Violation("cell_taken", "IN-2", ("h8",)))
    {'code': 'cell_taken', 'rule': 'IN-2', 'sites': ['h8'], 'fields': {}}
    """
    if is_dataclass(value) and not isinstance(value, type):
        return {f.name: encode(getattr(value, f.name)) for f in fields(value)}
    if isinstance(value, tuple | list):
        return [encode(v) for v in value]
    if isinstance(value, Mapping):
        return {str(k): encode(v) for k, v in value.items()}
    return value


def decode(kind: type[T], data: Any, where: str = "") -> T:
    """The value of type ``kind`` that ``data`` stands for, or ``InvalidValue``.

    >>> decode(tuple[int, ...], [1, "2"], "sizes")
    Traceback (most recent call last):
        ...
    rules.errors.InvalidValue: sizes[1]: expected a whole number, got '2'
    """
    return _decode(kind, data, where)  # type: ignore[no-any-return]


def encode_tagged(value: Any) -> dict[str, Any]:
    """A member of a union of dataclasses, with its class as ``kind``."""
    return {"kind": tag(type(value)), **encode(value)}


def decode_tagged(union: Any, data: Any, where: str = "") -> Any:
    """The counterpart of ``encode_tagged``: chooses the class by ``kind``."""
    kinds = {tag(k): k for k in get_args(union)}
    if not isinstance(data, dict):
        raise _wrong(where, "a table with a kind", data)
    rest = dict(data)
    kind = rest.pop("kind", None)
    if not isinstance(kind, str) or kind not in kinds:
        raise _wrong(_join(where, "kind"), f"one of {', '.join(sorted(kinds))}", kind)
    return _decode(kinds[kind], rest, where)


def load_toml(kind: type[T], path: Path) -> T:
    """A TOML file as a checked value; ``InvalidValue`` names file, place, expected and got."""
    try:
        data = tomllib.loads(path.read_text("utf-8"))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise InvalidValue(f"{path}: {error}") from error
    return decode(kind, data, f"{path}:")


def tag(kind: type) -> str:
    """The name of a class in data: ``MovePlayed`` is ``move_played``."""
    return "".join(f"_{c.lower()}" if c.isupper() else c for c in kind.__name__).lstrip("_")


def _join(where: str, name: str) -> str:
    if not where:
        return name
    return f"{where} {name}" if where.endswith(":") else f"{where}.{name}"


def _wrong(where: str, expected: str, got: Any) -> InvalidValue:
    shown = repr(got)
    shown = shown if len(shown) <= 80 else shown[:77] + "..."
    return InvalidValue(f"{where or 'value'}: expected {expected}, got {shown}")


_SCALARS: dict[type, str] = {
    bool: "true or false",
    int: "a whole number",
    float: "a number",
    str: "a text",
}


@cache
def _hints(kind: type) -> dict[str, Any]:
    return get_type_hints(kind)


def _decode(kind: Any, data: Any, where: str) -> Any:
    kind = getattr(kind, "__supertype__", kind)  # NewType
    origin, args = get_origin(kind), get_args(kind)
    if kind in _SCALARS:
        if kind is float and type(data) is int:
            return float(data)
        if type(data) is not kind:
            raise _wrong(where, _SCALARS[kind], data)
        return data
    if kind is Any:
        return data
    if kind is NoneType:
        if data is not None:
            raise _wrong(where, "nothing", data)
        return None
    if origin is Literal:
        if data not in args:
            raise _wrong(where, f"one of {', '.join(map(str, args))}", data)
        return data
    if origin in (Union, UnionType):
        return _decode_union(args, data, where)
    if origin is tuple:
        return _decode_tuple(args, data, where)
    if origin in (Mapping, dict):
        if not isinstance(data, dict):
            raise _wrong(where, "a table", data)
        return {
            _decode(args[0], k, _join(where, k)): _decode(args[1], v, _join(where, k))
            for k, v in data.items()
        }
    if is_dataclass(kind) and isinstance(kind, type):
        return _decode_dataclass(kind, data, where)
    raise TypeError(f"{kind!r} has no form in data")


def _decode_union(args: tuple[Any, ...], data: Any, where: str) -> Any:
    if data is None and NoneType in args:
        return None
    failures = []
    for kind in args:
        if kind is NoneType:
            continue
        try:
            return _decode(kind, data, where)
        except InvalidValue as error:
            failures.append(error)
    if len(failures) == 1:
        raise failures[0]
    expected = " or ".join(
        str(f).partition(": expected ")[2].partition(", got ")[0] for f in failures
    )
    raise _wrong(where, expected, data)


def _decode_tuple(args: tuple[Any, ...], data: Any, where: str) -> Any:
    if not isinstance(data, list | tuple):
        raise _wrong(where, "a list", data)
    if args[-1] is not Ellipsis and len(data) != len(args):
        raise _wrong(where, f"{len(args)} values", data)
    kinds = [args[0]] * len(data) if args[-1] is Ellipsis else args
    return tuple(
        _decode(k, v, f"{where}[{i}]") for i, (k, v) in enumerate(zip(kinds, data, strict=True))
    )


def _decode_dataclass(kind: type, data: Any, where: str) -> Any:
    if not isinstance(data, dict):
        raise _wrong(where, "a table", data)
    hints = _hints(kind)
    known = {f.name: f for f in fields(kind)}
    for name in data:
        if name not in known:
            near = get_close_matches(name, known, 1)
            hint = f"; did you mean {near[0]}?" if near else ""
            raise _wrong(where, f"only {', '.join(known)}", name + hint)
    for name, f in known.items():
        if name not in data and f.default is MISSING and f.default_factory is MISSING:
            raise _wrong(where, f"a value for {name}", "nothing")
    return kind(**{n: _decode(hints[n], v, _join(where, n)) for n, v in data.items()})
