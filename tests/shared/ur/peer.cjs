// What two independent implementations say, asked over standard input and answered over standard output, as JSON.
const { UR, UREncoder, URDecoder } = require("@ngraveio/bc-ur");
const eth = require("@keystonehq/bc-ur-registry-eth");

const hex = (text) => Buffer.from(text, "hex");
const said = (value) => (value === undefined ? null : Buffer.isBuffer(value) ? value.toString("hex") : value);

const answers = {
  frames({ type, cbor, fragment_bytes, first, count }) {
    const encoder = new UREncoder(new UR(hex(cbor), type), fragment_bytes, first - 1, 10);
    return Array.from({ length: count }, () => encoder.nextPart());
  },
  receive({ texts }) {
    const decoder = new URDecoder();
    let taken = 0;
    while (taken < texts.length && !decoder.isComplete()) decoder.receivePart(texts[taken++]);
    if (!decoder.isSuccess()) return { taken, type: null, cbor: null };
    const ur = decoder.resultUR();
    return { taken, type: ur.type, cbor: ur.cbor.toString("hex") };
  },
  read_request({ cbor }) {
    const r = eth.EthSignRequest.fromCBOR(hex(cbor));
    return {
      sign_data: said(r.getSignData()), data_type: r.getDataType(), path: "m/" + r.getDerivationPath(),
      source_fingerprint: said(r.getSourceFingerprint()), request_id: said(r.getRequestId()),
      chain_id: said(r.getChainId()), address: said(r.getSignRequestAddress()), origin: said(r.getOrigin()),
    };
  },
  write_signature({ signature, request_id, origin }) {
    return new eth.ETHSignature(hex(signature), hex(request_id), origin).toCBOR().toString("hex");
  },
  read_key({ cbor }) {
    const k = eth.CryptoHDKey.fromCBOR(hex(cbor));
    return {
      key: said(k.getKey()), chain_code: said(k.getChainCode()), origin: "m/" + k.getOrigin().getPath(),
      source_fingerprint: said(k.getOrigin().getSourceFingerprint()), children: "m/" + k.getChildren().getPath(),
      parent_fingerprint: said(k.getParentFingerprint()), name: said(k.getName()), note: said(k.getNote()),
    };
  },
};

let asked = "";
process.stdin.on("data", (chunk) => (asked += chunk));
process.stdin.on("end", () => {
  const questions = JSON.parse(asked);
  process.stdout.write(JSON.stringify(questions.map(([name, question]) => answers[name](question))));
});
