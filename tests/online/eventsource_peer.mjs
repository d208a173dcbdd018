// An independent decoder of event streams, eventsource-parser, asked over stdin: one JSON list of hex chunks a line.
// Answers one JSON line each: the events with their own ids. With "bench BYTES_FILE CHUNK EVENTS": events a second.
import { readFileSync } from "node:fs";
import { createInterface } from "node:readline";

const { createParser } = await import(process.argv[2]);

function decode(chunks) {
  const events = [], comments = [];
  const parser = createParser({
    onEvent: ({ id, event, data }) => events.push({ type: event ?? "message", data, id: id ?? null }),
    onComment: (text) => comments.push(text),
  });
  const text = new TextDecoder("utf-8");
  for (const chunk of chunks) {
    const piece = text.decode(chunk, { stream: true });
    if (piece) parser.feed(piece);
  }
  return { events, comments };
}

function bench(bytes, size) {
  let count = 0;
  const started = process.hrtime.bigint();
  const parser = createParser({ onEvent: () => count++ });
  const text = new TextDecoder("utf-8");
  for (let at = 0; at < bytes.length; at += size) {
    parser.feed(text.decode(bytes.subarray(at, at + size), { stream: true }));
  }
  return { count, seconds: Number(process.hrtime.bigint() - started) / 1e9 };
}

if (process.argv[3] === "bench") {
  const bytes = readFileSync(process.argv[4]);
  const runs = [];
  for (let n = 0; n < Number(process.argv[6]); n++) runs.push(bench(bytes, Number(process.argv[5])));
  console.log(JSON.stringify(runs));
} else {
  for await (const line of createInterface({ input: process.stdin })) {
    console.log(JSON.stringify(decode(JSON.parse(line).map((hex) => Buffer.from(hex, "hex")))));
  }
}
