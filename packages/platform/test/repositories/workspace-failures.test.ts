import { execFile } from "node:child_process";
import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterEach, expect, test } from "vitest";
import {
  agentWork,
  type GitHarness,
  type GitHarnessOptions,
  never,
  openGitHarness,
  type ServedRepository,
} from "./git-harness.ts";
import { freePort, type HttpGitServer, serveHttp } from "./git-servers.ts";

const cleanups: (() => Promise<unknown>)[] = [];

afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

async function openHarness(options: GitHarnessOptions = {}): Promise<GitHarness> {
  const harness = await openGitHarness(options);
  cleanups.push(harness.remove);
  return harness;
}

async function serve(
  harness: GitHarness,
  ...rest: Parameters<typeof serveHttp> extends [string, ...infer R] ? R : never
) {
  const server = await serveHttp(harness.served, ...rest);
  cleanups.push(server.close);
  return server;
}

const open = (harness: GitHarness, url: string, signal = never()) =>
  harness.workspaces.open(agentWork({ repos: [{ url }] }), signal);

const portOf = (server: HttpGitServer) => new URL(server.url).port;

/** At least this many bytes of text that does not compress well. */
const noise = (bytes: number) => {
  let text = "";
  for (let state = 1; text.length < bytes; state = (state * 48_271) % 2_147_483_647) text += `${state.toString(36)}\n`;
  return text;
};

test("a missing or unreadable repository is unreachable", async () => {
  const harness = await openHarness();
  const server = await serve(harness, (request, response) => {
    const status = /^\/(\d{3})\//.exec(request.url ?? "")?.[1];
    if (status) response.writeHead(Number(status)).end();
    return status !== undefined;
  });
  const closed = await freePort();
  for (const url of [`${server.url}/none.git`, `${server.url}/401/x`, `${server.url}/403/x`, `${server.url}/503/x`])
    await expect(open(harness, url)).rejects.toMatchObject({ code: "repository_unreachable" });
  await expect(open(harness, `http://127.0.0.1:${closed}/x.git`)).rejects.toMatchObject({
    code: "repository_unreachable",
  });
  await expect(open(harness, `git://127.0.0.1:${closed}/x.git`)).rejects.toMatchObject({
    code: "repository_unreachable",
  });
  await expect(open(harness, `ssh://git@127.0.0.1:${closed}/x.git`)).rejects.toMatchObject({
    code: "repository_unreachable",
  });
  expect(readdirSync(join(harness.data, "mirrors"))).toEqual([]);
});

test("a host that never responds times out", async () => {
  const harness = await openHarness({ limits: { answerMs: 300 } });
  const server = await serve(harness, () => true);
  await expect(open(harness, `${server.url}/x.git`)).rejects.toMatchObject({ code: "repository_unreachable" });
});

test("the caller can abort, and git ends", async () => {
  const harness = await openHarness();
  const stop = new AbortController();
  const server = await serve(harness, () => {
    stop.abort(new Error("stopped"));
    return true;
  });
  await expect(open(harness, `${server.url}/x.git`, stop.signal)).rejects.toThrow("stopped");
});

test("a repository over the limit is refused during the fetch, and nothing of it remains", async () => {
  const harness = await openHarness({ limits: { wholeBytes: 20_000, maxBytes: 20_000 } });
  await harness.makeRepository("large", { "noise.txt": noise(200_000) });
  const server = await serve(harness);
  await expect(open(harness, `${server.url}/large.git`)).rejects.toMatchObject({ code: "repository_too_large" });
  expect(readdirSync(join(harness.data, "mirrors"))).toEqual([]);
});

test("a large repository is fetched without the contents of old commits", async () => {
  const harness = await openHarness({ limits: { wholeBytes: 100_000, maxBytes: 10_000_000 } });
  const repository = await harness.makeRepository("large", { "old.txt": noise(200_000), "kept.txt": "kept\n" });
  await repository.git("tag", "first", "main");
  await repository.commit("main", { "old.txt": "now small\n" });
  const server = await serve(harness);
  const { root } = await open(harness, `${server.url}/large.git`);
  expect(readFileSync(join(root, "old.txt"), "utf8")).toBe("now small\n");
  const run = promisify(execFile);
  expect((await run("git", ["status", "--porcelain"], { cwd: root })).stdout).toBe("");
  const missing = await run("git", ["rev-list", "--objects", "--all", "--missing=print"], { cwd: root });
  expect(missing.stdout).toMatch(/^\?/m);
  // The next agent needs the omitted objects and gets them.
  const first = agentWork({ repos: [{ url: `${server.url}/large.git`, startingRef: "first" }] });
  const second = await harness.workspaces.open(first, never());
  expect(readFileSync(join(second.root, "old.txt"), "utf8").length).toBeGreaterThan(200_000);
});

test("a small pack that expands to a huge number of files is refused", async () => {
  const harness = await openHarness({ limits: { checkoutFiles: 10_000 } });
  const repository = await harness.makeRepository("bomb");
  await plantBomb(repository);
  const server = await serve(harness);
  await expect(open(harness, `${server.url}/bomb.git`)).rejects.toMatchObject({ code: "repository_too_large" });
});

