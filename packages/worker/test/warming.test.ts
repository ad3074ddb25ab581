// Warm workers: as many as are missing are started, and one that came and went is missing again.
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { temporaryDirectory } from "@agentcli/testkit";
import { expect, onTestFinished, test } from "vitest";
import type { Controller } from "../src/controller-types.ts";
import { openWarming } from "../src/warming.ts";

test("a warm worker that connected and left between two rounds is replaced in the next", async () => {
  const folder = await temporaryDirectory();
  onTestFinished(folder.remove);
  const stop = new AbortController();
  writeFileSync(join(folder.path, "spawn.sh"), '#!/bin/sh\necho "$PLATFORM_AGENT_WORKER_ID" >> started\n', {
    mode: 0o755,
  });
  let [rounds, looks] = [0, 0];
  const controller = {
    options: { spawn: "spawn.sh", pools: ["gpu"], url: "http://127.0.0.1", readKey: () => "key" },
    program: { environment: { variables: process.env, cwd: folder.path }, signal: stop.signal, log: () => {} },
    api: {
      get: async () => {
        rounds += 1;
        return { pools: [] };
      },
      // Not yet, connected, and gone again.
      exists: async () => {
        looks += 1;
        return looks === 2;
      },
    },
  } as unknown as Controller;
  const work = openWarming(controller, 1, { roundMs: 40, lookMs: 10 });
  await work();
  await work();
  expect(rounds).toBe(2);
  await expect.poll(() => readFileSync(join(folder.path, "started"), "utf8").trim().split("\n")).toHaveLength(2);
});
