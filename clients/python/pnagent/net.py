# SPDX-License-Identifier: Apache-2.0
"""The net that an engine runs: what is published by number, and the PNML that names the numbers."""
from __future__ import annotations

import hashlib
import os
import xml.etree.ElementTree as ElementTree
from typing import Union
from xml.sax.saxutils import escape, quoteattr

_TYPE = "http://www.pnml.org/version-2009/grammar/ptnet"
_SPACE = "http://www.pnml.org/version-2009/grammar/pnml"


class Net:
    """A net of places, transitions and arcs. Rows are in the order in which they are added."""

    def __init__(self, id: str, name: str = "") -> None:
        self.id = id
        self.places: dict[str, int] = {}
        self.transitions: dict[str, int] = {}
        self.inputs: dict[str, dict[str, int]] = {}
        self.outputs: dict[str, dict[str, int]] = {}
        self._elements: list[str] = []
        self._name = name
        self._text: Union[bytes, None] = None

    @classmethod
    def read(cls, path: Union[str, "os.PathLike[str]"]) -> "Net":
        """Reads the first net of a PNML file, which is published byte for byte."""
        with open(path, "rb") as file:
            return cls.parse(file.read())

    @classmethod
    def parse(cls, pnml: bytes) -> "Net":
        """Reads the first net of a PNML text. Reference nodes are not supported."""
        root = ElementTree.fromstring(pnml).find("{*}net")
        if root is None:
            raise ValueError("no <net> in the PNML")
        net = cls(root.get("id", ""))
        arcs = []
        for element in root.iter():
            kind = element.tag.rpartition("}")[2]
            if kind == "place":
                net.place(element.get("id", ""))
            elif kind == "transition":
                net.transition(element.get("id", ""))
            elif kind == "arc":
                arcs.append((element.get("source", ""), element.get("target", ""), int(element.findtext("{*}inscription/{*}text", "1"))))
            elif kind.startswith("reference"):
                raise ValueError("reference nodes are not supported; write the net without pages")
        for source, target, weight in arcs:
            net.arc(source, target, weight)
        net._text = pnml
        return net

    def place(self, id: str, name: str = "") -> "Net":
        """Adds a place."""
        self._add(self.places, "place", id, name)
        return self

    def transition(self, id: str, name: str = "") -> "Net":
        """Adds a transition."""
        self._add(self.transitions, "transition", id, name)
        self.inputs[id], self.outputs[id] = {}, {}
        return self

    def arc(self, source: str, target: str, weight: int = 1) -> "Net":
        """Adds an arc between a place and a transition. The transition takes or puts weight tokens."""
        if source in self.places and target in self.transitions:
            row, place = self.inputs[target], source
        elif source in self.transitions and target in self.places:
            row, place = self.outputs[source], target
        else:
            raise ValueError(f"an arc from {source!r} to {target!r}; expected a place and a transition")
        row[place] = row.get(place, 0) + weight
        text = f'<arc id="a{len(self._elements)}" source={quoteattr(source)} target={quoteattr(target)}>'
        self._append(text + f"<inscription><text>{weight}</text></inscription></arc>")
        return self

    def _add(self, rows: dict[str, int], kind: str, id: str, name: str) -> None:
        if not id or id in self.places or id in self.transitions:
            raise ValueError(f"the id {id!r} of a {kind} is empty or taken")
        rows[id] = len(rows)
        self._append(f"<{kind} id={quoteattr(id)}>{_named(name)}</{kind}>")

    def _append(self, element: str) -> None:
        if self._text is not None:
            raise ValueError("the net is published already, or was read from a file")
        self._elements.append(element)

    @property
    def pnml(self) -> bytes:
        """The definition, which does not change any more."""
        if self._text is None:
            body = "\n".join(self._elements)
            self._text = (f'<pnml xmlns="{_SPACE}"><net id={quoteattr(self.id)} type="{_TYPE}">{_named(self._name)}<page id="page">\n'
                          f"{body}\n</page></net></pnml>\n").encode()
        return self._text

    @property
    def digest(self) -> str:
        """The digest by which messages name the definition."""
        return hashlib.sha256(self.pnml).hexdigest()[:32]


def _named(name: str) -> str:
    return f"<name><text>{escape(name)}</text></name>" if name else ""
