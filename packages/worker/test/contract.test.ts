// The contract of a workspace over a real worker connection with added latency, and what the latency must not multiply.
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { temporaryDirectory } from "@agentcli/testkit";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { workspaceContract } from "../../workspace/test/contract/contract.ts";
import { bash } from "../../workspace/test/support/commands.ts";
import { withWorkspace } from "../../workspace/test/support/locations.ts";
import { connectTestWorker, type WorkerConnection } from "./connection.ts";

/** Network namespaces with delays need root; a relay that holds every byte back is the same to both ends. */
describe.each([[40], [200]])("a workspace of a worker that is %i ms away", (roundTripMs) => {
  let connection: WorkerConnection;
  let remove: () => Promise<void>;
  beforeAll(async () => {
    const folder = await temporaryDirectory();
    remove = folder.remove;
    connection = await connectTestWorker(folder.path, roundTripMs / 2);
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

  test("an output of 100 MB arrives, and grows neither side's memory by as much", () =>
    withWorkspace(
      () => connection.open(),
      async (workspace) => {
        const rssOf = (pid: number | undefined) =>
          Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1]) * 1024;
        await bash(workspace, "true");
        const { pid } = connection.worker.child;
        const before = rssOf(pid);
        let [bytes, peak] = [0, 0];
        const start = { argv: ["bash", "-c", "head -c 100000000 /dev/zero | tr '\\0' x"] };
        const count = (chunk: { text: string }) => {
          bytes += chunk.text.length;
          peak = Math.max(peak, rssOf(pid));
        };
        const result = await workspace.exec({ id: "large", start }, count, new AbortController().signal);
        expect(result).toMatchObject({ state: "exited", exitCode: 0 });
        expect(bytes + (result as { droppedBytes: number }).droppedBytes).toBe(100_000_000);
        expect(peak - before).toBeLessThan(100_000_000);
      },
    ));
});
