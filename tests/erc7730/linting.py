"""Runs the registry's own linter and converters over folders of descriptors; it is run by the interpreter that has them.

    python linting.py ABIS FOLDER ...

ABIS is a JSON file: the ABI of each contract, by its address in lower case. The linter would ask Sourcify and Etherscan for
it; here it gets this one, and no socket may be connected and no name looked up. stdout is one JSON list with a
list for each folder: what was said, as ``{"file", "by", "level", "title", "message"}``.

The second version of the linter holds the paths of a contract's fields against the ABI, but has nothing to hold those of a
typed message against. So each message is also put into the standard's first version, with the struct definitions that its
key says, which the first version of the linter does hold the paths against.
"""

import contextlib
import json
import sys
import tempfile
from pathlib import Path
from typing import Any

FORBIDDEN = ("socket.connect", "socket.getaddrinfo", "socket.gethostbyname", "socket.sendto")


def _refuse_network(event: str, _: object) -> None:
    if event in FORBIDDEN:
        raise RuntimeError(f"the linter wanted the network: {event}")


def _give_abis(abis: dict[str, Any]) -> None:
    from erc7730.common import client  # type: ignore[import-not-found]
    from erc7730.model.abi import ABI  # type: ignore[import-not-found]
    from pydantic import TypeAdapter

    def abis_of(_: int, address: str) -> Any:
        return TypeAdapter(list[ABI]).validate_python(abis[address.lower()], strict=False)

    client.get_contract_abis = abis_of
    client.get_contract_explorer_url = lambda chain, address: f"the given ABI of {address} on {chain}"


def _first_version(document: dict[str, Any]) -> dict[str, Any]:
    from erc7730.common.abi import parse_encode_type  # type: ignore[import-not-found]

    members = (("string", "name"), ("string", "version"), ("uint256", "chainId"), ("address", "verifyingContract"))
    schemas, formats = [], {}
    for key, shown in document["display"]["formats"].items():
        primary, structs = parse_encode_type(key)
        structs = {"EIP712Domain": members, **structs}
        types = {name: [{"type": t, "name": n} for t, n in struct] for name, struct in structs.items()}
        schemas.append({"primaryType": primary, "types": types})
        fields = [{name: value for name, value in field.items() if name != "visible"} for field in shown["fields"]]
        formats[primary] = {"intent": shown["intent"], "fields": fields, "required": [f["path"] for f in fields]}
    context = document["context"]
    return {
        "$schema": "../../specs/erc7730-v1.schema.json",
        "context": {**context, "eip712": {**context["eip712"], "schemas": schemas}},
        "metadata": {name: value for name, value in document["metadata"].items() if name != "info"},
        "display": {"formats": formats},
    }


def _lint(folder: Path, said: list[dict[str, str]], scratch: Path) -> None:
    from erc7730.common.output import ListOutputAdder  # type: ignore[import-not-found]
    from erc7730.lint import lint as first  # type: ignore[import-not-found]
    from erc7730.lint.v2 import lint as second  # type: ignore[import-not-found]

    for path in sorted(folder.iterdir()):
        out = ListOutputAdder()
        second.lint_all([path], out)
        _tell(path, "lint", out, said)
        if path.name.startswith("eip712-"):
            older, out = scratch / path.name, ListOutputAdder()
            older.write_text(json.dumps(_first_version(json.loads(path.read_text()))))
            first.lint_all([older], out)
            _tell(path, "lint of the first version", out, said)


def _convert(folder: Path, said: list[dict[str, str]]) -> None:
    from eip712.convert.input_to_resolved import EIP712InputToResolvedConverter  # type: ignore[import-not-found]
    from erc7730.common.output import ListOutputAdder
    from erc7730.convert.calldata.convert_erc7730_v2_input_to_calldata import (  # type: ignore[import-not-found]
        erc7730_v2_descriptor_to_calldata_descriptors as to_calldata,
    )
    from erc7730.convert.ledger.eip712.convert_erc7730_v2_to_eip712 import ERC7730V2toEIP712Converter  # type: ignore[import-not-found]
    from erc7730.model.input.v2.descriptor import InputERC7730Descriptor  # type: ignore[import-not-found]

    for path in sorted(folder.iterdir()):
        out = ListOutputAdder()
        descriptor = InputERC7730Descriptor.load(path)
        if path.name.startswith("calldata-"):
            made = len(to_calldata(descriptor, out=out))
        else:
            chains = ERC7730V2toEIP712Converter().convert(descriptor, out) or {}
            older = [EIP712InputToResolvedConverter().convert(chain) for chain in chains.values()]
            made = sum(len(contract.messages) for chain in older for contract in chain.contracts)
        _tell(path, "conversion for the device", out, said)
        said.append(
            {"file": path.name, "by": "conversion for the device", "level": "MADE", "title": "", "message": str(made)}
        )


def _tell(path: Path, by: str, out: Any, said: list[dict[str, str]]) -> None:
    for output in out.outputs:
        if output.level.name != "DEBUG":
            message = {"title": output.title or "", "message": output.message}
            said.append({"file": path.name, "by": by, "level": output.level.name, **message})


def examine(folder: Path) -> list[dict[str, str]]:
    """Return what is said of a folder; what the linter finds wrong is not converted."""
    said: list[dict[str, str]] = []
    with tempfile.TemporaryDirectory() as scratch, contextlib.redirect_stdout(sys.stderr):
        _lint(folder, said, Path(scratch))
        if all(entry["level"] != "ERROR" for entry in said):
            _convert(folder, said)
    return said


if __name__ == "__main__":
    sys.addaudithook(_refuse_network)
    _give_abis(json.loads(Path(sys.argv[1]).read_text()))
    print(json.dumps([examine(Path(folder)) for folder in sys.argv[2:]]))
