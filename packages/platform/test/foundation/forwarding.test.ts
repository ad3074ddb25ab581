// What forwarding keeps of requests whose clients are gone, and which addresses it uses.
import { once } from "node:events";
import { createServer, type IncomingMessage, request, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { PassThrough } from "node:stream";
import { DummyDriver, Kysely, PostgresAdapter, PostgresIntrospector, PostgresQueryCompiler } from "kysely";
import { expect, onTestFinished, test } from "vitest";
import type { Tables } from "../../src/foundation/db/index.ts";
import { addressFrom, openForwarding, reachableUrl } from "../../src/foundation/forwarding/index.ts";
import { silentLog } from "../../src/foundation/telemetry/index.ts";

/** In which no server is known. */
const emptyDatabase = new Kysely<Tables>({
  dialect: {
    createAdapter: () => new PostgresAdapter(),
    createDriver: () => new DummyDriver(),
    createIntrospector: (db) => new PostgresIntrospector(db),
    createQueryCompiler: () => new PostgresQueryCompiler(),
  },
});

const forwarding = openForwarding({
  ...{ db: emptyDatabase, nodeId: "own", key: Buffer.alloc(32), log: silentLog },
  now: () => new Date(),
  clientAddress: () => "127.0.0.1",
});

/** A request whose client is gone before a server is looked for. */
async function abandoned(): Promise<{ request: IncomingMessage; response: ServerResponse }> {
  const server = createServer().listen(0, "127.0.0.1");
  onTestFinished(() => void server.close());
  await once(server, "listening");
  const received = once(server, "request");
  const sent = request({ port: (server.address() as AddressInfo).port, host: "127.0.0.1" }).on("error", () => {});
  sent.end();
  const [incoming, response] = (await received) as [IncomingMessage, ServerResponse];
  const closed = once(response, "close");
  sent.destroy();
  await closed;
  return { request: incoming, response };
}

test("requests whose clients are gone already use up nothing of what a server may forward at once", async () => {
  const gone = await abandoned();
  await expect(forwarding.request(gone, "ghost")).rejects.toThrow("The client has closed its connection.");
  for (let count = 0; count < 1_000; count += 1) {
    const stream = new PassThrough().destroy();
    await once(stream, "close");
    await forwarding
      .socket({ request: gone.request, stream, head: Buffer.alloc(0), of: "preview" }, "ghost")
      .catch(() => {});
  }
  const stream = new PassThrough();
  await expect(
    forwarding.socket({ request: gone.request, stream, head: Buffer.alloc(0), of: "preview" }, "ghost"),
  ).rejects.toThrow("no server has this id");
});

test("workers, which stay connected, leave room for previews; and previews have a limit of their own", async () => {
  const { request } = await abandoned();
  const forward = (of: "preview" | "worker") =>
    forwarding.socket({ request, stream: new PassThrough(), head: Buffer.alloc(0), of }, "ghost");
  const refusals = (answers: PromiseSettledResult<void>[]) =>
    answers.filter((answer) => answer.status === "rejected" && String(answer.reason).includes("too many requests"));
  const workers = await Promise.allSettled(Array.from({ length: 1_001 }, () => forward("worker")));
  expect(refusals(workers)).toEqual([]);
  await expect(forward("preview")).rejects.toThrow("no server has this id");
  const previews = await Promise.allSettled(Array.from({ length: 1_000 }, () => forward("preview")));
  expect(refusals(previews)).not.toEqual([]);
  forwarding.close();
});

test.each([
  ["http://127.0.0.1:7420", null, "http://127.0.0.1:7420", null],
  ["http://[::1]:7420", null, "http://[::1]:7420", null],
  ["http://0.0.0.0:7420", "http://localhost:80", "http://localhost:80", null],
  ["http://0.0.0.0:7420", "https://10.0.0.5", "https://10.0.0.5", "https://10.0.0.5"],
  ["http://10.0.0.5:7420", null, "http://10.0.0.5:7420", "http://10.0.0.5:7420"],
])("a server on %s with internal_url %s is reached from its own machine at %s, from others at %s", (...given) => {
  const [listens, configured, here, elsewhere] = given;
  const advertised = reachableUrl(listens, configured, "machine-a");
  expect(addressFrom(advertised, "machine-a")).toBe(here);
  expect(addressFrom(advertised, "machine-b")).toBe(elsewhere);
});
