"""The structs of a venue: hashed and recovered by eth-account, encoded by eth-abi; nothing here is of the product."""

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from eth_abi.abi import decode, encode
from eth_account import Account
from eth_account.messages import SignableMessage, encode_typed_data
from eth_utils.address import to_checksum_address
from eth_utils.crypto import keccak

DOMAIN = (("name", "string"), ("version", "string"), ("chainId", "uint256"), ("verifyingContract", "address"))


class Structs:
    """Structs as EIP-712 writes them, and the order of an encoding where it is another one."""

    def __init__(self, texts: Iterable[str], orders: Mapping[str, Sequence[str]]) -> None:
        self._orders = orders
        self.members: dict[str, dict[str, str]] = {}
        """The members of each struct: their types, by name."""
        for name, inside in re.findall(r"(\w+)\(([^)]*)\)", "".join(texts)):
            kinds = (member.split(" ") for member in inside.split(","))
            self.members[name] = {member: kind for kind, member in kinds}

    def types(self, name: str) -> dict[str, list[dict[str, str]]]:
        """Return the types of a struct as a document lists them: its own first, then of those within."""
        listed = {name: [{"name": member, "type": kind} for member, kind in self.members[name].items()]}
        for kind in filter(self.members.__contains__, self.members[name].values()):
            listed |= self.types(kind)
        return listed

    def _abi(self, name: str) -> tuple[list[str], str]:
        kinds = self.members[name]
        names = list(self._orders.get(name, kinds))
        inner = [self._abi(kinds[each])[1] if kinds[each] in self.members else kinds[each] for each in names]
        return names, f"({','.join(inner)})"

    def encoded(self, name: str, message: Mapping[str, Any]) -> bytes:
        """Return ``abi.encode`` of a struct."""
        names, kind = self._abi(name)
        return encode([kind], [tuple(_value(message[each]) for each in names)])

    def decoded(self, name: str, data: bytes) -> dict[str, Any]:
        """Return the message that an encoding holds, addresses in EIP-55."""
        names, kind = self._abi(name)
        (values,) = decode([kind], data)
        found = dict(zip(names, values, strict=True))
        return {each: self._decoded(kind, found[each]) for each, kind in self.members[name].items()}

    def _decoded(self, kind: str, value: Any) -> Any:
        if kind in self.members:
            inside = self.members[kind].items()
            return {name: self._decoded(inner, each) for (name, inner), each in zip(inside, value, strict=True)}
        return to_checksum_address(value) if kind == "address" else value

    def _signable(self, name: str, message: Mapping[str, Any], domain: Mapping[str, Any]) -> SignableMessage:
        types = {"EIP712Domain": [{"name": each, "type": kind} for each, kind in DOMAIN], **self.types(name)}
        document = {"types": types, "primaryType": name, "domain": domain, "message": message}
        return encode_typed_data(full_message=document)

    def digest(self, name: str, message: Mapping[str, Any], domain: Mapping[str, Any]) -> bytes:
        """Return the EIP-712 hash of a message under a domain."""
        signable = self._signable(name, message, domain)
        return keccak(b"\x19" + signable.version + signable.header + signable.body)

    def signer(self, name: str, message: Mapping[str, Any], domain: Mapping[str, Any], signature: bytes) -> str:
        """Return who signed a message under a domain. Raises ``ValueError`` for another form than the one."""
        low_s = (
            int.from_bytes(signature[32:64], "big")
            <= 0x7FFFFFFFFFFFFFFFFFFFFFFFFFFFFFFF5D576E7357A4501DDFE92F46681B20A0
        )
        if len(signature) != 65 or signature[64] not in (27, 28) or not low_s:
            raise ValueError("a signature is 65 bytes, v 27 or 28, s in the lower half")
        recovered: str = Account.recover_message(self._signable(name, message, domain), signature=signature)
        return recovered


def _value(value: Any) -> Any:
    return tuple(_value(inner) for inner in value.values()) if isinstance(value, dict) else value
