// Lookups of names that are stopped, with a real name server.
import { createSocket } from "node:dgram";
import { Resolver } from "node:dns/promises";
import { once } from "node:events";
import { expect, onTestFinished, test } from "vitest";
import { queryServers } from "../../src/names/query.ts";
import { openSystemLookup } from "../../src/names/system-lookup.ts";

const header = 12;
const notFound = 0x8183;

/** Does not know names without a dot and those in `unknown`, and is silent about all others. */
async function openNameServer(onSilent: () => void = () => {}) {
  const server = createSocket("udp4");
  onTestFinished(() => void server.close());
  const asked = new Set<string>();
  server.on("message", (query, { port, address }) => {
    const end = query.indexOf(0, header);
    const name = query
      .subarray(header + 1, end)
      .toString("latin1")
      .replaceAll(/[\0-\x1f]/g, ".");
    asked.add(name);
    if (name.includes(".") && !name.endsWith(".unknown")) return onSilent();
    const reply = Buffer.from(query.subarray(0, end + 5));
    reply.writeUInt16BE(notFound, 2);
    reply.writeUInt16BE(0, 10);
    server.send(reply, port, address);
  });
  server.bind(0, "127.0.0.1");
  await once(server, "listening");
  const resolver = new Resolver({ timeout: 60_000, tries: 1 });
  resolver.setServers([`127.0.0.1:${server.address().port}`]);
  return { resolver, asked: () => [...asked] };
}

test("a lookup that is stopped asks for no further names, and its error is about the name as written", async () => {
  const stop = new AbortController();
  const timeout = new DOMException("over", "TimeoutError");
  const { resolver, asked } = await openNameServer(() => stop.abort(timeout));
  const candidates = ["git.a.silent", "git.b.silent", "git"];
  await expect(queryServers(resolver, { name: "git", candidates }, stop.signal)).rejects.toThrow("ETIMEOUT git");
  expect(asked()).toEqual(["git.a.silent"]);
});

test("a name that its server does not know is reported as written, not in the last domain of search", async () => {
  const { resolver, asked } = await openNameServer();
  const candidates = ["git", "git.a.unknown", "git.b.unknown"];
  const query = queryServers(resolver, { name: "git", candidates }, new AbortController().signal);
  await expect(query).rejects.toMatchObject({ code: "ENOTFOUND", message: "ENOTFOUND git" });
  expect(asked()).toEqual(candidates);
});

test("the system is asked for one name at a time; a lookup that is stopped waits no longer, and is not made", async () => {
  const asked: string[] = [];
  let answer: (addresses: string[]) => void = () => {};
  const silent = new Promise<string[]>((resolve) => {
    answer = resolve;
  });
  const lookup = openSystemLookup((name) => {
    asked.push(name);
    return name === "silent.local" ? silent : Promise.resolve([name]);
  });
  const stop = new AbortController();
  const [first, second] = ["silent.local", "b.local"].map((name) => lookup(name, stop.signal));
  const third = lookup("c.local", new AbortController().signal);
  await expect.poll(() => asked).toEqual(["silent.local"]);
  stop.abort();
  await expect(first).rejects.toThrow();
  await expect(second).rejects.toThrow();
  expect(asked).toEqual(["silent.local"]);
  answer([]);
  expect(await third).toEqual(["c.local"]);
  expect(asked).toEqual(["silent.local", "c.local"]);
});
