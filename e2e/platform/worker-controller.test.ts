// Controllers: a pool without a worker gets one for each request, and has none when they are done.

import { spawn } from "node:child_process";
import { once } from "node:events";
import { chmodSync, existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { projectRoot, type Reply } from "@agentcli/testkit";
import { openClient, type ServedPlatform, servePlatformForTest } from "@agentcli/testkit/platform";
import { expect, onTestFinished, test } from "vitest";

const program = join(projectRoot, "packages/worker/bin/agent.cjs");
const done: Reply = { messages: ["All done."], when: { bodyIncludes: '"call_work"' } };
const work: Reply = {
  calls: [{ name: "exec_command", arguments: { cmd: "echo worked > done.txt" }, callId: "call_work" }],
};

const openPlatform = () => servePlatformForTest({ replies: { replies: [done, work], repeat: "always" } });

/** A script that starts a worker with what it is given, and leaves it alone. */
function spawnScript(directory: string, flags: string): string {
  const path = join(directory, "start-worker.sh");
  const start = `"${process.execPath}" "${program}" worker start --data-dir "${directory}/$PLATFORM_AGENT_WORKER_ID" ${flags}`;
  const lines = [
    "#!/bin/sh",
    `env | grep '^PLATFORM_' | sort > "${directory}/$PLATFORM_AGENT_WORKER_ID.env"`,
    `setsid ${start} > "${directory}/$PLATFORM_AGENT_WORKER_ID.log" 2>&1 < /dev/null &`,
    `echo $! >> "${directory}/pids"`,
  ];
  writeFileSync(path, `${lines.join("\n")}\n`);
  chmodSync(path, 0o755);
  return path;
}

interface RunningController {
  log(): string;
  stop(): Promise<void>;
}

function startController({ harness, server }: ServedPlatform, key: string, args: string[]): RunningController {
  const child = spawn(process.execPath, [program, "worker", "controller", ...args], {
    cwd: harness.directory,
    env: { PATH: process.env.PATH, HOME: harness.directory, PLATFORM_BACKEND_URL: server.url, PLATFORM_API_KEY: key },
    stdio: ["ignore", "ignore", "pipe"],
  });
  const lines: string[] = [];
  createInterface(child.stderr).on("line", (line) => lines.push(line));
  const exited = once(child, "exit");
  const stop = async () => {
    child.kill("SIGTERM");
    await exited;
  };
  onTestFinished(async () => {
    await stop();
    const pids = join(harness.directory, "pids");
    for (const pid of existsSync(pids) ? readFileSync(pids, "utf8").trim().split("\n") : [])
      try {
        process.kill(Number(pid), "SIGKILL");
      } catch {
        // It has ended.
      }
  });
  return { log: () => lines.join("\n"), stop };
}

const countWorkers = async ({ server }: ServedPlatform, account: string): Promise<number> => {
  const { teamSummary } = await openClient(server.url, account).getJson<{ teamSummary: { totalConnected: number } }>(
    "/v1/workers/summary",
  );
  return teamSummary.totalConnected;
};

test("a pool goes from no worker to five and back to none", async () => {
  const platform = await openPlatform();
  const client = await platform.client();
  const account = await platform.harness.key("--service-account");
  const controller = openClient(platform.server.url, account);
  await controller.post("/v1/pools", { scope: "team", poolName: "elastic" });
  const script = spawnScript(platform.harness.directory, "--idle-release-timeout 2");
  const running = startController(platform, account, ["--spawn", script, "--pool", "elastic", "--session-token"]);
  expect(await countWorkers(platform, account)).toBe(0);
  const env = { type: "pool", name: "elastic" } as const;
  const all = await Promise.all(["a", "b", "c", "d", "e"].map((text) => client.create(text, { env })));
  const runs = await Promise.all(all.map((ids) => client.waitForRun(ids)));
  expect(
    runs.map(({ status }) => status),
    running.log(),
  ).toEqual(all.map(() => "FINISHED"));
  const names = new Set(runs.map(({ machine }) => machine?.reason));
  expect(names.size).toBe(5);
  // The token of the claim reached the workers, and the key of the pool did not.
  const [workerId = ""] = /worker-[0-9a-f-]+/.exec(running.log()) ?? [];
  const given = readFileSync(join(platform.harness.directory, `${workerId}.env`), "utf8");
  expect(given).toContain("PLATFORM_AUTH_TOKEN=plw_");
  expect(given).not.toContain(account);
  await expect.poll(() => countWorkers(platform, account)).toBe(0);
  // An agent whose worker is gone gets a new one.
  const again = await client.followUp(all[0]?.agentId ?? "", "go on");
  expect(await client.waitForRun(again)).toMatchObject({ status: "FINISHED" });
});

test("a worker that sleeps is started again under its id, and finds what its agent left", async () => {
  const platform = await openPlatform();
  const client = await platform.client();
  const account = await platform.harness.key("--service-account");
  const api = openClient(platform.server.url, account);
  await api.post("/v1/pools", { scope: "team", poolName: "sleepy", workerReadyTimeoutSeconds: 100 });
  const script = spawnScript(platform.harness.directory, "--idle-release-timeout 0");
  const running = startController(platform, account, ["--spawn", script, "--all-pools", "--session-token"]);
  const first = await client.create("work", { env: { type: "pool", name: "sleepy" } });
  const before = await client.waitForRun(first);
  expect(before, running.log()).toMatchObject({ status: "FINISHED" });
  const pid = Number(readFileSync(join(platform.harness.directory, "pids"), "utf8"));
  process.kill(pid, "SIGKILL");
  await expect.poll(() => countWorkers(platform, account)).toBe(0);
  const second = await client.followUp(first.agentId, "go on");
  const after = await client.waitForRun(second);
  expect(after, running.log()).toMatchObject({ status: "FINISHED", machine: before.machine });
});

test("a request whose worker cannot be started fails with the reason of the script", async () => {
  const platform = await openPlatform();
  const client = await platform.client();
  const account = await platform.harness.key("--service-account");
  await openClient(platform.server.url, account).post("/v1/pools", { scope: "team", poolName: "broken" });
  const script = join(platform.harness.directory, "broken.sh");
  writeFileSync(script, "#!/bin/sh\necho 'no capacity in zone b' >&2\nexit 7\n", { mode: 0o755 });
  startController(platform, account, ["--spawn", script, "--pool", "broken"]);
  const ids = await client.create("work", { env: { type: "pool", name: "broken" } });
  const run = await client.waitForRun(ids);
  expect(run).toMatchObject({ status: "ERROR", error: { code: "worker_lost" } });
  expect(run.error?.message).toContain("exit code 7. no capacity in zone b");
});
