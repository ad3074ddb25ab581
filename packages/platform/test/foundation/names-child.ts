// In a network of its own: a name server that is silent about some names, and lookups of those and of another one.
import { createSocket } from "node:dgram";
import { once } from "node:events";
import { openNetworkPolicy } from "../../src/foundation/network/index.ts";

const [header, ipv4, address] = [12, 1, [93, 184, 216, 34]];
const server = createSocket("udp4");
let silent = 0;
const asked = new Promise<void>((resolve) => {
  server.on("message", (query, { port, address: from }) => {
    const end = query.indexOf(0, header);
    if (query.includes("silent")) {
      silent += 1;
      return resolve();
    }
    const hasAddress = query.readUInt16BE(end + 1) === ipv4;
    const head = Buffer.from(query.subarray(0, header));
    for (const [at, value] of [
      [2, 0x8180],
      [6, Number(hasAddress)],
      [10, 0],
    ] as const)
      head.writeUInt16BE(value, at);
    const record = hasAddress ? [0xc0, header, 0, ipv4, 0, 1, 0, 0, 0, 0, 0, 4, ...address] : [];
    server.send(Buffer.concat([head, query.subarray(header, end + 5), Buffer.from(record)]), port, from);
  });
});
server.bind(53, "127.0.0.1");
await once(server, "listening");

const policy = openNetworkPolicy({ allowPrivate: [] });
const resolve = (name: string) => policy.resolve({ kind: "name", name }, AbortSignal.timeout(60_000));
let pending = 0;
for (let number = 0; number < 8; number += 1) {
  pending += 1;
  void resolve(`host${number}.silent.test`).finally(() => {
    pending -= 1;
  });
}
await asked;
const other = await resolve("other.test");
process.stdout.write(JSON.stringify({ other, pending, wasAsked: silent > 0 }));
process.exit();
