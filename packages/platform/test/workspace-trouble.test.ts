import { execFile } from "node:child_process";
import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterEach, expect, test } from "vitest";
import { agentWork, type BenchOptions, type GitBench, gitBench, never, type ServedRepository } from "./git-bench.ts";
import { freePort, type HttpGitServer, serveHttp } from "./git-servers.ts";

const cleanups: (() => Promise<unknown>)[] = [];

afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

async function desk(options: BenchOptions = {}): Promise<GitBench> {
  const bench = await gitBench(options);
  cleanups.push(bench.remove);
  return bench;
}

async function serve(bench: GitBench, ...rest: Parameters<typeof serveHttp> extends [string, ...infer R] ? R : never) {
  const server = await serveHttp(bench.served, ...rest);
  cleanups.push(server.close);
  return server;
}

const open = (bench: GitBench, url: string, signal = never()) =>
  bench.workspaces.open(agentWork({ repos: [{ url }] }), signal);

const portOf = (server: HttpGitServer) => new URL(server.url).port;

/** So many bytes that no compression makes less of them. */
const noise = (bytes: number) => {
  let text = "";
  for (let state = 1; text.length < bytes; state = (state * 48_271) % 2_147_483_647) text += `${state.toString(36)}\n`;
  return text;
};

test("a repository that is not there, or that nobody may read, is unreachable", async () => {
  const bench = await desk();
  const server = await serve(bench, (request, response) => {
    const status = /^\/(\d{3})\//.exec(request.url ?? "")?.[1];
    if (status) response.writeHead(Number(status)).end();
    return status !== undefined;
  });
  const closed = await freePort();
  for (const url of [`${server.url}/none.git`, `${server.url}/401/x`, `${server.url}/403/x`, `${server.url}/503/x`])
    await expect(open(bench, url)).rejects.toMatchObject({ code: "repository_unreachable" });
  await expect(open(bench, `http://127.0.0.1:${closed}/x.git`)).rejects.toMatchObject({
    code: "repository_unreachable",
  });
  await expect(open(bench, `git://127.0.0.1:${closed}/x.git`)).rejects.toMatchObject({
    code: "repository_unreachable",
  });
  await expect(open(bench, `ssh://git@127.0.0.1:${closed}/x.git`)).rejects.toMatchObject({
    code: "repository_unreachable",
  });
  expect(readdirSync(join(bench.data, "mirrors"))).toEqual([]);
});

test("something that is no git server has nothing to start from", async () => {
  const bench = await desk();
  const page = createServer((_request, response) => response.end("<html>Hello</html>"));
  await new Promise<void>((resolve) => page.listen(0, "127.0.0.1", resolve));
  cleanups.push(() => new Promise((resolve) => page.close(resolve)));
  const url = `http://127.0.0.1:${(page.address() as AddressInfo).port}/x.git`;
  await expect(open(bench, url)).rejects.toMatchObject({ code: "ref_not_found", message: /check the address/ });
});

test("a host that never answers is given up", async () => {
  const bench = await desk({ limits: { answerMs: 300 } });
  const server = await serve(bench, () => true);
  await expect(open(bench, `${server.url}/x.git`)).rejects.toMatchObject({ code: "repository_unreachable" });
});

test("whoever asked may stop it, and git ends", async () => {
  const bench = await desk();
  const stop = new AbortController();
  const server = await serve(bench, () => {
    stop.abort(new Error("stopped"));
    return true;
  });
  await expect(open(bench, `${server.url}/x.git`, stop.signal)).rejects.toThrow("stopped");
});

test("a repository over the limit is refused while it is fetched, and nothing of it stays", async () => {
  const bench = await desk({ limits: { wholeBytes: 20_000, mostBytes: 20_000 } });
  await bench.makeRepository("large", { "noise.txt": noise(200_000) });
  const server = await serve(bench);
  await expect(open(bench, `${server.url}/large.git`)).rejects.toMatchObject({ code: "repository_too_large" });
  expect(readdirSync(join(bench.data, "mirrors"))).toEqual([]);
});

test("a large repository is taken without the contents of old commits", async () => {
  const bench = await desk({ limits: { wholeBytes: 100_000, mostBytes: 10_000_000 } });
  const repository = await bench.makeRepository("large", { "old.txt": noise(200_000), "kept.txt": "kept\n" });
  await repository.git("tag", "first", "main");
  await repository.commit("main", { "old.txt": "now small\n" });
  const server = await serve(bench);
  const { root } = await open(bench, `${server.url}/large.git`);
  expect(readFileSync(join(root, "old.txt"), "utf8")).toBe("now small\n");
  const run = promisify(execFile);
  expect((await run("git", ["status", "--porcelain"], { cwd: root })).stdout).toBe("");
  const missing = await run("git", ["rev-list", "--objects", "--all", "--missing=print"], { cwd: root });
  expect(missing.stdout).toMatch(/^\?/m);
  // The next agent needs what was left out, and gets it.
  const first = agentWork({ repos: [{ url: `${server.url}/large.git`, startingRef: "first" }] });
  const second = await bench.workspaces.open(first, never());
  expect(readFileSync(join(second.root, "old.txt"), "utf8").length).toBeGreaterThan(200_000);
});

