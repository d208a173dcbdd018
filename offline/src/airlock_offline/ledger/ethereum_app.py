"""The Ethereum app's client: what can be asked of it, and answers of which every length is checked.

A signature from here is what the device answered and nothing more: whether it is over our own digest, by the expected
account, is decided by recovering it. Sources: the app's protocol description, the recordings in ``tests/vectors/ledger``.
"""

from __future__ import annotations

import re
from contextlib import nullcontext

from airlock_offline.ledger.device_errors import (
    BLIND_SIGNING,
    NO_RAW_MESSAGES,
    RAW_MESSAGES,
    SW_DATA,
    SW_OK,
    SW_PARAMETER,
    AppClosed,
    AppTooOld,
    NotReleased,
    SettingOff,
    TokenRefused,
    WrongApp,
    error_for,
    wrong_answer,
)
from airlock_offline.ledger.transport import (
    CLA_SIMULATOR,
    CLA_SYSTEM,
    INS_APP_AND_VERSION,
    INS_PRODUCT,
    P1_AUTHORIZATION_FIRST,
    P1_CONFIRM,
    P1_FIRST,
    P1_MORE,
    P2_SIGN_HASHES,
    Apdu,
    ApduReply,
    AppAndVersion,
    Configuration,
    DeviceAddress,
    Ins,
    Meanwhile,
    Transport,
    chunks,
    encode_integer,
    encode_path,
    ethereum_apdu,
)
from airlock_offline.ledger.typed_data import FilteredMessage, Need, fields_flow, require_no_fault
from airlock_shared.documents.ledger_metadata import TokenMetadata
from airlock_shared.errors import ExitCode, Refusal, UsageError
from airlock_shared.ethereum.eip712 import TypedData
from airlock_shared.ethereum.signatures import TYPE_2, checksum_address, keccak256, parse_address
from airlock_shared.wire.strict_json import JsonObject

APP_NAME = "Ethereum"
HOME_SCREENS = ("BOLOS", "OLOS")  # the names that the home screen answers; some firmware ends it with a zero byte
MINIMUM_VERSION = (1, 22, 0)  # fixes a way around the blind-signing setting and a hashing fault
MINIMUM = ".".join(map(str, MINIMUM_VERSION))
_SIGNATURE_BYTES = 65

_FLAG_BLIND_SIGNING, _FLAG_TRANSACTION_CHECK = 0x01, 0x10
_VERSION = re.compile(r"([0-9]{1,4})\.([0-9]{1,4})\.([0-9]{1,4})(?:-[0-9A-Za-z.]{1,32})?", re.ASCII)


def open_app(transport: Transport, meanwhile: Meanwhile = nullcontext, *, any_build: bool = False) -> EthereumApp:
    """Return a client when the Ethereum app is open, 1.22.0 or newer, and a release; with ``any_build`` any.

    A version with a suffix, such as ``1.22.0-dev``, is no release: that build was seen to hash arrays of arrays wrongly.
    Raises ``WrongApp``, ``AppClosed``, ``AppTooOld``, ``NotReleased``, ``Locked``, or another ``DeviceError``.
    """
    app = EthereumApp(transport, meanwhile)
    found = app.app_and_version()
    if found.name.rstrip("\0") in HOME_SCREENS:
        raise AppClosed("the Ledger shows its home screen", do="open the Ethereum app on it and try again")
    if found.name != APP_NAME:
        raise WrongApp(f"the app {found.name!r} is open", do="close it, open the Ethereum app and try again")
    if found.number < MINIMUM_VERSION:
        raise AppTooOld(
            f"the Ethereum app is {found.version!r}; we sign with {MINIMUM} or newer",
            do="update it with Ledger Wallet on another machine, then verify its address again",
        )
    if "-" in found.version and not any_build:
        raise NotReleased(
            f"the Ethereum app is {found.version!r}, a development build; we sign with releases",
            do="install the released app with Ledger Wallet on another machine, then verify its address again",
        )
    return app


