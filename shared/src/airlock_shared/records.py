"""``NamedTuple``, made in less time: a start of ``verify`` makes sixty, and ``typing`` compiles each annotation.

A type checker sees ``typing.NamedTuple`` itself. At run time the same class is made by ``collections.namedtuple``, which
needs the members' names and defaults alone; the annotations stay what they are in the source, texts.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from typing import NamedTuple as NamedTuple
else:
    from collections import namedtuple

    class _Record(type):
        def __new__(cls, name: str, _bases: tuple[type, ...], space: dict[str, Any]) -> type:
            members = tuple(space.get("__annotations__", ()))
            defaults = [space.pop(member) for member in members if member in space]
            made = namedtuple(name, members, defaults=defaults, module=space["__module__"])
            for attribute, value in space.items():
                if attribute not in ("__module__", "__qualname__"):
                    setattr(made, attribute, value)
            return made

    NamedTuple = type.__new__(_Record, "NamedTuple", (), {})
