// The action in a runner, with a scripted model and a fake GitHub, and a program that looks for the key.
import { randomUUID } from "node:crypto";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { type ModelServer, startModelServer } from "@agentcli/testkit";
import { type FakeGithub, startGithub } from "@agentcli/testkit/github";
import { onTestFinished } from "vitest";
import { openRunner, type Runner } from "./runner.ts";

// Of this process alone: runners of other test files have the same users, and see its processes.
export const key = `sk-action-${randomUUID()}`;
const control = `control-${randomUUID()}`;

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

/**
 * Ends every process that it may end with SIGABRT, the proxy first, after it has raised the limit of its core file as far as it may.
 * Other processes are found by a variable of the job, so that none of another runner is among them.
 */
const dump = (word: string): string => `const fs = require("node:fs"), { spawnSync } = require("node:child_process");
const word = ${JSON.stringify([word.slice(0, 9), word.slice(9)])}.join("");
const temp = "/home/runner/temp/";
const folder = fs.readdirSync(temp).find((name) => name.startsWith("agentcli-proxy-"));
const proxy = String(JSON.parse(fs.readFileSync(temp + folder + "/server.json", "utf8")).pid);
const isOfJob = (pid) => { try { return fs.readFileSync("/proc/" + pid + "/environ").includes(word); } catch { return false; } };
const others = fs.readdirSync("/proc").filter((name) => /^\\d+$/.test(name) && name !== String(process.pid) && isOfJob(name));
const isGone = (pid) => { try { return /^\\d+ \\(.*\\) [ZX]/.test(fs.readFileSync("/proc/" + pid + "/stat", "utf8")); } catch { return true; } };
for (const pid of others) process.kill(Number(pid), "SIGSTOP");
// Children before their parents, whose end is theirs too.
const dumped = [proxy, ...others.reverse()].map((pid) => {
  const name = fs.readFileSync("/proc/" + pid + "/comm", "utf8").trim();
  const raised = spawnSync("prlimit", ["--pid", pid, "--core=unlimited:unlimited"]).status === 0;
  const directory = pid === proxy ? temp + folder : fs.readlinkSync("/proc/" + pid + "/cwd");
  for (const signal of ["SIGABRT", "SIGCONT"]) process.kill(Number(pid), signal);
  while (!isGone(pid)) spawnSync("sleep", ["0.01"]);
  const core = fs.existsSync(directory) ? fs.readdirSync(directory).find((file) => /^core(\\.\\d+)?$/.test(file)) : undefined;
  if (core) fs.renameSync(directory + "/" + core, temp + "dump-" + pid);
  return { what: pid === proxy ? "proxy" : name, raised, core: core !== undefined };
});
console.log(JSON.stringify(dumped));`;

export interface Scenario {
  runner: Runner;
  model: ModelServer;
  github: FakeGithub;
  use(inputs: Record<string, string>): ReturnType<Runner["use"]>;
}

/** `node`: a directory with `bin/node` and `bin/npm`; that of the tests otherwise. */
export async function openScenario(replies: Parameters<typeof startModelServer>[0], node?: string): Promise<Scenario> {
  const runner = await openRunner(node);
  const model = await startModelServer(replies);
  const github = await startGithub();
  onTestFinished(async () => {
    await model.close();
    await github.close();
  });
  await github.addRepository("acme/shop", { collaborators: ["ada"] });
  github.accounts.push({ login: "ada", type: "User", permissions: { "acme/shop": "write" } });
  writeFileSync(join(runner.root, "opt/search.cjs"), search([key, control]));
  writeFileSync(join(runner.root, "opt/dump.cjs"), dump(control));
  const env = {
    ...{ GITHUB_API_URL: github.apiUrl, GITHUB_TOKEN: github.addToken("ada"), GITHUB_REPOSITORY: "acme/shop" },
    ...{ GITHUB_ACTOR: "ada", JOB_SETTING: control },
  };
  const always = { "agent-api-key": key, "agent-version": "file:/opt/agentcli.tgz", model: "scripted" };
  const endpoint = { "responses-api-endpoint": `${model.url}/responses` };
  return { runner, model, github, use: (inputs) => runner.use({ ...always, ...endpoint, ...inputs }, env) };
}
