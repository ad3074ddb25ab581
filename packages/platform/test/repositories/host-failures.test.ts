// Git hosts that answer with something else than a repository: the error names the host, its answer and what to do.
import { execFile } from "node:child_process";
import { chmodSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { promisify } from "node:util";
import { temporaryRepository } from "@agentcli/testkit";
import { afterEach, expect, test } from "vitest";
import { layOut } from "../../src/repositories/git/index.ts";
import { importFrom } from "../../src/repositories/githost/import.ts";
import { describeGitFailure } from "../../src/repositories/scm/git-failures.ts";
import { agentWork, type GitHarness, never, openGitHarness } from "./git-harness.ts";
import { serveDaemon, serveHttp } from "./git-servers.ts";

const cleanups: (() => Promise<unknown>)[] = [];

afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

async function openHarness(): Promise<GitHarness> {
  const harness = await openGitHarness();
  cleanups.push(harness.remove);
  return harness;
}

const failure = (harness: GitHarness, url: string): Promise<{ code: string; message: string }> =>
  harness.workspaces.open(agentWork({ repos: [{ url }] }), never()).then(
    () => expect.fail(`${url} was opened`),
    (error) => error,
  );

const answers: [status: number, message: RegExp][] = [
  [400, /answered 400 Bad Request\. Check the address and the port/],
  [401, /asks for credentials .*that the platform was given access/],
  [405, /answered 405 Method Not Allowed\. Check the address/],
  [410, /is gone: its host answered 410 Gone\. Use its new address/],
  [418, /answered 418 I'm a Teapot\. Check the address/],
  [429, /busy: it answered 429 Too Many Requests\. Wait a few minutes/],
  [500, /failing: it answered 500 Internal Server Error\. Try again later/],
  [502, /failing: it answered 502 Bad Gateway\. Try again later/],
];

test("each HTTP status of a git host has its own error", async () => {
  const harness = await openHarness();
  const server = await serveHttp(harness.served, (request, response) => {
    response.writeHead(Number(request.url?.split("/")[1]), { "content-type": "text/html" }).end("<html>\nNo\n</html>");
    return true;
  });
  cleanups.push(server.close);
  for (const [status, message] of answers) {
    const error = await failure(harness, `${server.url}/${status}/x.git`);
    expect(error).toMatchObject({ name: "RepositoryFault", code: "repository_unreachable" });
    expect(error.message).toContain(`The repository ${server.url.replace("http://", "")}/${status}/x `);
    expect(error.message).toMatch(message);
  }
});

test("a web page, JSON and a redirect to a login page are named as such", async () => {
  const harness = await openHarness();
  const server = await serveHttp(harness.served, (request, response) => {
    if (request.url?.startsWith("/login")) response.writeHead(302, { location: "/users/sign_in?x=secret" }).end();
    else if (request.url?.startsWith("/json"))
      response.writeHead(200, { "content-type": "application/json" }).end("{}");
    else
      response
        .writeHead(200, { "content-type": "text/html; charset=utf-8" })
        .end(pages[request.url?.split("/")[1] ?? ""]);
    return true;
  });
  const pages: Record<string, string> = {
    one: "<html>Log in</html>",
    lines: "<html>\n<body>\nLog in\n</body></html>\n",
  };
  cleanups.push(server.close);
  for (const name of Object.keys(pages)) {
    const error = await failure(harness, `${server.url}/${name}/x.git`);
    expect(error).toMatchObject({ code: "repository_unreachable" });
    expect(error.message).toMatch(/web page.*Check the address/);
  }
  const json = await failure(harness, `${server.url}/json/x.git`);
  expect(json).toMatchObject({ code: "repository_unreachable" });
  expect(json.message).toContain("its host answered with application/json. Check the address");
  const error = await failure(harness, `${server.url}/login/x.git`);
  expect(error).toMatchObject({ code: "repository_unreachable" });
  expect(error.message).toContain(`redirects git to ${server.url}/users/sign_in, a page to log in.`);
});

test("a git server without the repository, and one that hangs up, are unreachable", async () => {
  const harness = await openHarness();
  const daemon = await serveDaemon(harness.served);
  cleanups.push(daemon.close);
  expect(await failure(harness, `${daemon.url}/gone.git`)).toMatchObject({
    code: "repository_unreachable",
    message: expect.stringContaining("does not exist"),
  });
  for (const answer of ["", "0000", "<html>\n", "zzzzzzzz"]) {
    const server = createServer((socket) => socket.on("error", () => {}).end(answer, () => socket.destroy()));
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    cleanups.push(() => new Promise((resolve) => server.close(resolve)));
    const { port } = server.address() as { port: number };
    for (const url of [`git://127.0.0.1:${port}/x.git`, `http://127.0.0.1:${port}/x.git`]) {
      const error = await failure(harness, url);
      expect(error.code, `${url} ${answer}: ${error.message}`).toMatch(/^repository_unreachable$|^ref_not_found$/);
    }
  }
});

test("whatever git says, the error is one of the repository, except for failures of this machine", () => {
  expect(describeGitFailure("fatal: something new")).toBe(
    "could not be read: something new. Check it with git ls-remote",
  );
  expect(describeGitFailure("")).toContain("git gave no reason");
  expect(describeGitFailure("fatal: unable to access 'http://x/': Empty reply from server")).toBe(
    "could not be reached: its host ended the connection. Try again later",
  );
  expect(describeGitFailure("fatal: write error: No space left on device")).toBeUndefined();
});

async function breakObject(directory: string, spec: string, damage: (file: string) => void): Promise<string> {
  const run = promisify(execFile);
  const { stdout } = await run("git", ["rev-parse", spec], { cwd: directory });
  const name = stdout.trim();
  const { stdout: gitDirectory } = await run("git", ["rev-parse", "--absolute-git-dir"], { cwd: directory });
  const file = join(gitDirectory.trim(), "objects", name.slice(0, 2), name.slice(2));
  chmodSync(file, 0o600);
  damage(file);
  return name;
}

const damages: [name: string, damage: (file: string) => void][] = [
  ["missing", (file) => rmSync(file)],
  ["truncated", (file) => writeFileSync(file, readFileSync(file).subarray(0, 8))],
  ["overwritten", (file) => writeFileSync(file, "not an object")],
  ["empty", (file) => writeFileSync(file, "")],
];

test.each(damages)("importing a repository with an object that is %s names the object", async (_name, damage) => {
  const origin = await temporaryRepository({ "a.txt": "a\n", "folder/b.txt": "b\n" });
  cleanups.push(origin.remove);
  const harness = await openHarness();
  for (const spec of ["HEAD:folder/b.txt", "HEAD:folder"]) {
    const name = await breakObject(origin.path, spec, damage);
    const directory = join(harness.served, `import-${spec.length}.git`);
    await layOut(directory, {
      objectFormat: "sha1",
      isPartial: false,
      head: "main",
      references: new Map(),
      config: [["core", { bare: "true" }]],
      borrowed: [],
    });
    const error = await importFrom(origin.path, directory, never()).then(
      () => expect.fail("imported"),
      (reason: Error & { code: string }) => reason,
    );
    expect(error.code, error.stack).toBe("validation_error");
    expect(error.message).toMatch(
      new RegExp(`${origin.path} was not imported: it is broken: object (?:${name}|[0-9a-f]{40}) `),
    );
    expect(error.message).toContain("git fsck");
    expect(readdirSync(directory)).not.toContain("import.index");
  }
});

test("a served repository with a damaged object names the object in the error of the run", async () => {
  const harness = await openHarness();
  const { directory, git } = await harness.makeRepository("shop", { "a.txt": "a\n" });
  const name = (await git("rev-parse", "HEAD:a.txt")).trim();
  rmSync(join(directory, "objects", name.slice(0, 2), name.slice(2)));
  const server = await serveHttp(harness.served);
  cleanups.push(server.close);
  const error = await failure(harness, `${server.url}/shop.git`);
  expect(error).toMatchObject({ code: "repository_unreachable" });
  expect(error.message).toContain(`object ${name} is missing or damaged`);
});
