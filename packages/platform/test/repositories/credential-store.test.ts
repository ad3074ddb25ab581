// Credentials for git hosts as administrators and operators handle them: set, list, remove, audit, rotation of keys.
import { execFileSync } from "node:child_process";
import { generateKeyPairSync } from "node:crypto";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { temporaryDirectory } from "@agentcli/testkit";
import fc from "fast-check";
import { afterAll, beforeAll, expect, test } from "vitest";
import { openVault, rotateKeyFile } from "../../src/foundation/vault/index.ts";
import { readCredentialHost } from "../../src/repositories/credentials/host.ts";
import { putCredential } from "../../src/repositories/credentials/index.ts";
import { findCredentials } from "../../src/repositories/credentials/store.ts";
import { knownHostsText, readKnownHosts, readPrivateKey } from "../../src/repositories/ssh/index.ts";
import { command, commandWith } from "../harness/command.ts";
import { openFixture } from "../harness/fixture.ts";
import { findLeaks } from "../harness/leaks.ts";
import { type TestServer, testServer } from "../harness/platform.ts";

const runs = { numRuns: Number(process.env.FUZZ_RUNS ?? 200) };
const path = "/v1/team/credentials";

let server: TestServer;
let admin: string;
let home: Awaited<ReturnType<typeof temporaryDirectory>>;

beforeAll(async () => {
  home = await temporaryDirectory();
  server = await testServer({ roles: ["api"] });
  admin = await server.key();
});
afterAll(async () => {
  await server.close();
  await home.remove();
});

let keys = 0;

/** A key made by ssh-keygen: its file, its private and public text, and its fingerprint. */
function makeKey(...kind: string[]): { file: string; text: string; publicKey: string; fingerprint: string } {
  const file = join(home.path, `key-${++keys}`);
  execFileSync("ssh-keygen", ["-q", "-t", ...kind, "-N", "", "-C", "", "-f", file]);
  const fingerprint = execFileSync("ssh-keygen", ["-l", "-f", file]).toString().split(" ")[1] ?? "";
  return { file, text: readFileSync(file, "utf8"), publicKey: readFileSync(`${file}.pub`, "utf8").trim(), fingerprint };
}

test("an administrator sets, lists and removes credentials; the audit log has each change and no value", async () => {
  const member = await server.key({ owner: { kind: "user", email: "bob@example.com" } });
  const values = ["a-token-of-the-team", "a-second-token-of-the-team"];
  const entry = { host: "git.example.com", kind: "token" };
  for (const value of values)
    expect(
      await server.call(admin, "PUT", path, { host: "https://Git.Example.com:443/", kind: "token", value }),
    ).toMatchObject({
      status: 200,
      body: entry,
    });
  for (const [method, body] of [["GET"], ["PUT", { ...entry, value: "x" }]] as const)
    expect(await server.call(member, method, path, body)).toMatchObject({ status: 403 });
  const listed = await server.call(admin, "GET", path);
  expect(listed.body).toEqual({ items: [{ ...entry, createdAt: expect.any(String), updatedAt: expect.any(String) }] });
  const query = "?host=git.example.com&kind=token";
  expect((await server.call(admin, "DELETE", `${path}${query}`)).body).toEqual({ ...entry, removed: true });
  expect((await server.call(admin, "DELETE", `${path}${query}`)).body).toEqual({ ...entry, removed: false });
  const rows = await server.platform.db.selectFrom("audit_entries").select("entry").orderBy("seq").execute();
  const entries = rows.map((row) => JSON.parse(row.entry) as { action: string; actor: string; subject: string });
  const changes = entries.filter(({ action }) => action.startsWith("source_credential."));
  expect(changes.map(({ action }) => action.split(".")[1])).toEqual(["created", "changed", "deleted"]);
  expect(changes[0]).toMatchObject({
    actor: expect.stringMatching(/^user:/),
    subject: expect.stringMatching(/^\d+:git.example.com:token$/),
  });
  expect(
    await findLeaks(
      server,
      rows.map((row) => row.entry),
      values,
    ),
  ).toEqual([]);
});

