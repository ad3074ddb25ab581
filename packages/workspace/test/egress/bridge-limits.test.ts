// What a bridge does for its clients is limited, however many connect at once.
import { once } from "node:events";
import { connect, createServer, type Socket } from "node:net";
import { afterAll, expect, test } from "vitest";
import { openClientIds } from "../../src/egress/client-ids.ts";
import { openSearches } from "../../src/egress/searches.ts";
import { findDatagramSocket, findHolder, findSocket, maxReads } from "../../src/sockets/index.ts";

const closers: (() => void)[] = [];
afterAll(() => {
  for (const close of closers) close();
});

/** Both ends of so many connections. */
async function openConnections(count: number): Promise<{ accepted: Socket[]; clients: Socket[] }> {
  const accepted: Socket[] = [];
  const server = createServer((socket) => void accepted.push(socket)).listen(0, "127.0.0.1");
  closers.push(() => server.close());
  await once(server, "listening");
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("A server without a port.");
  const clients: Socket[] = [];
  for (let index = 0; index < count; index += 1) {
    const client = connect(address.port, "127.0.0.1");
    closers.push(() => client.destroy());
    clients.push(client);
    await once(client, "connect");
  }
  while (accepted.length < count) await once(server, "connection");
  return { accepted, clients };
}

test("more clients at once than the host takes get no number, until one is closed", async () => {
  const { accepted } = await openConnections(600);
  const ids = openClientIds();
  const numbers = accepted.flatMap((socket) => ids.add(socket)?.readUInt16BE() ?? []);
  expect(new Set(numbers).size).toBe(numbers.length);
  expect(numbers.length).toBeLessThan(512 - 64);
  const [first, last] = [accepted[0], accepted.at(-1)];
  if (!first || !last) return expect.fail("no connections");
  expect(ids.add(last)).toBeUndefined();
  first.destroy();
  await once(first, "close");
  expect(ids.find(ids.add(last) ?? Buffer.alloc(2))).toBe(last);
});

test("beyond a number of searches at once there is none, and it counts those that fail", async () => {
  const searchFor = openSearches(2);
  const finish: ((name: string) => void)[] = [];
  const search = () => new Promise<string>((settle) => void finish.push(settle));
  const underWay = [searchFor(search), searchFor(search)];
  expect(await searchFor(search)).toBe("");
  expect(finish).toHaveLength(2);
  for (const settle of finish) settle("curl (7)");
  expect(await Promise.all(underWay)).toEqual(["curl (7)", "curl (7)"]);
  for (let turn = 0; turn < 3; turn += 1)
    await expect(searchFor(() => Promise.reject(new Error("EMFILE")))).rejects.toThrow("EMFILE");
  expect(await searchFor(async () => "perl (8)")).toBe("perl (8)");
});

test("the other end of one connection among hundreds is found, and of none that is closed", async () => {
  const { accepted, clients } = await openConnections(300);
  const [one, other] = [accepted[150], accepted[151]];
  if (!one || !other) return expect.fail("no connections");
  const [found, next] = [await findSocket(one, maxReads), await findSocket(other, maxReads)];
  expect(found?.user).toBe(process.geteuid?.());
  expect(found?.inode).not.toBe(next?.inode);
  expect(await findHolder(found?.inode ?? "")).toBe(String(process.pid));
  const { localPort, remotePort, localAddress = "", remoteAddress = "" } = one;
  // The two ends in each other's place are the socket of this end.
  expect(
    (await findSocket({ localPort: remotePort, remotePort: localPort, localAddress, remoteAddress }, 1))?.inode,
  ).not.toBe(found?.inode);
  clients[150]?.destroy();
  await once(one.resume(), "close");
  expect((await findSocket({ localPort, remotePort, localAddress, remoteAddress }, 1))?.inode ?? "0").toBe("0");
  expect(findDatagramSocket(1)).toBeUndefined();
});
