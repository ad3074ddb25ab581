// Flags of the worker, as its operator gives them.
import { execFileSync } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { parseCommandLine } from "@agentcli/command-line";
import { temporaryDirectory } from "@agentcli/testkit";
import { expect, onTestFinished, test } from "vitest";
import { controllerCommand, debugCommand, startCommand, workerFlags } from "../src/commands.ts";
import { readWorkerOptions } from "../src/options.ts";

const syntax = { program: "agent", commands: [startCommand, debugCommand, controllerCommand], flags: workerFlags };

const optionsOf = async (...args: string[]) => optionsIn(await newFolder(), {}, ...args);

async function newFolder(): Promise<string> {
  const { path, remove } = await temporaryDirectory();
  onTestFinished(remove);
  return path;
}

function optionsIn(cwd: string, environment: Record<string, string>, ...args: string[]) {
  const line = parseCommandLine(["worker", "start", ...args], syntax);
  if (line.kind !== "command") throw new Error(`a command was expected, not ${line.kind}`);
  const variables = { PLATFORM_BACKEND_URL: "https://platform.example.com", PLATFORM_API_KEY: "plt_key" };
  return readWorkerOptions(line.invocation, {
    variables: { ...variables, XDG_DATA_HOME: cwd, ...environment },
    cwd,
    userHome: cwd,
  });
}

test.each([
  { args: ["--pool"], pool: "default" },
  { args: ["--pool", "--name", "laptop"], pool: "default" },
  { args: ["--pool", "fast"], pool: "fast" },
  { args: ["--pool-name=fast"], pool: "fast" },
  { args: [], pool: undefined },
])("$args serves the pool $pool", async ({ args, pool }) => {
  expect((await optionsOf(...args)).pool).toBe(pool);
});

test.each([
  { args: ["--pool", "a", "--pool-name", "b"], message: "A worker serves one pool." },
  { args: ["--pool="], message: "--pool has an empty value." },
  { args: ["--pool-name", ""], message: "--pool-name has an empty value." },
  { args: ["--share-desktop", "wave"], message: "--share-desktop wave: choose one of view, view_and_control." },
  { args: ["--computer-use"], message: "--computer-use cannot be used" },
  { args: ["--display", ":1"], message: "--display cannot be used" },
  { args: ["--share-desktop"], message: "--share-desktop cannot be used" },
])("$args is refused: $message", async ({ args, message }) => {
  await expect(optionsOf(...args)).rejects.toThrow(message);
});

test("--clone-git-repos asks for the token of the repository, and not for secrets", async () => {
  const { receives } = await optionsOf("--pool", "fast", "--clone-git-repos");
  expect(receives).toEqual({ secrets: false, githubToken: true, clones: true });
  expect((await optionsOf("--pool", "fast")).receives).toEqual({ secrets: false, githubToken: false, clones: false });
});

test("--clone-git-repos without a pool is refused, and the message says what to add", async () => {
  await expect(optionsOf("--clone-git-repos")).rejects.toThrow(
    "--clone-git-repos is for workers of a pool. Add --pool",
  );
});

test.each([
  ["labels.json", '{"gpu": "yes", "os": ["linux", "debian"]}'],
  ["labels.toml", 'gpu = "yes"\nos = ["linux", "debian"]\n'],
])("labels are read from %s, by the flag and by the variable", async (name, content) => {
  const folder = await newFolder();
  writeFileSync(join(folder, name), content);
  const labels = { gpu: "yes", os: ["linux", "debian"] };
  expect(optionsIn(folder, {}, "--labels-file", name).labels).toEqual(labels);
  expect(optionsIn(folder, { PLATFORM_WORKER_LABELS_FILE: name }).labels).toEqual(labels);
  const pairs = ["gpu=yes", "os=linux", "os=debian"].flatMap((pair) => ["--label", pair]);
  expect(optionsIn(folder, { PLATFORM_WORKER_LABELS_FILE: "not-there.json" }, ...pairs).labels).toEqual(labels);
});