test("a small pack that would unfold to endless files is refused", async () => {
  const bench = await desk({ limits: { checkoutFiles: 10_000 } });
  const repository = await bench.makeRepository("bomb");
  await plantBomb(repository);
  const server = await serve(bench);
  await expect(open(bench, `${server.url}/bomb.git`)).rejects.toMatchObject({ code: "repository_too_large" });
});

/** Ten directories of ten directories of ten directories …: ten to the tenth files. */
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

test("objects that were made to harm are refused, and old mistakes of git's are not", async () => {
  const bench = await desk();
  const { directory, git } = await bench.makeRepository("odd");
  const make = async (kind: string, content: string): Promise<string> => {
    const file = join(bench.served, "object");
    writeFileSync(file, content);
    return (await git("hash-object", "-t", kind, "-w", "--literally", file)).trim();
  };
  const tree = (await git("rev-parse", "main^{tree}")).trim();
  const old = await make("commit", `tree ${tree}\nauthor A <a@a>1 +0000\ncommitter A <a@a> 1 +0000\n\nOld\n`);
  await git("update-ref", "refs/heads/old", old);
  const url = `${(await serve(bench)).url}/odd.git`;
  await bench.workspaces.open(agentWork({ repos: [{ url, startingRef: "old" }] }), never());
  const blob = (await git("rev-parse", "main:README.md")).trim();
  const script = `printf '100644 blob ${blob}\\t.GIT\\n' | git mktree`;
  const trap = (await promisify(execFile)("sh", ["-c", script], { cwd: directory })).stdout.trim();
  const commit = await make("commit", `tree ${trap}\nauthor A <a@a> 1 +0000\ncommitter A <a@a> 1 +0000\n\nTrap\n`);
  await git("update-ref", "refs/heads/trap", commit);
  await expect(open(bench, url)).rejects.toMatchObject({
    code: "repository_unreachable",
    message: expect.stringContaining("dangerous"),
  });
});

test("an empty repository says what to do", async () => {
  const bench = await desk();
  const repository = await bench.makeRepository("empty");
  await repository.git("update-ref", "-d", "refs/heads/main");
  const server = await serve(bench);
  await expect(open(bench, `${server.url}/empty.git`)).rejects.toMatchObject({
    code: "ref_not_found",
    message: expect.stringContaining("Push a first commit"),
  });
});

test("an address of a private network is not dialled unless it is listed", async () => {
  const bench = await desk({ allowPrivate: [] });
  await bench.makeRepository("shop");
  const server = await serve(bench);
  await expect(open(bench, `${server.url}/shop.git`)).rejects.toMatchObject({
    code: "repository_unreachable",
    message: expect.stringContaining("allow_private"),
  });
  await expect(open(bench, `http://localhost:${portOf(server)}/shop.git`)).rejects.toMatchObject({
    code: "repository_unreachable",
  });
  expect(server.asked).toEqual([]);
});

test("git dials the address that was checked, whatever a resolver would say", async () => {
  const bench = await desk({ names: { "git.example.test": ["127.0.0.1"] } });
  await bench.makeRepository("shop");
  const server = await serve(bench);
  const { root } = await open(bench, `http://git.example.test:${portOf(server)}/shop.git`);
  expect(existsSync(join(root, "README.md"))).toBe(true);
});

test("a name that leads to private and public addresses is dialled at the public ones only", async () => {
  const bench = await desk({
    allowPrivate: ["127.0.0.2/32"],
    names: { "two.example.test": ["127.0.0.1", "127.0.0.2"] },
  });
  await bench.makeRepository("shop");
  const server = await serve(bench);
  await expect(open(bench, `http://two.example.test:${portOf(server)}/shop.git`)).rejects.toMatchObject({
    code: "repository_unreachable",
  });
  expect(server.asked).toEqual([]);
});

test("a repository that has moved is followed, each step checked", async () => {
  const bench = await desk({ names: { "old.example.test": ["127.0.0.1"], "new.example.test": ["127.0.0.1"] } });
  await bench.makeRepository("shop");
  const server = await serve(bench, (request, response) => {
    if (request.headers.host?.startsWith("new.")) return false;
    const target = request.url?.replace("/moved/", "/");
    response.writeHead(301, { location: `http://new.example.test:${portOf(server)}${target}` }).end();
    return true;
  });
  const { root } = await open(bench, `http://old.example.test:${portOf(server)}/moved/shop.git`);
  expect(existsSync(join(root, "README.md"))).toBe(true);
});

test("a redirection into a private network is not followed", async () => {
  const bench = await desk({
    allowPrivate: ["127.0.0.1/32"],
    names: { "old.example.test": ["127.0.0.1"], "inside.example.test": ["127.0.0.2"] },
  });
  await bench.makeRepository("shop");
  const inside = await serveHttp(bench.served, undefined, "127.0.0.2");
  cleanups.push(inside.close);
  let target = "";
  const server = await serve(bench, (request, response) => {
    response.writeHead(302, { location: `${target}${request.url}` }).end();
    return true;
  });
  for (const host of ["127.0.0.2", "inside.example.test"]) {
    target = `http://${host}:${portOf(inside)}`;
    await expect(open(bench, `http://old.example.test:${portOf(server)}/shop.git`)).rejects.toMatchObject({
      code: "repository_unreachable",
    });
  }
  expect(inside.asked).toEqual([]);
});
