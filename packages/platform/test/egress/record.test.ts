// What is kept of the hosts that a run has reached and was refused, when there are more than the list takes.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { EgressEntry, RunEgress } from "@agentcli/protocol/api";
import { afterAll, expect, test } from "vitest";
import { openEgressRecord, readEgress } from "../../src/egress/record.ts";
import { makeKeyFile, readKeyFile } from "../../src/foundation/vault/key-file.ts";
import { vaultOf } from "../../src/foundation/vault/vault.ts";

const directory = mkdtempSync(join(tmpdir(), "record-"));
afterAll(() => rmSync(directory, { recursive: true }));

const maxEntries = 500;
const refuse = (host: string) => ({
  host,
  port: 0,
  by: "allowlist" as const,
  rule: "list",
  reason: `${host} is not listed`,
});
const reach = (host: string) => ({ host, port: 443, bytesSent: 10, bytesReceived: 20 });

/** What is stored after these connections. */
async function record(connect: (record: Awaited<ReturnType<typeof openEgressRecord>>) => void): Promise<RunEgress> {
  const path = join(mkdtempSync(join(directory, "run-")), "key");
  makeKeyFile(path);
  const encryption = readKeyFile(path);
  if (encryption === null) throw new Error("No key.");
  const { key } = await vaultOf(encryption).newDataKey();
  let stored: Buffer | null = null;
  const opened = await openEgressRecord({
    ...{ key, runId: "run-1", isResumed: false, scrub: (text) => text, now: () => new Date(0) },
    policy: { mode: "allow_all", source: "server", locked: false, allowed: ["*"] },
    // Of runs that go on alone.
    db: undefined as never,
    store: async (sealed) => {
      stored = sealed;
    },
  });
  connect(opened);
  await opened.close();
  return readEgress({ id: "run-1", egress: stored }, key);
}

const hostsOf = (items: EgressEntry[], decision: EgressEntry["decision"]) =>
  items.filter((entry) => entry.decision === decision).map(({ host }) => host);

test("a program that is refused hundreds of names does not hide which hosts are reached after that", async () => {
  const { items, omitted } = await record(({ onDenied, onTraffic }) => {
    for (let index = 0; index < 600; index += 1) onDenied(refuse(`n${index}.example`));
    onTraffic(reach("first.example"));
    onTraffic(reach("second.example"));
    onTraffic(reach("first.example"));
    onDenied(refuse("late.example"));
  });
  expect(items).toHaveLength(maxEntries);
  expect(hostsOf(items, "allowed")).toEqual(["first.example", "second.example"]);
  expect(hostsOf(items, "denied")).toContain("n0.example");
  expect(omitted).toBe(600 + 2 + 1 - maxEntries);
});

test("more hosts that are reached than the list takes are counted", async () => {
  const { items, omitted } = await record(({ onTraffic, onDenied }) => {
    onDenied(refuse("refused.example"));
    for (let index = 0; index < maxEntries + 7; index += 1) onTraffic(reach(`n${index}.example`));
  });
  expect(hostsOf(items, "allowed")).toHaveLength(maxEntries);
  expect(omitted).toBe(1 + 7);
});
