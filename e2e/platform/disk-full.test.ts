// A data directory on a small file system that is filled at different moments: runs end with storage_full, the server says
// so, and continues by itself once there is space.
import { closeSync, openSync, readFileSync, rmSync, statfsSync, writeSync } from "node:fs";
import { join } from "node:path";
import { type Reply, replyWith, stall, temporaryDirectory } from "@agentcli/testkit";
import {
  openClient,
  openPlatform,
  openPlatformForTest,
  type PlatformClient,
  type PlatformHarness,
  type PlatformServer,
  type RunIds,
  sendRequest,
} from "@agentcli/testkit/platform";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";

const mebibyte = 1024 ** 2;

/** Starts a program with a small file system in place of the directory, also without privileges. */
function onSmallDisk(directory: string, mebibytes: number): string[] {
  const mount = `mkdir -p "$1" && mount -t tmpfs -o size=${mebibytes}m,mode=755 none "$1" && shift`;
  if (process.geteuid?.() === 0)
    return ["unshare", "--mount", "bash", "-c", `${mount} && exec "$@"`, "bash", directory];
  const unprivileged = "setpriv --inh-caps=-all --ambient-caps=-all";
  const namespaces = ["unshare", "--mount", "--map-current-user", "--keep-caps"];
  return [...namespaces, "bash", "-c", `${mount} && exec ${unprivileged} "$@"`, "bash", directory];
}

interface SmallDisk {
  /** Seen from outside of the server's mounts. */
  path: string;
  /** Leaves this many bytes. */
  fill(leaving?: number): void;
  free(): void;
}

function openDisk(server: PlatformServer, directory: string): SmallDisk {
  const path = `/proc/${server.child.pid}/root${directory}`;
  const filler = join(path, "filler");
  return {
    path,
    fill(leaving = 0) {
      const chunk = Buffer.alloc(65_536, 1);
      const file = openSync(filler, "a");
      try {
        while (spaceOf(path) > leaving) writeSync(file, chunk, 0, Math.min(chunk.length, spaceOf(path) - leaving));
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== "ENOSPC") throw error;
      } finally {
        closeSync(file);
      }
    },
    free: () => rmSync(filler, { force: true }),
  };
}

function spaceOf(path: string): number {
  const { bavail, bsize } = statfsSync(path);
  return bavail * bsize;
}

const shell = (name: string, cmd: string): Reply[] => [
  replyWith("Done.", { when: { bodyIncludes: `"call_${name}"` } }),
  {
    calls: [{ name: "exec_command", arguments: { cmd }, callId: `call_${name}` }],
    when: { bodyIncludes: `do ${name}` },
  },
];

const big = "head -c 200000000 /dev/zero";
const script: Reply[] = [
  ...shell("waiting", "echo begun; sleep 600"),
  ...shell("writing", `${big} > big; sleep 600`),
  ...shell("flooding", "head -c 500000000 /dev/zero > big; sleep 600"),
  ...shell("home", `${big} > ~/big; sleep 600`),
  ...shell("artifact", `${big} > "$PLATFORM_ARTIFACTS_DIR/big"; sleep 600`),
  ...shell(
    "patching",
    `head -c 60000000 /dev/urandom > "$(ls -d */ | head -1)data.bin" || head -c 60000000 /dev/urandom > data.bin`,
  ),
  ...shell(
    "keeping",
    'head -c 30000000 /dev/zero > "$PLATFORM_ARTIFACTS_DIR/large"; echo small > "$PLATFORM_ARTIFACTS_DIR/small"',
  ),
  { ...stall("before-headers"), when: { bodyIncludes: "do thinking" } },
  { ...stall(1), when: { bodyIncludes: "do talking" } },
  replyWith("Done."),
];

