// Credentials of teams for git hosts over ssh: whole runs against a real sshd, with strict host keys.
import { execFileSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { temporaryDirectory } from "@agentcli/testkit";
import { afterAll, beforeAll, expect, test } from "vitest";
import { commandWith } from "../harness/command.ts";
import { findLeaks } from "../harness/leaks.ts";
import { type CredentialHarness, openCredentialHarness, readCommandLines } from "./credential-harness.ts";
import { type SshServer, serveSsh } from "./ssh-server.ts";

let harness: CredentialHarness;
let home: Awaited<ReturnType<typeof temporaryDirectory>>;
let ssh: SshServer;
let host: string;

beforeAll(async () => {
  home = await temporaryDirectory();
  harness = await openCredentialHarness();
  ssh = await serveSsh(home.path);
  host = `127.0.0.1:${ssh.port}`;
});
afterAll(async () => {
  await ssh.close();
  await harness.close();
  await home.remove();
});

/** Lines of the key that are not the same in every key. */
const secretOf = (key: string): string[] => key.split("\n").slice(2, -2);

const keyscan = () => `[127.0.0.1]:${ssh.port} ${ssh.hostKey.publicKey}\n`;

test("an unknown host key is refused with its fingerprint and the command that accepts it, which does", async () => {
  const directory = await harness.addRepository("strict");
  await harness.set({ host, kind: "ssh_key", value: ssh.key });
  const { error } = await harness.run(`${ssh.url}${directory}`, "true");
  expect(error?.code).toBe("repository_unreachable");
  expect(error?.message).toContain(
    `127.0.0.1, whose ssh host key is not known: it offers ssh-ed25519 ${ssh.hostKey.fingerprint}.`,
  );
  const accept = `ssh-keyscan -p ${ssh.port} 127.0.0.1 | platform credentials set ${host} --kind known-hosts --fingerprint ${ssh.hostKey.fingerprint}`;
  expect(error?.message).toContain(accept);
  const scanned = execFileSync("ssh-keyscan", ["-p", String(ssh.port), "127.0.0.1"], {
    stdio: ["ignore", "pipe", "ignore"],
  });
  await commandWith(scanned.toString(), harness.server, accept.split(" | platform ")[1]?.split(" ") ?? []);
  expect(await harness.run(`${ssh.url}${directory}`, "true")).toMatchObject({ status: "FINISHED" });
});

test("a run clones, pushes and hands off with the team's key, which is in no file, process or message", async () => {
  const directory = await harness.addRepository("shop");
  await harness.set({ host, kind: "ssh_key", value: ssh.key });
  await harness.set({ host, kind: "known_hosts", value: keyscan() });
  // Runs on the host when the branch is pushed.
  const seen = join(home.path, "seen");
  writeFileSync(
    join(directory, "hooks/pre-receive"),
    `#!/bin/sh\ncat /proc/*/cmdline /proc/*/environ > ${seen} 2>/dev/null\nexit 0\n`,
    { mode: 0o755 },
  );
  const run = await harness.run(
    `${ssh.url}${directory}`,
    "env; cat /proc/*/cmdline /proc/*/environ; git config --list; cat .git/config; ls -a ~/.ssh; echo new > new.txt",
  );
  expect(run).toMatchObject({ status: "FINISHED", git: { branches: [{ branch: expect.any(String) }] } });
  const branch = run.git?.branches[0]?.branch ?? "";
  expect(execFileSync("git", ["log", "-1", "--format=%an", branch], { cwd: directory }).toString()).not.toBe("");
  const seenText = execFileSync("cat", [seen]).toString();
  expect(seenText).toContain("receive-pack");
  const { agentId, id } = run;
  const stream = await fetch(`${harness.server.url}/v1/agents/${agentId}/runs/${id}/stream`, {
    headers: { authorization: `Bearer ${harness.key}` },
  });
  const shown = [JSON.stringify(run), await stream.text(), seenText, readCommandLines()].join("\n");
  for (const line of secretOf(ssh.key)) expect(shown).not.toContain(line);
  expect(await findLeaks(harness.server, harness.logged, secretOf(ssh.key))).toEqual([]);
});

test("a refused key, no key, and a changed host key are named with the way on", async () => {
  const directory = await harness.addRepository("refused");
  const url = `${ssh.url}${directory}`;
  const wrong = join(home.path, "wrong");
  execFileSync("ssh-keygen", ["-q", "-t", "ecdsa", "-N", "", "-f", wrong]);
  await harness.set({ host, kind: "known_hosts", value: keyscan() });
  await harness.set({ host, kind: "ssh_key", value: execFileSync("cat", [wrong]).toString() });
  const refused = (await harness.run(url, "true")).error;
  expect(refused?.message).toContain(`refused the team's ssh key for ${host}`);
  expect(refused?.message).toContain(`platform credentials set ${host} --kind ssh-key`);
  const other = await harness.server.key({ team: "other", owner: { kind: "user", email: "eve@example.com" } });
  await harness.set({ host, kind: "known_hosts", value: keyscan() }, other);
  const none = (await harness.run(url, "true", other)).error;
  expect(none?.message).toContain(`platform credentials set ${host} --kind ssh-key --team other`);
  const changed = `127.0.0.1 ${execFileSync("ssh-keygen", ["-y", "-f", wrong]).toString()}`;
  await harness.set({ host, kind: "known_hosts", value: changed });
  const { error } = await harness.run(url, "true");
  expect(error?.message).toMatch(/whose ssh host key is not/);
  expect(error?.message).toContain(ssh.hostKey.fingerprint);
});

test.each(["rsa -b 2048", "ecdsa -b 384"])("a key of %s signs in", async (kind) => {
  const file = join(home.path, `key-${kind.split(" ")[0]}`);
  execFileSync("ssh-keygen", ["-q", "-t", ...kind.split(" "), "-N", "", "-f", file]);
  execFileSync("sh", ["-c", `cat '${file}.pub' >> '${join(home.path, "user_key.pub")}'`]);
  const directory = await harness.addRepository(`kind-${kind.split(" ")[0]}`);
  await harness.set({ host, kind: "known_hosts", value: keyscan() });
  await harness.set({ host, kind: "ssh_key", value: execFileSync("cat", [file]).toString() });
  expect(await harness.run(`${ssh.url}${directory}`, "true")).toMatchObject({ status: "FINISHED" });
});
