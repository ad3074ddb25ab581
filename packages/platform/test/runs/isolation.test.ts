// What a hostile model on the platform can see of the machine: nothing of its operator, nothing of other agents.

import { execFile, execFileSync } from "node:child_process";
import { randomBytes, randomUUID } from "node:crypto";
import {
  chmodSync,
  chownSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { homedir } from "node:os";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import { call, replyWith } from "@agentcli/testkit";
import { describe, expect, onTestFinished, test } from "vitest";
import { bundleInto } from "../harness/bundled.ts";
import { openRunHarness, type RunHarness } from "./run-harness.ts";

const isRoot = process.geteuid?.() === 0;
const word = `operator-${randomBytes(8).toString("hex")}`;

/** Directories where operators keep files; an ordinary user can write only some of them. */
const parents = [
  ...["/etc", "/opt", "/srv", "/mnt", "/media", "/home", "/var/lib", "/var/log", "/var/tmp", "/usr/local/etc", "/"],
  homedir(),
];

function hideSecrets(directories: string[]): string[] {
  const made = directories.flatMap((parent) => makeDirectory(parent));
  onTestFinished(() => made.forEach((directory) => void rmSync(directory, { recursive: true })));
  const paths = ["kek", "signing-key", "tls.key", "app.pem", "config.toml"].flatMap((name) =>
    made.map((directory) => join(directory, name)),
  );
  for (const path of paths) writeFileSync(path, `${word}-content`, { mode: 0o644 });
  // Readable by all: only the sandbox is in the way.
  for (const directory of made) chmodSync(directory, 0o755);
  return paths;
}

function makeDirectory(parent: string): string[] {
  try {
    return [mkdtempSync(join(parent, `${word}-`))];
  } catch {
    return [];
  }
}

/** The output of a command as the model got it. */
function outputIn({ requests }: RunHarness): string {
  return JSON.stringify(requests().at(-1)?.body);
}

test("the operator's keys and configuration and another agent's files cannot be read or listed, wherever they are", async () => {
  const secrets = hideSecrets(parents);
  if (isRoot) expect(new Set(secrets.map((path) => dirname(path))).size).toBeGreaterThanOrEqual(10);
  // The agent works in DATA/workspaces/AGENT/workspace.
  const inData = ["kek", "signing-key", "config.toml", "workspaces/*/workspace/*.txt"].map(
    (path) => `"\${PWD%/workspaces/*}"/${path}`,
  );
  const harness = await openRunHarness({
    replies: [
      call("exec_command", { cmd: `echo ${word} > ${word}.txt` }),
      replyWith("Written."),
      call("exec_command", { cmd: attackOn([...secrets, ...inData]), yield_time_ms: 30_000 }),
      replyWith("Tried."),
    ],
  });
  const { client, dataDirectory } = harness;
  const neighbour = await client.create({ prompt: { text: "write" } });
  await client.stream(neighbour);
  expect(existsSync(join(dataDirectory, "workspaces", neighbour.agentId, "workspace", `${word}.txt`))).toBe(true);
  expect(existsSync(join(dataDirectory, "kek"))).toBe(true);
  writeFileSync(join(dataDirectory, "config.toml"), word);
  const attacker = await client.create({ prompt: { text: "attack" } });
  await client.stream(attacker);
  expectNothingSeen(outputIn(harness));
});

/** The word itself is not in the command, so that it is in the output only if a command found it. */
function attackOn(paths: string[]): string {
  const [first, second] = [word.slice(0, 9), word.slice(9)];
  const named = paths.map((path) => path.replaceAll(word, '"$w"'));
  return [
    `w='${first}''${second}'`,
    `for p in ${named.join(" ")}; do cat "$p"; test -e "$p" && echo "$w"; done 2>/dev/null`,
    `find / -name "*$w*" -not -path '/proc/*' 2>/dev/null`,
    "echo finished as $(id -u)",
  ].join("; ");
}

function expectNothingSeen(output: string): void {
  expect(output).toContain("finished as ");
  expect(output).not.toContain(word);
}

/** Of all private directories together. */
const temporarySizes =
  "df --output=size -B1 /tmp /var/tmp /run /dev/shm | awk 'NR > 1 { sum += $1 } END { print sum }'";

const isAble = (user: string) => isRoot || user === "an ordinary user";

describe.each(["root", "an ordinary user"].filter(isAble))("a server that runs as %s", (user) => {
  /** What a script in the sandbox of an agent prints. */
  async function openServer() {
    const directory = mkdtempSync("/var/tmp/isolation-");
    onTestFinished(() => {
      // An ordinary user cannot empty a directory that an agent closed.
      execFileSync("chmod", ["-R", "u+rwX", directory]);
      rmSync(directory, { recursive: true });
    });
    chmodSync(directory, 0o755);
    const [data, programs] = [join(directory, "data"), join(directory, "programs")];
    mkdirSync(data);
    cpSync(join(import.meta.dirname, "../../dist"), programs, { recursive: true });
    const child = await bundleInto(directory, "runs/sandbox-child.ts");
    const drops = isRoot && user === "an ordinary user";
    const lowered = ["setpriv", `--reuid=${unprivilegedId}`, `--regid=${unprivilegedId}`, "--clear-groups", "--"];
    const run = async (script: string, limits: object = {}) => {
      if (drops) chownSync(data, unprivilegedId, unprivilegedId);
      const call = [process.execPath, child, data, programs, script, JSON.stringify(limits)];
      const [program = "", ...args] = [...(drops ? lowered : []), ...call];
      const { stdout } = await promisify(execFile)(program, args, { cwd: "/", env: { PATH: process.env.PATH } });
      return stdout;
    };
    return { data, run };
  }

  test("limits memory, processes, the private /tmp and the disk space of its agents, also in directories that they close", async () => {
    const { run } = await openServer();
    const memory = `perl -e '$x = "x" x (600 * 1024 * 1024); print "TA", "KEN"'; echo "exit code $?"`;
    const taken = await run(`${temporarySizes}; ${memory}`, { memory: "300m", tmp: "16m" });
    expect(taken).toContain(String(16 * 1024 ** 2));
    expect(taken).toMatch(/exit code [1-9]/);
    expect(taken).not.toContain("TAKEN");
    const flood = "for i in $(seq 300); do sleep 600 & done 2>&1 | grep -m1 -o 'Resource temporarily unavailable'";
    expect(await run(flood, { processes: 100 })).toContain("Resource temporarily unavailable");
    const fill = "for i in 1 2 3 4 5; do head -c 3M /dev/zero > hidden/$i; done; chmod 0 hidden; sleep 600";
    expect(await run(`mkdir hidden; ${fill}`, { disk: "8m" })).toContain("disk limit exceeded");
  });

  test("limits what its agents keep without a name: files that they have deleted but hold open or mapped, and /dev", async () => {
    const { run } = await openServer();
    const device = "head -c 32M /dev/zero > /dev/fill && echo FILLED; echo x > /dev/null && echo usable";
    const taken = await run(device, { tmp: "16m" });
    expect(taken).not.toContain("FILLED");
    expect(taken).toContain("usable");
    const open = 'for i in 1 2 3 4 5; do exec {fd}> f$i; rm f$i; head -c 3M /dev/zero >&"$fd"; done; sleep 600';
    expect(await run(open, { disk: "8m" })).toContain("disk limit exceeded");
    const mmap = process.arch === "arm64" ? 222 : 9;
    const hold = `open $f, "+>", "f"; unlink "f"; print $f "x" x 3145728; $f->flush; syscall(${mmap}, 0, 3145728, 3, 1, fileno $f, 0)`;
    const map = `perl -MIO::Handle -e 'for (1 .. 5) { ${hold}; close $f } sleep 600'`;
    expect(await run(map, { disk: "8m" })).toContain("disk limit exceeded");
  });

  test("shows its agents only programs of the system and their own files", async () => {
    const { data, run } = await openServer();
    const secrets = hideSecrets([...parents, data]);
    const script = `${attackOn([...secrets, join(data, "other")])}; echo mine > own; cat own; ls -d /etc/shadow /root /home /opt /srv`;
    const stdout = await run(script);
    expectNothingSeen(stdout);
    expect(stdout).toContain("mine\n");
    for (const path of ["/etc/shadow", "/root", "/home", "/opt", "/srv"])
      expect(stdout).toContain(`cannot access '${path}'`);
    expect(stdout).not.toContain("finished as 0");
  });
});

const unprivilegedId = 65534;

test("each agent works as a user of its own where the server runs as root, and owns its files and nothing else", async () => {
  const work = {
    cmd: 'git add -A 2>/dev/null; id -u; echo new > made; git add made && git commit -qm "made" && git status --short; git log -1 --format=%s; cat /etc/passwd; cat /proc/self/status | grep -E "CapEff|NoNewPrivs"; echo x > "$PLATFORM_ARTIFACTS_DIR/a"',
  };
  const harness = await openRunHarness({
    replies: {
      replies: [call("exec_command", work), replyWith("One."), call("exec_command", work), replyWith("Two.")],
    },
  });
  const { client, dataDirectory, repository } = harness;
  const url = await repository("own-user", { "README.md": "hello\n" });
  const owners: number[] = [];
  for (const name of ["one", "two"]) {
    const ids = await client.create({ prompt: { text: name }, repos: [{ url }] });
    await client.stream(ids);
    expect(await client.read(ids)).toMatchObject({
      status: "FINISHED",
      git: { branches: [{ branch: expect.any(String) }] },
    });
    const directory = join(dataDirectory, "workspaces", ids.agentId);
    const owner = statSync(join(directory, "own-user/made")).uid;
    expect(outputIn(harness)).toContain(`agent:x:${owner}:`);
    expect(statSync(directory).uid).toBe(owner);
    owners.push(owner);
    const { bytes } = await client.send("GET", `/v1/agents/${ids.agentId}/artifacts`);
    expect(bytes.toString()).toContain("artifacts/a");
  }
  if (isRoot) {
    expect(new Set(owners).size).toBe(2);
    expect(Math.min(...owners)).toBeGreaterThanOrEqual(1_900_000_000);
  } else expect(new Set(owners)).toEqual(new Set([process.geteuid?.()]));
  expect(outputIn(harness)).toContain("CapEff:\\t0000000000000000");
});

test("an agent whose files outgrow the limit is stopped with storage_full, and may delete them in a follow-up", async () => {
  const { client } = await openRunHarness({
    replies: [
      call("exec_command", { cmd: "for i in 1 2 3 4 5; do head -c 3M /dev/zero > file$i; done" }),
      { messages: ["Never sent."], stall: "before-headers" },
      call("exec_command", { cmd: "rm file*" }),
      replyWith("Clean."),
    ],
    models: { limits: { disk: "8m" } },
  });
  // The directories of an agent whose id the client chose have another name.
  const ids = await client.create({ prompt: { text: "fill" }, agentId: `bc-${randomUUID()}` });
  await client.stream(ids);
  expect(await client.read(ids)).toMatchObject({
    status: "ERROR",
    error: { code: "storage_full", message: expect.stringContaining("limits.disk") },
  });
  const next = await client.followUp(ids.agentId, { prompt: { text: "clean" } });
  await client.stream(next);
  expect(await client.read(next)).toMatchObject({ status: "FINISHED", result: "Clean." });
});

test("limits.memory and limits.processes of the configuration hold for commands of agents", async () => {
  const hog = `perl -e '$x = "x" x (400 * 1024 * 1024); print "TA", "KEN"'; ${temporarySizes}`;
  const harness = await openRunHarness({
    replies: { replies: [call("exec_command", { cmd: hog }), replyWith("Done.")] },
    models: { limits: { memory: "200m", processes: 100, tmp: "16m" } },
  });
  const ids = await harness.client.create({ prompt: { text: "take" } });
  await harness.client.stream(ids);
  const output = outputIn(harness);
  expect(output).not.toContain("TAKEN");
  // A quarter is for the copy of its repository.
  expect(output).toContain(String(12 * 1024 ** 2));
});

test("agents do not run while a secret of the operator is in a directory that they can read", async () => {
  const directory = join(homedir(), `${word}-tools`);
  mkdirSync(directory);
  onTestFinished(() => rmSync(directory, { recursive: true }));
  const harness = await openRunHarness({
    replies: [replyWith("Never.")],
    settings: {
      readableDirectories: [directory],
      signingKey: { path: join(directory, "signing-key"), isGiven: false },
    },
  });
  const ids = await harness.client.create({ prompt: { text: "go" } });
  await harness.client.stream(ids);
  expect(await harness.client.read(ids)).toMatchObject({
    status: "ERROR",
    error: { message: expect.stringContaining(`${directory}, which agents can read`) },
  });
});
