import { execFile } from "node:child_process";
import { generateKeyPairSync } from "node:crypto";
import { chmodSync, existsSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { type TemporaryDirectory, temporaryDirectory } from "@agentcli/testkit";
import fc from "fast-check";
import { afterAll, beforeAll, expect, test } from "vitest";
import { openSigningKey, publishedKey } from "../../src/repositories/signing/index.ts";
import { readOpenSshKey } from "../../src/repositories/ssh/index.ts";
import { identity } from "./git-harness.ts";
import { userGit } from "./git-host-harness.ts";
import { serveHttp } from "./git-servers.ts";
import { type HandoffHarness, openHandoffHarness, type Shop } from "./handoff-harness.ts";

const run = promisify(execFile);
let home: TemporaryDirectory;
let harness: HandoffHarness;

beforeAll(async () => {
  home = await temporaryDirectory();
  harness = await openHandoffHarness();
});
afterAll(async () => {
  await harness.close();
  await home.remove();
});

/** What git reports for each commit not on main, newest first: signature, author, committer, subject. */
async function verified(shop: Shop, branch: string): Promise<string[]> {
  const key = openSigningKey({ path: join(harness.data, "signing-key"), isGiven: true });
  const signers = join(home.path, "signers");
  writeFileSync(signers, `${identity.email} ${publishedKey(key, identity)}`);
  const settings = ["-c", `gpg.ssh.allowedSignersFile=${signers}`];
  const shown = await shop.git(...settings, "log", "--show-signature", "--format=%s", `main..${branch}`);
  const log = await shop.git(...settings, "log", "--format=%G? %GF %an %cn %s", `main..${branch}`);
  for (const line of log.split("\n")) expect(line).toContain(key.fingerprint);
  expect(shown.match(/Good "git" signature for agent@platform.invalid with ED25519 key/g)).toHaveLength(
    log.split("\n").length,
  );
  return log.split("\n").map((line) => line.replace(` ${key.fingerprint}`, ""));
}

test("plain git verifies commits of the platform and of the agent with the published key", async () => {
  const shop = await harness.shop();
  const agent = await harness.agent([{ url: shop.url }]);
  const { root } = agent.workspace;
  for (const name of ["first", "second"]) {
    writeFileSync(join(root, name), name);
    await userGit(root, "add", name);
    await asAgent(root, "commit", "--quiet", `--message=${name}`);
  }
  writeFileSync(join(root, "left"), "left");
  const { branches } = await agent.finish("Left");
  const branch = branches[0]?.branch ?? "";
  expect(await verified(shop, branch)).toEqual([
    "G Platform Agent Platform Agent Left",
    "G Platform Agent Platform Agent second",
    "G Platform Agent Platform Agent first",
  ]);
  expect(await userGit(root, "rev-parse", "HEAD")).toBe(await shop.git("rev-parse", branch));
  expect(await userGit(root, "status", "--porcelain")).toBe("");
  expect(await userGit(root, "fsck", "--full")).not.toContain("error");
});

test("for a run of a user, the user is the author and the platform the committer", async () => {
  const shop = await harness.shop();
  const agent = await harness.agent([{ url: shop.url }]);
  const { root } = agent.workspace;
  writeFileSync(join(root, "own"), "own");
  await userGit(root, "add", "own");
  await asAgent(root, "commit", "--quiet", "--message=own");
  writeFileSync(join(root, "left"), "left");
  const onBehalfOf = { name: "Zoë <Z>", email: "zoe@example.com" };
  const { branches } = await agent.finish("Left", { opensAsApp: false, onBehalfOf });
  const branch = branches[0]?.branch ?? "";
  expect(await verified(shop, branch)).toEqual(["G Zoë Z Platform Agent Left", "G Zoë Z Platform Agent own"]);
  expect(await shop.git("log", "-1", "--format=%ae %ce %b", branch)).toBe("zoe@example.com agent@platform.invalid");
});

test("an agent cannot commit as another author", async () => {
  const shop = await harness.shop();
  const agent = await harness.agent([{ url: shop.url }]);
  const { root } = agent.workspace;
  const forged = ["--author=The Boss <boss@example.com>", "--date=2020-02-03T04:05:06+0700"];
  await asAgent(root, "commit", "--quiet", "--allow-empty", "--message=Forged", ...forged);
  const { branches } = await agent.finish("Nothing left");
  const branch = branches[0]?.branch ?? "";
  expect(await verified(shop, branch)).toEqual(["G Platform Agent Platform Agent Forged"]);
  expect(await shop.git("log", "-1", "--format=%aI", branch)).toBe("2020-02-03T04:05:06+07:00");
});

test("commits of other authors stay unchanged", async () => {
  const shop = await harness.shop();
  const agent = await harness.agent([{ url: shop.url }]);
  const { root } = agent.workspace;
  await userGit(root, "commit", "--quiet", "--allow-empty", "--message=By a person");
  const theirs = await userGit(root, "rev-parse", "HEAD");
  await asAgent(root, "commit", "--quiet", "--allow-empty", "--message=Own");
  const { branches } = await agent.finish("Nothing left");
  const log = await shop.git("log", "--format=%H %s", `main..${branches[0]?.branch}`);
  expect(log).toMatch(/ Own\n/);
  expect(log).toContain(`${theirs} By a person`);
  expect(await shop.git("cat-file", "commit", theirs)).not.toContain("gpgsig");
});

test("follow-ups continue from the signed commits", async () => {
  const shop = await harness.shop();
  const agent = await harness.agent([{ url: shop.url }]);
  const { root } = agent.workspace;
  await asAgent(root, "commit", "--quiet", "--allow-empty", "--message=one");
  const first = await agent.finish("One");
  await asAgent(root, "commit", "--quiet", "--allow-empty", "--message=two");
  expect(await agent.finish("Two")).toEqual(first);
  expect(await agent.again()).toEqual(first);
  expect(await verified(shop, first.branches[0]?.branch ?? "")).toEqual([
    "G Platform Agent Platform Agent two",
    "G Platform Agent Platform Agent one",
  ]);
});

test("a repository with SHA-256 objects is signed", async () => {
  const origin = join(home.path, "long");
  await run("git", ["init", "--quiet", "--object-format=sha256", "--initial-branch=main", origin]);
  await userGit(origin, "commit", "--quiet", "--allow-empty", "--message=First");
  const directory = join(harness.served, "long.git");
  await run("git", ["clone", "--quiet", "--bare", origin, directory]);
  const server = await serveHttp(harness.served);
  const url = `${server.url}/long.git`;
  const agent = await harness.agent([{ url }]);
  writeFileSync(join(agent.workspace.root, "left"), "left");
  const { branches, faults } = await agent.finish("Left");
  expect(faults).toEqual([]);
  const shop = { name: "long", url, directory, git: (...args: string[]) => userGit(directory, ...args) };
  const branch = branches[0]?.branch ?? "";
  expect(await verified(shop, branch)).toEqual(["G Platform Agent Platform Agent Left"]);
  expect(await shop.git("cat-file", "commit", branch)).toContain("gpgsig-sha256 -----BEGIN SSH SIGNATURE-----");
  await server.close();
});

test("the key is created once, readable by its owner only, and not accessible to agents", async () => {
  const path = join(harness.data, "signing-key");
  const text = readFileSync(path, "utf8");
  expect(statSync(path).mode & 0o777).toBe(0o600);
  expect(openSigningKey({ path, isGiven: false }).publicKey).toMatch(/^ssh-ed25519 AAAA/);
  expect(readFileSync(path, "utf8")).toBe(text);
  const secret = text.split("\n")[1] ?? "";
  for (const directory of ["workspaces", "handoffs"])
    for (const entry of readdirSync(join(harness.data, directory), { recursive: true, withFileTypes: true }))
      if (entry.isFile()) expect(readFileSync(join(entry.parentPath, entry.name), "latin1")).not.toContain(secret);
});

test("a key from ssh-keygen is accepted, and an unusable one is reported with instructions", async () => {
  const path = join(home.path, "given");
  await run("ssh-keygen", ["-q", "-t", "ed25519", "-N", "", "-C", "", "-f", path]);
  const { publicKey, fingerprint } = openSigningKey({ path, isGiven: true });
  expect(readFileSync(`${path}.pub`, "utf8").trim()).toBe(publicKey);
  expect((await run("ssh-keygen", ["-l", "-f", `${path}.pub`])).stdout).toContain(fingerprint);
  chmodSync(path, 0o644);
  expect(() => openSigningKey({ path, isGiven: true })).toThrow(`chmod 600 ${path}`);
  const locked = join(home.path, "locked");
  await run("ssh-keygen", ["-q", "-t", "ed25519", "-N", "secret", "-f", locked]);
  expect(() => openSigningKey({ path: locked, isGiven: true })).toThrow("it has a passphrase");
  const other = join(home.path, "other");
  const { privateKey } = generateKeyPairSync("ed448");
  writeFileSync(other, privateKey.export({ type: "pkcs8", format: "pem" }), { mode: 0o600 });
  expect(() => openSigningKey({ path: other, isGiven: true })).toThrow("ssh-keygen -t ed25519");
  const missing = join(home.path, "missing");
  expect(() => openSigningKey({ path: missing, isGiven: true })).toThrow("cannot be read");
  expect(existsSync(missing)).toBe(false);
});

test("a damaged key file is refused, whatever it contains", async () => {
  const path = join(home.path, "damaged");
  await run("ssh-keygen", ["-q", "-t", "ed25519", "-N", "", "-f", path]);
  const text = readFileSync(path, "utf8");
  const whole = Buffer.from(text.split("\n").slice(1, -2).join(""), "base64");
  fc.assert(
    fc.property(fc.nat(whole.length - 1), fc.integer({ min: 1, max: 255 }), fc.nat(whole.length), (at, by, cut) => {
      const bytes = Buffer.from(whole);
      bytes[at] = (bytes[at] ?? 0) ^ by;
      const body = bytes.subarray(0, cut).toString("base64");
      try {
        readOpenSshKey(`-----BEGIN OPENSSH PRIVATE KEY-----\n${body}\n-----END OPENSSH PRIVATE KEY-----\n`);
      } catch (error) {
        expect(error).toBeInstanceOf(Error);
        expect((error as Error).message).not.toBe("");
      }
    }),
    { numRuns: Number(process.env.FUZZ_RUNS ?? 200) },
  );
});

/** Git configured as in the sandbox of an agent. */
const asAgent = (root: string, ...args: string[]) =>
  run("git", args, {
    cwd: root,
    env: { PATH: process.env.PATH, HOME: home.path, GIT_CONFIG_NOSYSTEM: "1" },
  });

test("merges on the embedded host are signed by the platform, with the person who merged as author", async () => {
  const shop = await harness.shop();
  await shop.git("branch", "before", "main");
  const agent = await harness.agent([{ url: shop.url }]);
  writeFileSync(join(agent.workspace.root, "new"), "new");
  await agent.finish("New");
  const pull = `/git/${shop.name}/pulls/1`;
  await harness.ask("PATCH", pull, { draft: false });
  expect(await harness.ask("POST", `${pull}/merge`)).toMatchObject({ status: 200 });
  const merged = await shop.git("rev-parse", "main");
  await shop.git("update-ref", "refs/heads/main", "before");
  const [merge = ""] = await verified(shop, merged);
  expect(merge).toMatch(/^G .+ Platform Agent Merge pull request #1 from platform\/fix-the-failing-test-/);
  expect(merge).not.toMatch(/^G Platform Agent/);
});