test.each([
  [{ host: "git.example.com/o/r", kind: "token", value: "t" }, "host must be HOST or HOST:PORT, without a path"],
  [{ host: "ada@git.example.com", kind: "token", value: "t" }, "host must not have a user name"],
  [{ host: "http://git.example.com", kind: "ssh_key", value: "t" }, "host must be HOST, or begin with ssh://"],
  [{ host: "0x7f.1", kind: "token", value: "t" }, "host is not a host"],
  [{ host: "git.example.com", kind: "token", value: "a\nb: c" }, "value must be one token"],
  [{ host: "git.example.com", kind: "token", value: "t", user: "ada" }, "user is for the kind basic only"],
  [{ host: "git.example.com", kind: "basic", value: "p" }, "user is required for the kind basic"],
  [{ host: "git.example.com", kind: "basic", value: "p", user: "a:b" }, "user must not have a colon"],
  [{ host: "git.example.com", kind: "ssh_key", value: "none" }, "value is not a private key without a passphrase"],
  [{ host: "git.example.com", kind: "known_hosts", value: "# none\n" }, "value is not from known_hosts: it has no key"],
  [{ host: "git.example.com", kind: "netrc", value: "x" }, "kind"],
])("%j is refused by name", async (body, message) => {
  expect(await server.call(admin, "PUT", path, body)).toMatchObject({
    status: 400,
    body: { error: { code: "validation_error", message: expect.stringContaining(message) } },
  });
});

test("commands set, list and remove credentials; values come from standard input or a file", async () => {
  const { file, publicKey, fingerprint } = makeKey("ed25519");
  const set = (input: string, ...argv: string[]) =>
    commandWith(input, server, ["credentials", "set", "git.local", ...argv]);
  expect(await set("cli-token\n", "--kind", "token")).toMatch(/^git\.local {2}token {2}set /);
  expect(await set("", "--kind", "ssh-key", "--file", file)).toContain(fingerprint);
  const lines = `git.local ${publicKey}\n`;
  await expect(set(lines, "--kind", "known-hosts", "--fingerprint", "SHA256:other")).rejects.toThrow(
    `No host key has the fingerprint SHA256:other; given: ssh-ed25519 ${fingerprint}`,
  );
  expect(await set(lines, "--kind", "known-hosts", "--fingerprint", fingerprint)).toContain(fingerprint);
  await expect(set("", "--kind", "token")).rejects.toThrow("The value is empty");
  await expect(set("x", "--kind", "netrc")).rejects.toThrow("Choose token, basic, ssh-key or known-hosts");
  await expect(set("x", "--kind", "basic")).rejects.toThrow("user is required");
  await expect(set("x", "--kind", "token", "--team", "gone")).rejects.toThrow("There is no team gone");
  const listed = await command(server, "credentials", "list");
  expect(listed.split("\n").map((line) => line.split("  ").slice(0, 2).join(" "))).toEqual([
    "git.local known-hosts",
    "git.local ssh-key",
    "git.local token",
  ]);
  expect(listed).not.toContain("cli-token");
  expect(await command(server, "credentials", "remove", "git.local", "--kind", "token")).toBe(
    "Removed the token for git.local.",
  );
  await expect(command(server, "credentials", "remove", "git.local", "--kind", "token")).rejects.toThrow(
    "Team default has no token for git.local",
  );
});

test("credentials stay readable after the key-encryption key is rotated, and only with the new one", async () => {
  const fixture = await openFixture();
  const { db, vault, settings } = fixture.platform;
  const { teamId } = fixture.principal;
  const credential = { host: "git.example.com", kind: "token", value: "rotated-token" } as const;
  await putCredential({ db, vault }, teamId, credential);
  const kekFile = `${settings.dataDirectory}/kek`;
  await rotateKeyFile(db, kekFile);
  const find = (opened: typeof vault) =>
    findCredentials({ db, vault: opened }, { teamId, host: credential.host }, ["token"]);
  expect(await find(await openVault(db, { kekFile }))).toEqual([credential]);
  await expect(find(vault)).rejects.toThrow();
  await fixture.close();
});

