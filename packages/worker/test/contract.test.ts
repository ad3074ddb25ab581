// The contract of a workspace over a real worker connection with added latency, and what the latency must not multiply.
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { temporaryDirectory } from "@agentcli/testkit";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { workspaceContract } from "../../workspace/test/contract/contract.ts";
import { bash } from "../../workspace/test/support/commands.ts";
import { withWorkspace } from "../../workspace/test/support/locations.ts";
import { connectTestWorker, type TestNetwork, type WorkerConnection } from "./connection.ts";

const networks: [number, TestNetwork][] = [[40, "loopback"]];
if (process.env.SWEEP === "full") networks.push([40, "network namespaces"], [200, "network namespaces"]);

/** A relay that holds every byte back, not netem: few kernels have that one, and both ends see the same. */
describe.each(networks)("a workspace of a worker that is %i ms away over %s", (roundTripMs, network) => {
  let connection: WorkerConnection;
  let remove: () => Promise<void>;
  beforeAll(async () => {
    const folder = await temporaryDirectory();
    remove = folder.remove;
    connection = await connectTestWorker({ directory: folder.path, delayMs: roundTripMs / 2, network });
  });
  afterAll(async () => {
    await connection.close();
    await remove();
  });

  workspaceContract(["of a worker", () => connection.open()]);

  test("an edit of twelve files is one round trip", () =>
    withWorkspace(
      () => connection.open(),
      async (workspace, directory) => {
        const names = Array.from({ length: 12 }, (_, index) => `file-${index}.txt`);
        for (const name of names) writeFileSync(join(directory, name), "before\n");
        const before = connection.received();
        const result = await workspace.edit({
          edits: names.map((path) => ({ kind: "replace", path, old: "before", new: "after", all: false })),
        });
        expect(result).toMatchObject({ kind: "edited" });
        expect(names.map((name) => readFileSync(join(directory, name), "utf8"))).toEqual(names.map(() => "after\n"));
        // The answer, and at most the credit for the request.
        expect(connection.received() - before).toBeLessThanOrEqual(2);
      },
    ));
});

test("an output of 100 MB arrives, and does not grow the memory of the worker by as much", {
  timeout: 120_000,
}, async () => {
  const folder = await temporaryDirectory();
  const connection = await connectTestWorker({ directory: folder.path, delayMs: 0 });
  onTestFinished(async () => {
    await connection.close();
    await folder.remove();
  });
  const { pid } = connection.worker.child;
  const rss = () => Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1]) * 1024;
  const workspace = await connection.open();
  await bash(workspace, "true");
  const before = rss();
  let [bytes, chunks, peak] = [0, 0, 0];
  const start = { argv: ["bash", "-c", "head -c 100000000 /dev/zero | tr '\\0' x"] };
  const count = (chunk: { text: string }) => {
    bytes += chunk.text.length;
    chunks += 1;
    if (chunks % 100 === 0) peak = Math.max(peak, rss());
  };
  const result = await workspace.exec({ id: "large", start }, count, new AbortController().signal);
  expect(result).toMatchObject({ state: "exited", exitCode: 0 });
  expect(bytes).toBe(100_000_000);
  expect(peak - before).toBeLessThan(60_000_000);
});