class EthereumApp:
    """Commands to an Ethereum app that ``open_app`` has looked at."""

    def __init__(self, transport: Transport, meanwhile: Meanwhile = nullcontext) -> None:
        """``meanwhile`` is shown while an answer is waited for."""
        self._transport, self._meanwhile = transport, meanwhile
        self.may_have_signed = False
        """True from when the last command of a signature is sent until the device answers that it refused."""
        self.version = ""
        """The app's version as it told it last, such as ``1.22.0``."""

    def app_and_version(self) -> AppAndVersion:
        """Ask which app is open. Also the home screen answers."""
        doing = "ask which app is open"
        reply = self.ask(Apdu(CLA_SYSTEM, INS_APP_AND_VERSION, 0, 0), doing)
        fields = _length_value(reply[1:])
        if reply[:1] != b"\x01" or len(fields) not in (2, 3) or not all(part.isascii() for part in fields[:2]):
            raise wrong_answer(doing, reply.hex() or "nothing")
        name, version = fields[0].decode("ascii"), fields[1].decode("ascii")
        self.version = version
        match = _VERSION.fullmatch(version)
        return AppAndVersion(name, version, tuple(map(int, match.groups())) if match else ())

    def simulated_product(self) -> int:
        """Ask a Ledger on loopback which USB product it stands for; 0 when it does not know the question."""
        reply, sw = self.exchange(Apdu(CLA_SIMULATOR, INS_PRODUCT, 0, 0))
        return int.from_bytes(reply, "big") if sw == SW_OK and len(reply) == 2 else 0

    def configuration(self) -> Configuration:
        """Ask for the app's flags and version."""
        reply = self.ask(ethereum_apdu(Ins.CONFIGURATION, 0, 0), "read the app's configuration", size_bytes=4)
        blind, checked = (bool(reply[0] & flag) for flag in (_FLAG_BLIND_SIGNING, _FLAG_TRANSACTION_CHECK))
        return Configuration(blind, checked, (reply[1], reply[2], reply[3]))

    def address(self, path: str, confirm: bool = False) -> DeviceAddress:
        """Return the account at ``path``; with ``confirm`` a person compares it on the device first."""
        doing = f"read the address of {path}"
        p1 = P1_CONFIRM if confirm else P1_FIRST
        reply = self.ask(ethereum_apdu(Ins.ADDRESS, p1, 0, encode_path(path)), doing, person=confirm)
        return account_in(reply, doing)

    def sign_typed_data(self, path: str, typed_data: TypedData, filtered: FilteredMessage | None = None) -> bytes:
        """Sign field by field: the device hashes and shows every value. Needs Raw messages.

        With ``filtered`` it shows what that says in the place of the raw values, and needs Raw messages off.
        """
        doing, setting = "sign the typed data", NO_RAW_MESSAGES if filtered else RAW_MESSAGES
        require_no_fault(typed_data)
        flow = filtered.flow(path, typed_data) if filtered else fields_flow(path, typed_data)
        first, *rest = flow.definitions
        reply, sw = self.exchange(first)
        if sw == SW_PARAMETER:  # a flow was left half-way, and is forgotten now: once more
            reply, sw = self.exchange(first)
        checked_answer(reply, sw, doing, 0, setting)
        for apdu in rest:
            self.ask(apdu, doing, size_bytes=0, setting=setting)
        for apdu in flow.values:  # 1.22.0 shows all at the end; a version that shows each at once must not time out
            reply, sw = self.exchange(apdu, person=True)
            if filtered is None or not filtered.is_about_filters(apdu, reply, sw):
                checked_answer(reply, sw, doing, 0, setting)
        return self.ask_to_sign(flow.sign, doing, setting)

    def sign_hashes(self, path: str, domain_hash: bytes, message_hash: bytes) -> bytes:
        """Sign typed data of which the device sees and shows the two 32-byte hashes only. Needs Blind signing.

        Raises ``ValueError`` when a hash is not 32 bytes long.
        """
        if len(domain_hash) != 32 or len(message_hash) != 32:
            raise ValueError("the domain hash and the message hash have 32 bytes each")
        doing = "sign the typed data by its hashes"
        apdu = ethereum_apdu(Ins.SIGN_EIP712, P1_FIRST, P2_SIGN_HASHES, encode_path(path) + domain_hash + message_hash)
        return self.ask_to_sign(apdu, doing)

    def sign_transaction(self, path: str, unsigned_transaction: bytes) -> bytes:
        """Sign an unsigned EIP-1559 transaction: the type byte and the RLP of its fields. Raises ``UsageError`` for others.

        Of a legacy one the device would answer only the low byte of v.
        """
        if not unsigned_transaction.startswith(TYPE_2):
            raise UsageError("only transactions of type 2 are signed", do="prepare it as an EIP-1559 transaction")
        payload = encode_path(path) + unsigned_transaction
        return self.sign_in_pieces(Ins.SIGN_TRANSACTION, payload, 0, "sign the transaction")

    def sign_personal_message(self, path: str, message: bytes) -> bytes:
        """Sign a personal message (EIP-191, version 0x45)."""
        payload = encode_path(path) + len(message).to_bytes(4, "big") + message
        return self.sign_in_pieces(Ins.SIGN_PERSONAL_MESSAGE, payload, 27, "sign the message")

    def sign_authorization(self, path: str, authorization: JsonObject) -> bytes:
        """Sign an EIP-7702 authorization, an item's payload: tags 0 to 3 with version, contract, chain and nonce."""
        numbers = (encode_integer(authorization[name]) for name in ("chainId", "nonce"))
        values = b"\x01", parse_address(authorization["address"]), *numbers
        listed = b"".join(bytes((tag, len(value))) + value for tag, value in enumerate(values))
        payload, doing = encode_path(path) + len(listed).to_bytes(2, "big") + listed, "sign the authorization"
        return self.sign_in_pieces(Ins.SIGN_AUTHORIZATION, payload, 0, doing, P1_AUTHORIZATION_FIRST)

    def sign_in_pieces(self, ins: Ins, payload: bytes, first_v: int, doing: str, first: int = P1_FIRST) -> bytes:
        """Send what the app takes in pieces of 255 bytes, and return what was signed of the whole.

        ``first_v`` is the v that means parity 0: 27 for a personal message, 0 otherwise.
        """
        *pieces, last = chunks(payload)
        for piece in pieces:  # with Debug contracts a person reads and confirms between the pieces
            self.ask(ethereum_apdu(ins, first, 0, piece), doing, size_bytes=0, person=True)
            first = P1_MORE
        return self.ask_to_sign(ethereum_apdu(ins, first, 0, last), doing, first_v=first_v)

    def provide_token(self, token: TokenMetadata) -> None:
        """Tell the app of a token, for the next transaction alone: it then shows amounts of it.

        Raises ``TokenRefused`` when the app does not accept the record, which it does not show.
        """
        doing = "tell the Ledger of the token"
        reply, sw = self.exchange(ethereum_apdu(Ins.TOKEN, 0, 0, token.record))
        if sw == SW_DATA:
            raise TokenRefused(
                f"the Ledger does not accept the pinned record of {token.ticker}: its signature or its network",
                do="pin a deployment with a newer record, or without one: an approval is then signed blind",
            )
        checked_answer(reply, sw, doing, 1)

    def ask_to_sign(self, apdu: Apdu, doing: str, setting: str = BLIND_SIGNING, first_v: int = 27) -> bytes:
        """Send the last command of a signature, and return the 65 bytes r, s and v, which is 27 or 28.

        Raises what the status word stands for.
        """
        self.may_have_signed = True
        reply, sw = self.exchange(apdu, person=True)
        self.may_have_signed = sw == SW_OK
        checked_answer(reply, sw, doing, _SIGNATURE_BYTES, setting)
        parity = reply[0] - first_v
        if parity not in (0, 1):
            raise wrong_answer(doing, f"a signature with v = {reply[0]}")
        return reply[1:] + bytes((27 + parity,))

    def ask(
        self,
        apdu: Apdu,
        doing: str,
        *,
        size_bytes: int | None = None,
        setting: str = BLIND_SIGNING,
        person: bool = False,
    ) -> bytes:
        """Send a command that signs nothing and return its answer. Raises as :func:`checked_answer`."""
        return checked_answer(*self.exchange(apdu, person=person), doing, size_bytes, setting)

    def exchange(self, apdu: Apdu, *, person: bool = False) -> ApduReply:
        """Send a command and return its answer and status word."""
        with self._meanwhile(person):
            return self._transport.exchange(apdu.encode(), person=person)