describe("with a database elsewhere", () => {
  let harness: PlatformHarness;
  let server: PlatformServer;
  let client: PlatformClient;
  let disk: SmallDisk;
  let repository: string;
  beforeAll(async () => {
    harness = await openPlatform({ replies: { replies: script, repeat: "always" } });
    const env = { PLATFORM_KEK_FILE: join(harness.directory, "kek") };
    await harness.run(["keys", "create", "--name", "first"], env);
    server = await harness.serve({ env, within: onSmallDisk(harness.data, 192) });
    disk = openDisk(server, harness.data);
    const key = (await harness.run(["keys", "create", "--name", "test"], env)).stdout.trim();
    client = openClient(server.url, key);
    const source = await temporaryDirectory({ "README.md": "hello\n" });
    const created = await harness.run(["repos", "create", "shop", "--from", source.path], {
      ...env,
      PLATFORM_DATA: disk.path,
    });
    await source.remove();
    repository = created.stdout.trim();
  });
  afterEach(() => disk.free());
  afterAll(() => harness.close());

  const readiness = async () => {
    const { status, body } = await sendRequest(server.url, { method: "GET", path: "/readyz" });
    return { status, reason: (body as { reason?: string }).reason };
  };
  const create = (prompt: string, more = {}) => client.create({ prompt: { text: prompt }, ...more });
  const untilCommand = async (ids: RunIds) => {
    const seen = new AbortController();
    await client.follow(ids, ({ event }) => event === "tool_call" && seen.abort(), seen.signal);
  };
  const untilAsked = (prompt: string) =>
    expect.poll(() => JSON.stringify(harness.requests().map(({ body }) => body))).toContain(prompt);
  const withRepository = () => ({ repos: [{ url: repository }] });

  const moments: Record<string, () => Promise<RunIds>> = {
    "before the run is created": async () => {
      disk.fill();
      return create("do nothing");
    },
    "before a run with a repository is created": async () => {
      disk.fill();
      return create("do nothing", withRepository());
    },
    "while the model thinks": async () => {
      const ids = await create("do thinking");
      await untilAsked("do thinking");
      disk.fill();
      return ids;
    },
    "while the model replies": async () => {
      const ids = await create("do talking");
      await untilAsked("do talking");
      disk.fill();
      return ids;
    },
    "while a command runs": async () => {
      const ids = await create("do waiting");
      await untilCommand(ids);
      disk.fill();
      return ids;
    },
    "while a command runs in a repository": async () => {
      const ids = await create("do waiting", withRepository());
      await untilCommand(ids);
      disk.fill();
      return ids;
    },
    "by a command in its workspace": () => create("do writing"),
    "by a command in its home directory": () => create("do home"),
    "by a command that writes an artifact": () => create("do artifact"),
    "by the commit of its work": async () => {
      disk.fill(100 * mebibyte);
      return create("do patching", withRepository());
    },
  };

  test.each(Object.keys(moments))("filled %s: storage_full, and recovery by itself", async (moment) => {
    const ids = (await moments[moment]?.()) as RunIds;
    const run = await client.waitForRun(ids);
    expect(run).toMatchObject({ status: "ERROR", error: { code: "storage_full" } });
    expect(run.error?.message).toContain("Ask an administrator to free space");
    await client.delete(`/v1/agents/${ids.agentId}`);
    disk.free();
    await expect.poll(readiness).toMatchObject({ status: 200 });
    expect(await client.waitForRun(await create("do nothing"))).toMatchObject({ status: "FINISHED" });
  });

  test("/readyz, doctor and the log say storage_full while the disk is full, and a follow-up works after that", async () => {
    const ids = await create("do waiting");
    await untilCommand(ids);
    disk.fill();
    await client.waitForRun(ids);
    expect(await readiness()).toMatchObject({ status: 503, reason: expect.stringContaining("storage_full") });
    expect(server.log().join("\n")).toMatch(/"level":"warn","event":"storage.full","code":"storage_full"/);
    const doctor = await harness.run(["doctor"], { PLATFORM_DATA: disk.path });
    expect(doctor).toMatchObject({ code: 1, stdout: expect.stringMatching(/^FAIL storage: storage_full/m) });
    disk.free();
    await expect.poll(readiness).toMatchObject({ status: 200 });
    expect(server.log().join("\n")).toContain('"event":"storage.available"');
    const next = await client.followUp(ids.agentId, { prompt: { text: "do nothing" } });
    expect(await client.waitForRun(next)).toMatchObject({ status: "FINISHED" });
  });

  test("an artifact for which there is no space is listed on the run, and kept once there is", async () => {
    disk.fill(45 * mebibyte);
    const ids = await create("do keeping");
    const large = { path: "artifacts/large", reason: "storage_full" };
    expect(await client.waitForRun(ids)).toMatchObject({ unsavedArtifacts: [large] });
    disk.free();
    await expect.poll(async () => (await client.read(ids)).unsavedArtifacts).toBeUndefined();
    const { items } = await client.getJson<{ items: object[] }>(`/v1/agents/${ids.agentId}/artifacts`);
    expect(items).toMatchObject([{ path: "artifacts/large" }, { path: "artifacts/small" }]);
  });
});

test("with the embedded database on the same disk the run ends with storage_full, and all goes on once there is space", async () => {
  const harness = await openPlatformForTest({ database: "embedded", replies: { replies: script, repeat: "always" } });
  const keyFile = join(harness.directory, "key");
  // Before the server: no other process sees its disk.
  const createKey = ["bash", "-c", '"$1" "$2" keys create --name test > "$0" && exec "$@"', keyFile];
  const server = await harness.serve({ within: [...onSmallDisk(harness.data, 384), ...createKey] });
  const client = openClient(server.url, readFileSync(keyFile, "utf8").trim());
  const ids = await client.create({ prompt: { text: "do flooding" } });
  await expect
    .poll(async () => (await client.get(`/v1/agents/${ids.agentId}/runs/${ids.runId}`)).body)
    .toMatchObject({ status: "ERROR", error: { code: "storage_full" } });
  await client.delete(`/v1/agents/${ids.agentId}`);
  await expect.poll(async () => (await sendRequest(server.url, { method: "GET", path: "/readyz" })).status).toBe(200);
  expect(await client.waitForRun(await client.create({ prompt: { text: "do nothing" } }))).toMatchObject({
    status: "FINISHED",
  });
  await server.stop();
});

test("a first start on a full disk is refused, and says what to do", async () => {
  const harness = await openPlatformForTest();
  const within = onSmallDisk(harness.data, 1);
  const fill = ["bash", "-c", 'head -c 2000000 /dev/zero > "$0/filler" 2>/dev/null; exec "$@"', harness.data];
  await expect(harness.serve({ within: [...within, ...fill] })).rejects.toThrow(
    /ERROR: storage_full: the disk of .*data is full\. Free space there, then start again\./,
  );
});
