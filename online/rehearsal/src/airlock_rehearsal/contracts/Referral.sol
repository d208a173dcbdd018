// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {Eip712} from "Eip712.sol";
import {
    CodeIsPrivate,
    CodeTaken,
    EmptyCode,
    NoRequest,
    NotAuthorized,
    NotCodeOwner,
    NotOperator,
    NotPendingOwner,
    NotRouter
} from "Errors.sol";

interface IDelegations {
    function multipleDelegations(address trader, address delegate) external view returns (uint256 expiry);
}

struct SetTraderReferralCodeByUserReq {
    bytes32 _code;
    address _referee;
    uint256 _deadline;
    uint256 _nonce;
}

struct RegisterCodeReq {
    bytes32 _code;
    address _referrer;
    uint256 _deadline;
    uint256 _nonce;
}

/// Referral codes: adopted, registered, handed over in two steps; private ones are asked for. It has a domain and nonces of
/// its own, and asks the trading router who is a delegate.
contract Referral is Eip712 {
    bytes32 private constant SET_CODE =
        keccak256("SetTraderReferralCodeByUserReq(bytes32 _code,address _referee,uint256 _deadline,uint256 _nonce)");
    bytes32 private constant REGISTER =
        keccak256("RegisterCodeReq(bytes32 _code,address _referrer,uint256 _deadline,uint256 _nonce)");

    address public immutable operator;
    address public immutable router;

    mapping(address => bytes32) public traderReferralCodes;
    mapping(bytes32 => address) public codeOwners;
    mapping(bytes32 => address) public pendingCodeOwners;
    mapping(bytes32 => bool) public isPrivate;
    mapping(address => bytes32) public accessRequests;

    event ReferralCodeSet(address indexed referee, bytes32 code);
    event CodeRegistered(bytes32 indexed code, address owner);
    event CodePrivacySet(bytes32 indexed code, bool isPrivate);
    event CodeOwnershipOffered(bytes32 indexed code, address newOwner);
    event CodeOwnershipAccepted(bytes32 indexed code, address newOwner);
    event AccessRequested(address indexed account, bytes32 code);
    event AccessRequestCancelled(address indexed account, bytes32 code);

    constructor(string memory name, address operator_, address router_) Eip712(name) {
        operator = operator_;
        router = router_;
    }

    // Intents, sent by anybody

    function setTraderReferralCodeByUserWithSig(bytes calldata signature, bytes calldata intent) external {
        SetTraderReferralCodeByUserReq memory q = abi.decode(intent, (SetTraderReferralCodeByUserReq));
        _authorise(keccak256(abi.encode(SET_CODE, q)), signature, q._referee, q._deadline, q._nonce);
        _adopt(q._referee, q._code);
    }

    function registerCodeWithSig(bytes calldata signature, bytes calldata intent) external {
        RegisterCodeReq memory q = abi.decode(intent, (RegisterCodeReq));
        _authorise(keccak256(abi.encode(REGISTER, q)), signature, q._referrer, q._deadline, q._nonce);
        _register(q._referrer, q._code);
    }

    // Transactions

    function setTraderReferralCodeByUser(bytes32 code) external {
        _adopt(msg.sender, code);
    }

    function setPendingCodeOwnershipTransfer(bytes32 code, address newOwner) external {
        _onlyOwner(code);
        pendingCodeOwners[code] = newOwner;
        emit CodeOwnershipOffered(code, newOwner);
    }

    function acceptCodeOwnership(bytes32 code) external {
        if (pendingCodeOwners[code] != msg.sender) revert NotPendingOwner();
        delete pendingCodeOwners[code];
        codeOwners[code] = msg.sender;
        emit CodeOwnershipAccepted(code, msg.sender);
    }

    function setPrivate(bytes32 code, bool private_) external {
        _onlyOwner(code);
        isPrivate[code] = private_;
        emit CodePrivacySet(code, private_);
    }

    function requestAccess(bytes32 code) external {
        _request(msg.sender, code);
    }

    function cancelRequest() external {
        bytes32 code = accessRequests[msg.sender];
        if (code == 0) revert NoRequest();
        delete accessRequests[msg.sender];
        emit AccessRequestCancelled(msg.sender, code);
    }

    /// The owner of a private code lets in who asked for it.
    function grantAccess(address account) external {
        bytes32 code = accessRequests[account];
        if (code == 0) revert NoRequest();
        _onlyOwner(code);
        delete accessRequests[account];
        traderReferralCodes[account] = code;
        emit ReferralCodeSet(account, code);
    }

    /// For a trader whose delegate called the trading router.
    function setTraderReferralCodeFor(address trader, bytes32 code) external {
        if (msg.sender != router) revert NotRouter();
        _adopt(trader, code);
    }

    // What a rehearsal starts with

    function seedCode(bytes32 code, address owner, address pendingOwner) external {
        if (msg.sender != operator) revert NotOperator();
        _register(owner, code);
        pendingCodeOwners[code] = pendingOwner;
    }

    function seedRequest(address account, bytes32 code) external {
        if (msg.sender != operator) revert NotOperator();
        _request(account, code);
    }

    function _authorise(bytes32 structHash, bytes calldata signature, address owner, uint256 deadlineMs, uint256 nonce)
        private
    {
        _notAfter(deadlineMs);
        address signer = _signer(structHash, signature);
        if (signer != owner && IDelegations(router).multipleDelegations(owner, signer) <= block.timestamp) {
            revert NotAuthorized();
        }
        _spend(owner, nonce);
    }

    function _onlyOwner(bytes32 code) private view {
        if (codeOwners[code] != msg.sender) revert NotCodeOwner();
    }

    function _adopt(address account, bytes32 code) private {
        if (code == 0) revert EmptyCode();
        if (isPrivate[code] && codeOwners[code] != account) revert CodeIsPrivate();
        traderReferralCodes[account] = code;
        emit ReferralCodeSet(account, code);
    }

    function _register(address owner, bytes32 code) private {
        if (code == 0) revert EmptyCode();
        if (codeOwners[code] != address(0)) revert CodeTaken();
        codeOwners[code] = owner;
        emit CodeRegistered(code, owner);
    }

    function _request(address account, bytes32 code) private {
        if (code == 0) revert EmptyCode();
        accessRequests[account] = code;
        emit AccessRequested(account, code);
    }
}