def checked_answer(
    reply: bytes, sw: int, doing: str, size_bytes: int | None = None, setting: str = BLIND_SIGNING
) -> bytes:
    """Return an answer of ``size_bytes``, without it of any size.

    Raises what the status word stands for, or ``WrongAnswer`` for another size.
    """
    if sw != SW_OK:
        raise error_for(sw, doing=doing, setting=setting)
    if size_bytes not in (None, len(reply)):
        expected = {0: "none", _SIGNATURE_BYTES: "a signature"}.get(size_bytes, size_bytes)
        raise wrong_answer(doing, f"{len(reply)} bytes instead of {expected}")
    return reply


def _length_value(data: bytes) -> list[bytes]:
    """Return the parts of one length byte and as many bytes each; an incomplete last part comes shortened."""
    parts = []
    while data:
        parts.append(data[1 : 1 + data[0]])
        data = data[1 + data[0] :]
    return parts


def account_in(reply: bytes, doing: str) -> DeviceAddress:
    """Read a public key and its address, which must be the key's own."""
    fields = _length_value(reply)
    if [len(field) for field in fields] != [65, 40]:
        raise wrong_answer(doing, f"{len(reply)} bytes that are not a key and an address")
    address = keccak256(fields[0][1:])[-20:]
    if fields[1] != checksum_address(address)[2:].encode():
        raise wrong_answer(doing, "an address that does not belong to its public key")
    return DeviceAddress(fields[0], address)


