// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

// What the rehearsal's contracts revert with. The names are the specification's where it gives one.

error NotOperator();
error NotRouter();

// Signatures, EIP-712 and nonces
error BadSignature(); // not 65 bytes, v neither 27 nor 28, s in the upper half, or no key could have made it
error NotAuthorized(); // the signer is neither the trader nor, where one may sign, a live delegate
error DeadlineExpired();
error NonceUsed();
error SignedInFuture();
error StaleSignature();

// Delegates
error NotDelegate();
error NotAllowedForDelegate();
error UnknownAction();
error InvalidDelegate();
error InvalidExpiry();

// Orders and positions
error NotTrader();
error PairNotListed();
error PairClosedForOpening();
error WrongOrderType();
error WrongTrade(); // index, initialPosToken or timestamp of a new trade is not 0
error BelowMinPos();
error WrongLeverage();
error WrongPrice();
error WrongAmount();
error WrongTp();
error WrongSl();
error WrongTrigger();
error HighSlippage();
error PositionMismatch();
error NoPendingOrder();
error NoLimitOrder();
error NoTrigger();
error TriggerNotHit();
error NoTwap();
error NothingToClaim();

// Referral codes
error EmptyCode();
error CodeTaken();
error CodeIsPrivate();
error NotCodeOwner();
error NotPendingOwner();
error NoRequest();
