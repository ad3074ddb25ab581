import { readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { call, type ModelServer, replyWith, startModelServer } from "@agentcli/testkit";
import { type FakeGithub, startGithub } from "@agentcli/testkit/github";
import { expect, onTestFinished, test } from "vitest";
import { openRunner, type Runner } from "./runner.ts";

// Users, sudo and mounts of a scratch root need root, as a runner's image does.
const isRoot = process.getuid?.() === 0;
const key = "sk-action-0123456789-abcdefghijklmnop";
const control = "control-9876543210-zyxwvutsrqponm";

/** Looks for both words wherever its user can read; no file contains them whole. */
const search = (words: string[]): string => `const fs = require("node:fs"), path = require("node:path");
const words = ${JSON.stringify(words.map((word) => [word.slice(0, 9), word.slice(9)]))}.map((halves) => halves.join(""));
const found = new Set();
const look = (where, bytes) => words.forEach((word, index) => bytes.includes(word) && found.add(index + " " + where));
const read = (file) => { try { look(file.replace(/\\d+/g, "N"), fs.readFileSync(file)); } catch {} };
for (const pid of fs.readdirSync("/proc").filter((name) => /^\\d+$/.test(name) && name !== String(process.pid))) {
  for (const file of ["environ", "cmdline"]) read("/proc/" + pid + "/" + file);
  try {
    const memory = fs.openSync("/proc/" + pid + "/mem", "r");
    for (const line of fs.readFileSync("/proc/" + pid + "/maps", "utf8").split("\\n")) {
      const [, from, to] = /^(\\w+)-(\\w+) rw/.exec(line) ?? [];
      const size = from ? parseInt(to, 16) - parseInt(from, 16) : 0;
      if (size === 0 || size > 1 << 26) continue;
      const bytes = Buffer.alloc(size);
      try { fs.readSync(memory, bytes, 0, size, BigInt("0x" + from)); look("/proc/N/mem", bytes); } catch {}
    }
  } catch {}
}
const walk = (folder) => { let entries = []; try { entries = fs.readdirSync(folder, { withFileTypes: true }); } catch {}
  for (const entry of entries) { const file = path.join(folder, entry.name);
    if (entry.isDirectory()) walk(file); else if (entry.isFile()) read(file); } };
for (const folder of ["/home", "/tmp", "/var", "/run", "/etc", "/dev/shm", "/opt/action"]) walk(folder);
console.log(JSON.stringify([...found].sort()));`;

interface Scenario {
  runner: Runner;
  model: ModelServer;
  github: FakeGithub;
  use(inputs: Record<string, string>): ReturnType<Runner["use"]>;
}

async function openScenario(replies: Parameters<typeof startModelServer>[0]): Promise<Scenario> {
  const runner = await openRunner();
  const model = await startModelServer(replies);
  const github = await startGithub();
  onTestFinished(async () => {
    await model.close();
    await github.close();
  });
  await github.addRepository("acme/shop", { collaborators: ["ada"] });
  github.accounts.push({ login: "ada", type: "User", permissions: { "acme/shop": "write" } });
  writeFileSync(join(runner.root, "opt/search.cjs"), search([key, control]));
  const env = {
    ...{ GITHUB_API_URL: github.apiUrl, GITHUB_TOKEN: github.addToken("ada"), GITHUB_REPOSITORY: "acme/shop" },
    ...{ GITHUB_ACTOR: "ada", JOB_SETTING: control },
  };
  const always = { "agent-api-key": key, "agent-version": "file:/opt/agentcli.tgz", model: "scripted" };
  const endpoint = { "responses-api-endpoint": `${model.url}/responses` };
  return { runner, model, github, use: (inputs) => runner.use({ ...always, ...endpoint, ...inputs }, env) };
}

/** With commands for the runner, of which it also reads the older form within a line. */
const message = "Two findings.\n::stop::\nSee ##[stop-commands]now";

const outputOf = (model: ModelServer): string => JSON.stringify(model.requests().at(-1)?.body);

test.runIf(isRoot)(
  "another user runs the agent: its message comes out, and its shell finds the key nowhere",
  async () => {
    const { runner, model, use } = await openScenario([
      call("exec_command", { cmd: "id -un; node /opt/search.cjs; sudo -n true || echo no sudo" }),
      replyWith(message),
    ]);
    const result = await use({
      ...{ prompt: "Look<!-- hidden --> around", "safety-strategy": "unprivileged-user", "agent-user": "agent" },
      ...{ sandbox: "danger-full-access", "output-file": "message.txt" },
    });
    expect(result.log).not.toContain(key);
    expect(result).toMatchObject({
      ok: true,
      outputs: { "final-message": message, "exit-code": "0" },
    });
    expect(result.outputs["thread-id"]).toMatch(/^[0-9a-f-]{36}$/);
    expect(JSON.parse(result.outputs.usage ?? "")).toHaveProperty("input_tokens");
    expect(result.summary).toContain("> Two findings.");
    expect(result.log).not.toMatch(/^::stop/m);
    expect(result.log).not.toContain("##[");
    const seen = outputOf(model);
    expect(seen).toContain("agent\\n");
    expect(seen).toContain("no sudo");
    // The control is found, so the search works; the key is not.
    expect(seen).toContain("1 /proc/N/environ");
    expect(seen).not.toContain("0 /");
    expect(JSON.stringify(model.requests()[0]?.body)).not.toContain("hidden");
    expect(model.requests()[0]?.headers.authorization).toBe(`Bearer ${key}`);
    const later = await runner.shell("node /opt/search.cjs; cat message.txt");
    expect(later.stdout).toBe(`[]\n${message}`);
  },
);

test.runIf(isRoot)(
  "drop-sudo: the agent has the job's user, and neither it nor later steps get the key or sudo",
  async () => {
    const { runner, model, use } = await openScenario([
      call("exec_command", { cmd: "id -un; node /opt/search.cjs; sudo -n true || echo no sudo" }),
      replyWith("Done."),
    ]);
    const before = ["passwd", "hosts", "resolv.conf", "sudoers.d/runner"].map((name) =>
      readFileSync(join(runner.root, "etc", name), "utf8"),
    );
    expect((await runner.shell("sudo -n id -u")).stdout).toBe("0\n");
    const result = await use({ prompt: "Look around", sandbox: "danger-full-access" });
    expect(result.log).toContain("runner cannot use sudo any more");
    expect(result).toMatchObject({ ok: true, outputs: { "final-message": "Done." } });
    const seen = outputOf(model);
    expect(seen).toContain("no sudo");
    expect(seen).toContain("1 /proc/N/environ");
    expect(seen).not.toContain("0 /");
    const later = await runner.shell(
      "node /opt/search.cjs; sudo -n true || echo no sudo; getent hosts build.internal; id -nG",
    );
    expect(later.stdout).toMatch(/^\[\]\nno sudo\n10\.1\.2\.3 +build\.internal\nrunner\n$/);
    const after = ["passwd", "hosts", "resolv.conf", "sudoers.d/runner"].map((name) =>
      readFileSync(join(runner.root, "etc", name), "utf8"),
    );
    expect(after).toEqual(before);
    const sudoers = statSync(join(runner.root, "etc/sudoers"));
    expect([sudoers.uid, sudoers.gid, sudoers.mode & 0o777]).toEqual([0, 0, 0o440]);
    expect(readFileSync(join(runner.root, "etc/group"), "utf8")).toContain("sudo:x:27:other\ndocker:x:998:\n");
  },
);

test.runIf(isRoot)("a failed run fails the action with its code, and the proxy is stopped all the same", async () => {
  const { runner, use } = await openScenario([{ status: 401 }, { status: 401 }]);
  const result = await use({ prompt: "hello", sandbox: "danger-full-access", "safety-strategy": "unsafe" });
  expect(result).toMatchObject({ ok: false, outputs: { "exit-code": "3", "final-message": "" } });
  expect(result.log).toContain("::error title=agentcli::The agent failed with exit code 3.");
  expect(result.log).toContain("The proxy has stopped");
  expect((await runner.shell("ls /home/runner/temp | grep proxy || echo none")).stdout).toBe("none\n");
});