test("labels that are wrong, reserved or given twice are refused", async () => {
  const folder = await newFolder();
  writeFileSync(join(folder, "number.json"), '{"gpu": 2}');
  writeFileSync(join(folder, "list.json"), '["gpu"]');
  const read = (...args: string[]) => optionsIn(folder, {}, ...args);
  for (const key of ["repo", "pool", "name"])
    expect(() => read("--label", `${key}=x`)).toThrow(`The label ${key} is set by the worker itself`);
  expect(() => read("--label", "gpu")).toThrow('Invalid label "gpu": expected KEY=VALUE.');
  expect(() => read("--label", "a=b", "--labels-file", "number.json")).toThrow("Leave one of them out.");
  expect(() => read("--labels-file", "number.json")).toThrow("is not a text or a list of texts");
  expect(() => read("--labels-file", "list.json")).toThrow("it is not a table of labels");
  expect(() => read("--labels-file", "not-there.json")).toThrow("cannot be read");
});

test("the repository of the first directory is reported, without the login in its address", async () => {
  const folder = await newFolder();
  const git = (...words: string[]) => execFileSync("git", words, { cwd: folder });
  git("init", "-q", "shop");
  git("-C", "shop", "remote", "add", "origin", "https://user:secret@example.com/shop.git");
  mkdirSync(join(folder, "other"));
  git("-C", "shop", "-c", "user.name=a", "-c", "user.email=a@b", "commit", "-q", "--allow-empty", "-m", "first");
  git("-C", "shop", "worktree", "add", "-q", "../linked");
  const of = (...directories: string[]) =>
    optionsIn(folder, {}, ...directories.flatMap((directory) => ["--worker-dir", directory]));
  expect(of("shop", "other")).toMatchObject({
    workspaceRootPath: join(folder, "shop"),
    repoUrl: "https://example.com/shop.git",
  });
  expect(of("linked").repoUrl).toBe("https://example.com/shop.git");
  expect(of("other", "shop").repoUrl).toBeUndefined();
  expect(() => of(...Array<string>(21).fill("shop"))).toThrow("More than 20 times --worker-dir.");
});

test("a token file is read for each connection, and a token goes before a key", async () => {
  const folder = await newFolder();
  writeFileSync(join(folder, "token"), "first\n");
  const { readKey } = optionsIn(folder, {}, "--auth-token-file", "token");
  expect(readKey()).toBe("first");
  writeFileSync(join(folder, "token"), "second\n");
  expect(readKey()).toBe("second");
  expect(optionsIn(folder, { PLATFORM_AUTH_TOKEN: "of-a-claim" }).readKey()).toBe("of-a-claim");
  expect(() => optionsIn(folder, {}, "--auth-token-file", "not-there")).toThrow("cannot be read");
  expect(() => optionsIn(folder, { PLATFORM_API_KEY: "" })).toThrow("No API key for the platform.");
});

test("variables stand in for flags, which go before them; an id is kept in the data directory", async () => {
  const folder = await newFolder();
  const environment = {
    PLATFORM_WORKER_POOL_NAME: "fast",
    PLATFORM_WORKER_NAME: "box",
    PLATFORM_AGENT_WORKER_ID: "w1",
    PLATFORM_WORKER_IDLE_RELEASE_TIMEOUT: "5",
  };
  expect(optionsIn(folder, environment)).toMatchObject({
    ...{ pool: "fast", name: "box", workerId: "w1" },
    session: { idleTimeoutMs: 5_000 },
  });
  const flags = ["--pool", "slow", "--name", "crate", "--worker-id", "w2", "--idle-release-timeout", "0"];
  expect(optionsIn(folder, environment, ...flags)).toMatchObject({
    ...{ pool: "slow", name: "crate", workerId: "w2" },
    session: { idleTimeoutMs: 0 },
  });
  expect(() => optionsIn(folder, {}, "--worker-id", "../w")).toThrow('Invalid worker id "../w"');
  expect(() => optionsIn(folder, {}, "--idle-release-timeout", "soon")).toThrow("expected seconds");
  expect(optionsIn(folder, {}).workerId).toBe(optionsIn(folder, {}).workerId);
  // A personal machine stays; a worker of a pool goes after an hour.
  expect(optionsIn(folder, {}).session.idleTimeoutMs).toBe(0);
  expect(optionsIn(folder, {}, "--pool", "fast").session.idleTimeoutMs).toBe(3_600_000);
});