/** Ten levels of ten directories each: 10^10 files. */
async function plantBomb({ git, directory }: ServedRepository): Promise<void> {
  const withInput = (args: string[], input: string) =>
    new Promise<string>((resolve, reject) => {
      const child = execFile("git", args, { cwd: directory }, (error, out) =>
        error ? reject(error) : resolve(out.trim()),
      );
      child.stdin?.end(input);
    });
  let object = await withInput(["hash-object", "-w", "--stdin"], "boom\n");
  for (let depth = 0; depth < 10; depth += 1) {
    const entry = depth === 0 ? `100644 blob ${object}` : `040000 tree ${object}`;
    object = await withInput(["mktree"], Array.from({ length: 10 }, (_, index) => `${entry}\tf${index}\n`).join(""));
  }
  const flags = ["-c", "user.name=T", "-c", "user.email=t@example.com"];
  const commit = (await git(...flags, "commit-tree", object, "-m", "Boom")).trim();
  await git("update-ref", "refs/heads/main", commit);
}

test("malicious objects are refused, and harmless old defects are accepted", async () => {
  const harness = await openHarness();
  const { directory, git } = await harness.makeRepository("odd");
  const make = async (kind: string, content: string): Promise<string> => {
    const file = join(harness.served, "object");
    writeFileSync(file, content);
    return (await git("hash-object", "-t", kind, "-w", "--literally", file)).trim();
  };
  const tree = (await git("rev-parse", "main^{tree}")).trim();
  const old = await make("commit", `tree ${tree}\nauthor A <a@a>1 +0000\ncommitter A <a@a> 1 +0000\n\nOld\n`);
  await git("update-ref", "refs/heads/old", old);
  const url = `${(await serve(harness)).url}/odd.git`;
  await harness.workspaces.open(agentWork({ repos: [{ url, startingRef: "old" }] }), never());
  const blob = (await git("rev-parse", "main:README.md")).trim();
  const script = `printf '100644 blob ${blob}\\t.GIT\\n' | git mktree`;
  const trap = (await promisify(execFile)("sh", ["-c", script], { cwd: directory })).stdout.trim();
  const commit = await make("commit", `tree ${trap}\nauthor A <a@a> 1 +0000\ncommitter A <a@a> 1 +0000\n\nTrap\n`);
  await git("update-ref", "refs/heads/trap", commit);
  await expect(open(harness, url)).rejects.toMatchObject({
    code: "repository_unreachable",
    message: expect.stringContaining("dangerous"),
  });
});

test("the error for an empty repository says what to do", async () => {
  const harness = await openHarness();
  const repository = await harness.makeRepository("empty");
  await repository.git("update-ref", "-d", "refs/heads/main");
  const server = await serve(harness);
  await expect(open(harness, `${server.url}/empty.git`)).rejects.toMatchObject({
    code: "ref_not_found",
    message: expect.stringContaining("Push a first commit"),
  });
});

test("a private network address is not dialled unless it is allowed", async () => {
  const harness = await openHarness({ allowPrivate: [] });
  await harness.makeRepository("shop");
  const server = await serve(harness);
  await expect(open(harness, `${server.url}/shop.git`)).rejects.toMatchObject({
    code: "repository_unreachable",
    message: expect.stringContaining("allow_private"),
  });
  await expect(open(harness, `http://localhost:${portOf(server)}/shop.git`)).rejects.toMatchObject({
    code: "repository_unreachable",
  });
  expect(server.asked).toEqual([]);
});

test("git dials the address that was checked, whatever a resolver returns", async () => {
  const harness = await openHarness({ names: { "git.example.test": ["127.0.0.1"] } });
  await harness.makeRepository("shop");
  const server = await serve(harness);
  const { root } = await open(harness, `http://git.example.test:${portOf(server)}/shop.git`);
  expect(existsSync(join(root, "README.md"))).toBe(true);
});

test("a name with private and public addresses is dialled at the public ones only", async () => {
  const harness = await openHarness({
    allowPrivate: ["127.0.0.2/32"],
    names: { "two.example.test": ["127.0.0.1", "127.0.0.2"] },
  });
  await harness.makeRepository("shop");
  const server = await serve(harness);
  await expect(open(harness, `http://two.example.test:${portOf(server)}/shop.git`)).rejects.toMatchObject({
    code: "repository_unreachable",
  });
  expect(server.asked).toEqual([]);
});

test("redirects of a repository are followed, each one checked", async () => {
  const harness = await openHarness({
    names: { "old.example.test": ["127.0.0.1"], "new.example.test": ["127.0.0.1"] },
  });
  await harness.makeRepository("shop");
  const server = await serve(harness, (request, response) => {
    if (request.headers.host?.startsWith("new.")) return false;
    const target = request.url?.replace("/moved/", "/");
    response.writeHead(301, { location: `http://new.example.test:${portOf(server)}${target}` }).end();
    return true;
  });
  const { root } = await open(harness, `http://old.example.test:${portOf(server)}/moved/shop.git`);
  expect(existsSync(join(root, "README.md"))).toBe(true);
});

test("a redirect into a private network is not followed", async () => {
  const harness = await openHarness({
    allowPrivate: ["127.0.0.1/32"],
    names: { "old.example.test": ["127.0.0.1"], "inside.example.test": ["127.0.0.2"] },
  });
  await harness.makeRepository("shop");
  const inside = await serveHttp(harness.served, undefined, { host: "127.0.0.2" });
  cleanups.push(inside.close);
  let target = "";
  const server = await serve(harness, (request, response) => {
    response.writeHead(302, { location: `${target}${request.url}` }).end();
    return true;
  });
  for (const host of ["127.0.0.2", "inside.example.test"]) {
    target = `http://${host}:${portOf(inside)}`;
    await expect(open(harness, `http://old.example.test:${portOf(server)}/shop.git`)).rejects.toMatchObject({
      code: "repository_unreachable",
    });
  }
  expect(inside.asked).toEqual([]);
});
