"""The bill of materials in CycloneDX 1.6: every wheel with hash, licence, dependencies, and the libraries inside it."""

from __future__ import annotations

import hashlib
import json
import zipfile
from collections.abc import Iterable
from datetime import UTC, datetime
from pathlib import Path
from uuid import NAMESPACE_URL, uuid5

from cyclonedx.contrib.license.factories import LicenseFactory
from cyclonedx.model import HashAlgorithm, HashType, Property
from cyclonedx.model.bom import Bom
from cyclonedx.model.component import Component, ComponentType
from cyclonedx.output.json import JsonV1Dot6
from licences import metadata, stated_licence
from packageurl import PackageURL
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from wheels import Target, Wheel


def text(name: str, version: str, root: str, wheels: Iterable[Wheel], target: Target, epoch_s: int) -> str:
    """Return the bill of the package ``root`` and its closure, the same for the same wheels."""
    every = {wheel.name: wheel for wheel in wheels}
    components = {wheel.name: _component(wheel) for wheel in every.values()}
    whole = Component(name=name, version=version, type=ComponentType.APPLICATION, bom_ref=name)
    bom = Bom(components=components.values())
    bom.metadata.component = whole
    bom.metadata.timestamp = datetime.fromtimestamp(epoch_s, UTC)
    bom.serial_number = uuid5(NAMESPACE_URL, name + "".join(wheel.sha256 for wheel in every.values()))
    bom.register_dependency(whole, [components[root]])
    for wheel in every.values():
        bom.register_dependency(components[wheel.name], [components[one] for one in _asked(wheel, target) & set(every)])
    return json.dumps(json.loads(JsonV1Dot6(bom).output_as_string()), indent=2, sort_keys=True) + "\n"


def _component(wheel: Wheel) -> Component:
    stated = stated_licence(wheel)
    summary = str(metadata(wheel).get("Summary", ""))
    url = PackageURL("pypi", name=wheel.name, version=wheel.version)
    return Component(
        name=wheel.name,
        version=wheel.version,
        type=ComponentType.LIBRARY,
        bom_ref=str(url),
        purl=url,
        description=summary or None,
        hashes=[HashType(alg=HashAlgorithm.SHA_256, content=wheel.sha256)],
        licenses=[LicenseFactory().make_from_string(stated)] if stated else [],
        properties=[Property(name="airlock:wheel", value=wheel.path.name)],
        components=_carried(wheel),
    )


def _carried(wheel: Wheel) -> list[Component]:
    """Return the shared libraries of others that a wheel carries inside it, by file and hash."""
    with zipfile.ZipFile(wheel.path) as archive:
        names = sorted(name for name in archive.namelist() if ".libs/" in name and ".so" in name)
        return [
            Component(
                name=Path(name).name,
                type=ComponentType.FILE,
                bom_ref=f"{wheel.path.name}#{name}",
                hashes=[HashType(alg=HashAlgorithm.SHA_256, content=hashlib.sha256(archive.read(name)).hexdigest())],
            )
            for name in names
        ]


def _asked(wheel: Wheel, target: Target) -> set[str]:
    """Return the packages that a wheel's metadata asks for on the target, its own extras left aside."""
    asked = [Requirement(line) for line in metadata(wheel).get_all("Requires-Dist", [])]
    return {
        canonicalize_name(one.name)
        for one in asked
        if one.marker is None or one.marker.evaluate({**target.markers(), "extra": ""})
    }
