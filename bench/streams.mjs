// CPU time of long replies on each wire, over reading the same bytes and parsing their JSON.
import { join } from "node:path";
import { cpuMs, minimum } from "./measure.mjs";
import { anthropicMessage, chatMessage, message, startServer } from "./model-server.mjs";

const wires = { responses: message, chat: chatMessage, anthropic: anthropicMessage };
const line = "0123456789abcdef0123456789abcde\n";
const sizes = [
  { what: "2 MB reply in 65,536 deltas", deltas: 65_536, limit: "≤ 1.5x", rounds: 5 },
  { what: "20 MB reply in 655,360 deltas", deltas: 655_360, limit: "≤ 1.3x", rounds: 3 },
];

/** Rows: what, who, value, unit, ratio, limit. */
export async function streamRows({ root, cwd, agent }) {
  const rows = [];
  for (const { what, deltas, limit, rounds } of sizes) {
    for (const [wire, reply] of Object.entries(wires)) {
      const bytes = Buffer.from(reply(line.repeat(deltas), deltas));
      const server = await startServer(() => bytes);
      const floor = { program: process.execPath, args: [join(root, "bench/floor.cjs"), server.url, "hello", wire] };
      const options = ["-c", `model_providers.scripted.wire_api="${wire}"`];
      const times = { floor: [], ours: [] };
      for (let round = 0; round < rounds; round += 1) {
        times.floor.push(await cpuMs({ ...floor, env: process.env, cwd }));
        times.ours.push(await cpuMs({ ...agent(server.url, ["exec", ...options, "hello"]), cwd }));
      }
      server.close();
      const [base, ours] = [minimum(times.floor), minimum(times.ours)];
      rows.push([`${what}, ${wire}, CPU`, "floor: read and parse", base, "ms", 1, ""]);
      rows.push([`${what}, ${wire}, CPU`, "agentcli exec", ours, "ms", ours / base, limit]);
    }
  }
  return rows;
}