test.each(["ed25519", "rsa -b 2048", "ecdsa -b 256", "ecdsa -b 384", "ecdsa -b 521"])(
  "a private key of %j is read as ssh-keygen shows it, and one with a passphrase is refused",
  (kind) => {
    const { file, text, fingerprint } = makeKey(...kind.split(" "));
    expect(readPrivateKey(text).fingerprint).toBe(fingerprint);
    execFileSync("ssh-keygen", ["-q", "-p", "-P", "", "-N", "a passphrase", "-f", file]);
    expect(() => readPrivateKey(readFileSync(file, "utf8"))).toThrow("it has a passphrase");
  },
);

test("keys in PEM are read too, and a damaged one is not quoted", () => {
  const { privateKey } = generateKeyPairSync("rsa", { modulusLength: 2048 });
  for (const type of ["pkcs1", "pkcs8"] as const) {
    const pem = privateKey.export({ type, format: "pem" }).toString();
    expect(readPrivateKey(pem).fingerprint).toMatch(/^SHA256:/);
    expect(() => readPrivateKey(pem.replace(/\n.{20}/, "\nAAAA"))).toThrow(/^it is damaged$/);
  }
});

test("lines of known_hosts are for the host, in each form that ssh writes", () => {
  const { publicKey, fingerprint } = makeKey("ed25519");
  const other = { name: "git.example.com", port: 2222 };
  const hashed = join(home.path, "hashed");
  writeFileSync(hashed, `[git.example.com]:2222 ${publicKey}\n`);
  execFileSync("ssh-keygen", ["-q", "-H", "-f", hashed], { stdio: "ignore" });
  for (const line of [
    `[git.example.com]:2222 ${publicKey}`,
    `git.example.com ${publicKey}`,
    `*.example.com,!bad.example.com ${publicKey} a comment`,
    readFileSync(hashed, "utf8"),
  ])
    expect(readKnownHosts(line, other), line).toMatchObject({ kind: "keys", keys: [{ fingerprint }] });
  for (const line of [
    `other.example.com ${publicKey}`,
    `[git.example.com]:22 ${publicKey}`,
    `!git.example.com,* ${publicKey}`,
    `git.example.com ssh-rsa ${publicKey.split(" ")[1]}`,
    `@unknown git.example.com ${publicKey}`,
    `git.example.com ${publicKey.slice(0, 40)}`,
  ])
    expect(readKnownHosts(line, other), line).toMatchObject({
      kind: "refused",
      reason: expect.stringMatching(/^line 1 /),
    });
});

test("whatever is given as known_hosts or as a host, the result has one line per key and nothing else", () => {
  const key = makeKey("ed25519").publicKey;
  const part = fc.oneof(
    fc.string({ unit: "binary" }),
    fc.constantFrom("git.example.com ", key, "\n", "*", "|1|", "@revoked ", ",", "!", "\0", "\r"),
  );
  fc.assert(
    fc.property(fc.array(part, { maxLength: 8 }), (parts) => {
      const read = readKnownHosts(parts.join(""), { name: "git.example.com", port: 22 });
      expect(read.kind === "refused" ? read.reason : "").not.toContain("\n");
      if (read.kind === "refused") return;
      const lines = knownHostsText("git.example.com", read.keys).split("\n").slice(0, -1);
      expect(lines.length).toBe(read.keys.length);
      for (const line of lines) expect(line).toMatch(/^(?:@[a-z-]+ )?git\.example\.com [a-z0-9@.-]+ [A-Za-z0-9+/]+=*$/);
    }),
    runs,
  );
  fc.assert(
    fc.property(fc.oneof(fc.string({ unit: "binary" }), fc.webAuthority()), (text) => {
      for (const kind of ["token", "ssh_key"] as const) {
        const read = readCredentialHost(text, kind);
        if (read.kind === "refused") continue;
        expect(readCredentialHost(read.host, kind)).toEqual(read);
        expect(read.host).toMatch(/^(?:http:\/\/)?[a-z0-9._:[\]-]+$/);
      }
    }),
    runs,
  );
});