# ---- readiness ------------------------------------------------------------------------------------------------------
# Whether a Ledger can sign what it will be asked for: looked at before people read, and again before the signature.
# Sent for it are three commands that show nothing and sign nothing: which app is open, its configuration, and an
# address.


class WrongDevice(Refusal):
    """The Ledger on the table is not the signer's, or its path is another: a matter of the device, exit code 5."""

    exit_code = ExitCode.DEVICE


def require_ready(app: EthereumApp, need: Need) -> bytes:
    """Return the device's account when it can sign. Raises as ``require_account``, ``SettingOff`` and ``DeviceError``."""
    account = require_account(app, need.path, need.account)
    if need.blind_signing and not app.configuration().blind_signing:
        raise SettingOff(
            "Blind signing is off in the Ethereum app, and without it this cannot be signed",
            do=f"in the app's settings turn {BLIND_SIGNING}, then give the same command again",
        )
    return account


def require_account(app: EthereumApp, path: str, expected: bytes, *, confirm: bool = False) -> bytes:
    """Return the device's 20-byte address at ``path``; with ``confirm`` a person compares it on the device first.

    Raises ``WrongDevice("SIGNER-DEVICE")`` when it is not ``expected``: another seed, a passphrase, or another path.
    """
    found = app.address(path, confirm=confirm).address
    if found != expected:
        raise WrongDevice(
            "SIGNER-DEVICE",
            "the Ledger has another account at this path",
            got=checksum_address(found),
            expected=checksum_address(expected),
            do="check that this is the right Ledger, with the right seed and passphrase, and the right path "
            "(Ledger Live counts m/44'/60'/x'/0/0, older wallets m/44'/60'/0'/x); nothing was signed",
        )
    return found
