// Many runs on one server: what each of them used is given back. npm run test:long does 500.
import { existsSync, mkdirSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { type Reply, replyWith } from "@agentcli/testkit";
import { openPlatformForTest, type PlatformClient, type PlatformServer } from "@agentcli/testkit/platform";
import { expect, test } from "vitest";

const isFull = process.env.SWEEP === "full";
const count = isFull ? 500 : 10;
const concurrent = 5;

const script: Reply[] = [
  replyWith("Done.", { when: { bodyIncludes: '"call_work"' } }),
  {
    calls: [
      {
        name: "exec_command",
        arguments: { cmd: 'echo work > file; echo result > "$PLATFORM_ARTIFACTS_DIR/result.txt"; cp file /tmp/copy' },
        callId: "call_work",
      },
    ],
  },
];

test(`after ${count} runs memory, descriptors, processes, cgroups and temporary files are back to where they were`, {
  timeout: isFull ? 3_600_000 : 180_000,
}, async () => {
  const harness = await openPlatformForTest({ replies: { replies: script, repeat: "always" } });
  const temporary = join(harness.directory, "tmp");
  mkdirSync(temporary);
  const server = await harness.serve({ env: { TMPDIR: temporary } });
  const client = await harness.client(server);
  // What is loaded and opened once is there after these.
  await runMany(client, concurrent);
  const before = resources(server, harness.data, temporary);
  const memoryBefore = memoryOf(server);
  await runMany(client, count);
  const { descriptors, ...others } = before;
  await expect.poll(() => resources(server, harness.data, temporary)).toMatchObject(others);
  // The pool of connections to the database may have grown meanwhile.
  await expect
    .poll(() => resources(server, harness.data, temporary).descriptors)
    .toBeLessThanOrEqual(descriptors + databaseConnections);
  if (isFull) expect(memoryOf(server)).toBeLessThan(memoryBefore + 128 * 1024);
});

const databaseConnections = 20;

async function runMany(client: PlatformClient, runs: number): Promise<void> {
  let left = runs;
  const work = async () => {
    while (left-- > 0) {
      const ids = await client.create({ prompt: { text: "work" } });
      expect(await client.waitForRun(ids)).toMatchObject({ status: "FINISHED" });
      expect((await client.delete(`/v1/agents/${ids.agentId}`)).status).toBe(200);
    }
  };
  await Promise.all(Array.from({ length: concurrent }, work));
}

function resources({ child }: PlatformServer, data: string, temporary: string) {
  return {
    descriptors: readdirSync(`/proc/${child.pid}/fd`).length,
    processes: childrenOf(child.pid ?? 0).length,
    cgroups: cgroupsOf(child.pid ?? 0),
    temporaryFiles: readdirSync(temporary),
    workspaces: readdirSync(join(data, "workspaces")),
    artifacts: existsSync(join(data, "artifacts")) ? readdirSync(join(data, "artifacts")) : [],
  };
}

/** In KiB. */
const memoryOf = ({ child }: PlatformServer): number =>
  Number(/^VmRSS:\s+(\d+)/m.exec(readFileSync(`/proc/${child.pid}/status`, "utf8"))?.[1]);

const childrenOf = (pid: number): number[] =>
  readdirSync(`/proc/${pid}/task`).flatMap((thread) =>
    readFileSync(`/proc/${pid}/task/${thread}/children`, "utf8").split(" ").filter(Boolean).map(Number),
  );

/** Their names have the process that created them. */
function cgroupsOf(pid: number): string[] {
  const own = readFileSync(`/proc/${pid}/cgroup`, "utf8").trim().split("\n");
  return own.flatMap((line) => {
    const [, controllers = "", path = "/"] = /^\d+:([^:]*):(.*)$/.exec(line) ?? [];
    const directory = join("/sys/fs/cgroup", controllers, path);
    return existsSync(directory) ? readdirSync(directory).filter((name) => name.startsWith(`agentcli-${pid}-`)) : [];
  });
}
