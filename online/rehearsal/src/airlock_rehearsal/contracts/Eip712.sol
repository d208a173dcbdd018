// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {BadSignature, DeadlineExpired, NonceUsed} from "Errors.sol";

/// A signing domain of its own, the one accepted form of a signature, and an unordered nonce space.
abstract contract Eip712 {
    bytes32 private constant DOMAIN_TYPEHASH =
        keccak256("EIP712Domain(string name,string version,uint256 chainId,address verifyingContract)");
    uint256 private constant HALF_ORDER = 0x7fffffffffffffffffffffffffffffff5d576e7357a4501ddfe92f46681b20a0; // EIP-2

    bytes32 public immutable domainSeparator;

    /// owner => nonce / 256 => a bit for each of 256 nonces; set when spent
    mapping(address => mapping(uint256 => uint256)) public nonceBitmap;

    constructor(string memory name) {
        domainSeparator = keccak256(
            abi.encode(DOMAIN_TYPEHASH, keccak256(bytes(name)), keccak256("1"), block.chainid, address(this))
        );
    }

    function _signer(bytes32 structHash, bytes calldata signature) internal view returns (address signer) {
        if (signature.length != 65) revert BadSignature();
        bytes32 r = bytes32(signature[:32]);
        bytes32 s = bytes32(signature[32:64]);
        uint8 v = uint8(signature[64]);
        if (uint256(s) > HALF_ORDER || (v != 27 && v != 28)) revert BadSignature();
        signer = ecrecover(keccak256(abi.encodePacked("\x19\x01", domainSeparator, structHash)), v, r, s);
        if (signer == address(0)) revert BadSignature();
    }

    /// A deadline is in milliseconds and a block's time in seconds: it has passed when a whole later second has begun.
    function _notAfter(uint256 deadlineMs) internal view {
        if (block.timestamp * 1000 > deadlineMs) revert DeadlineExpired();
    }

    function _spend(address owner, uint256 nonce) internal {
        uint256 bit = 1 << (nonce & 255);
        uint256 word = nonceBitmap[owner][nonce >> 8];
        if (word & bit != 0) revert NonceUsed();
        nonceBitmap[owner][nonce >> 8] = word | bit;
    }
}
