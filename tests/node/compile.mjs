// Compiles the rehearsal's contracts: `node compile.mjs SOURCES` writes contracts.json to stdout, errors to stderr.
// The same sources, compiler and settings give the same bytes. solc comes from the node_modules that NODE_PATH names.
import { createHash } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";

const require = createRequire(join(process.env.NODE_PATH, "package.json"));
const solc = require("solc");
const folder = process.argv[2];
const names = readdirSync(folder).filter((name) => name.endsWith(".sol")).sort();
const sources = Object.fromEntries(names.map((name) => [name, { content: readFileSync(join(folder, name), "utf8") }]));
const settings = {
  evmVersion: "cancun",
  viaIR: true,
  optimizer: { enabled: true, runs: 1 },
  metadata: { appendCBOR: false, bytecodeHash: "none" },
  outputSelection: { "*": { "*": ["abi", "evm.bytecode.object", "evm.deployedBytecode.object"] } },
};
const output = JSON.parse(solc.compile(JSON.stringify({ language: "Solidity", sources, settings })));
const messages = output.errors ?? [];
for (const message of messages) process.stderr.write(message.formattedMessage);
if (messages.length > 0) process.exit(1);

const deployed = ["Usdc", "TradingStorage", "Referral", "TradingRouter"];
const contracts = {};
for (const name of deployed) {
  const { abi, evm } = output.contracts[`${name}.sol`][name];
  contracts[name] = { abi, bytecode: "0x" + evm.bytecode.object, size: evm.deployedBytecode.object.length / 2 };
}
const sha256 = ({ content }) => createHash("sha256").update(content).digest("hex");
const digests = Object.fromEntries(names.map((name) => [name, sha256(sources[name])]));
const { outputSelection, ...compiled } = settings;
process.stdout.write(JSON.stringify({ compiler: solc.version(), settings: compiled, sources: digests, contracts }, null, 1) + "\n");
