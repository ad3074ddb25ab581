// HashiCorp Vault itself keeps the key-encryption key: the adapter and its faults, the scripted Vault of other tests, and servers
// that reach it over TLS.
import { randomBytes } from "node:crypto";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { eventually, temporaryDirectory } from "@agentcli/testkit";
import { type FakeVault, startFakeVault } from "@agentcli/testkit/key-services";
import { openPlatformForTest } from "@agentcli/testkit/platform";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import { Unsealable } from "../../../../src/foundation/vault/index.ts";
import type { KeyService } from "../../../../src/foundation/vault/key-service.ts";
import {
  openVaultTransit,
  readTokenFile,
  type VaultTransitOptions,
} from "../../../../src/foundation/vault/vault-transit.ts";
import { keyEncryptionContract } from "../contract.ts";
import { keysOf, quickRetry } from "../services.ts";
import { startVault, type VaultServer } from "./vault-server.ts";

let vault: VaultServer;
let fake: FakeVault;
/** For the keys that both have. */
let token: string;
beforeAll(async () => {
  [vault, fake] = [await startVault(), await startFakeVault()];
  await vault.asRoot("POST", `sys/mounts/${fake.mount}`, { type: "transit" });
  await addKey(fake.key);
  await addKey(fake.otherKey);
  token = await vault.token([fake.key, fake.otherKey]);
}, 7_200_000);
afterAll(async () => {
  await Promise.all([vault?.close(), fake?.close()]);
});

/** With the policy that docs/platform-operations.md describes. */
async function addKey(name: string): Promise<string> {
  await vault.asRoot("POST", `${fake.mount}/keys/${name}`);
  const rules = ["encrypt", "decrypt", "rewrap"].map(
    (operation) => `path "${fake.mount}/${operation}/${name}" { capabilities = ["update"] }`,
  );
  await vault.asRoot("PUT", `sys/policies/acl/${name}`, { policy: rules.join("\n") });
  return name;
}

const open = (changes: Partial<VaultTransitOptions> = {}): KeyService =>
  openVaultTransit({
    ...{ key: fake.key, mount: fake.mount, namespace: null, endpoint: vault.endpoint, retry: quickRetry },
    ...{ token: () => token, ...changes },
  });

/** A key of its own, for tests that change it. */
async function openOwn() {
  const key = await addKey(`key-${randomBytes(4).toString("hex")}`);
  const own = await vault.token([key]);
  return { key, own, service: open({ key, token: () => own }) };
}

const pair = () => keysOf((key) => open(key === undefined ? {} : { key }), fake.otherKey);
let keys: ReturnType<typeof pair> | null = null;
const opened = () => {
  keys ??= pair();
  return keys;
};
keyEncryptionContract("Vault itself", { open: () => opened().open(), openOther: () => opened().openOther() });

test("a rotated key encrypts with its new version and reads the former one, until its configuration excludes that one", async () => {
  const { key, service } = await openOwn();
  const text = randomBytes(32);
  const former = await service.encrypt(text, "data key");
  await vault.asRoot("POST", `${fake.mount}/keys/${key}/rotate`);
  const all = [former, await service.encrypt(text, "data key"), await service.rewrap(former, "data key")];
  expect(all.map((bytes) => /^vault:v\d:/.exec(String(bytes))?.[0])).toEqual(["vault:v1:", "vault:v2:", "vault:v2:"]);
  for (const bytes of all) expect(await service.decrypt(bytes, "data key")).toEqual(text);
  await vault.asRoot("POST", `${fake.mount}/keys/${key}/config`, { min_decryption_version: 2 });
  await expect(service.decrypt(former, "data key")).rejects.toThrow(Unsealable);
  for (const bytes of all.slice(1)) expect(await service.decrypt(bytes, "data key")).toEqual(text);
  await expect(service.decrypt(all[1] ?? former, "authentication key")).rejects.toThrow(Unsealable);
});

const denied = { reason: "denied", message: expect.stringContaining("Check the token") };

test("a token that is unknown, missing, revoked, expired or of another key is refused, and named as what to check", async () => {
  const { service, own } = await openOwn();
  const attempt = (other: string) => open({ token: () => other }).encrypt(randomBytes(32), "data key");
  for (const other of ["hvs.unknown", "", own]) await expect(attempt(other)).rejects.toMatchObject(denied);
  await vault.asRoot("POST", "auth/token/revoke", { token: own });
  await expect(service.encrypt(randomBytes(32), "data key")).rejects.toMatchObject(denied);
  const short = await vault.token([fake.key], { ttl: "1s", explicit_max_ttl: "1s" });
  await eventually(() => expect(attempt(short)).rejects.toMatchObject(denied));
});

test("a token that an agent of Vault has renewed in its file is used at once", async () => {
  const { path, remove } = await temporaryDirectory();
  onTestFinished(remove);
  const file = join(path, "token");
  const service = open({ token: () => readTokenFile(file) });
  writeFileSync(file, "hvs.former\n");
  await expect(service.encrypt(randomBytes(32), "data key")).rejects.toMatchObject(denied);
  writeFileSync(file, `${token}\n`);
  expect(String(await service.encrypt(randomBytes(32), "data key"))).toMatch(/^vault:v1:/);
});

test("a key, a mount or a path that is not there is refused, and no key is made", async () => {
  for (const changes of [{ key: "missing" }, { mount: "missing" }, { endpoint: `${vault.endpoint}/missing` }])
    await expect(open(changes).encrypt(randomBytes(32), "data key")).rejects.toMatchObject({
      reason: expect.stringMatching(/denied|failed/),
    });
  const { keys: names } = (await vault.asRoot("LIST", `${fake.mount}/keys`)).data as { keys: string[] };
  expect(names).not.toContain("missing");
});

test("a Vault that is sealed is named as such, and works on once it is unsealed", async () => {
  const encrypted = await open().encrypt(randomBytes(32), "data key");
  await vault.seal();
  await expect(open().decrypt(encrypted, "data key")).rejects.toMatchObject({
    reason: "failed",
    message: expect.stringContaining("Vault is sealed"),
  });
  await vault.unseal();
  expect(await open().decrypt(encrypted, "data key")).toHaveLength(32);
});

test("a limit of requests that Vault enforces is waited for, and named where it stays", async () => {
  const quota = { rate: 1, interval: "1m", path: fake.mount };
  await vault.asRoot("POST", "sys/quotas/rate-limit/test", quota);
  onTestFinished(async () => void (await vault.asRoot("DELETE", "sys/quotas/rate-limit/test")));
  const attempts = [1, 2, 3].map(() => open().encrypt(randomBytes(32), "data key"));
  const faults = (await Promise.allSettled(attempts)).flatMap((end) => (end.status === "rejected" ? end.reason : []));
  expect(faults.length).toBeGreaterThan(0);
  for (const fault of faults)
    expect(fault).toMatchObject({ reason: "throttled", message: expect.stringContaining("kms.cache_seconds") });
});

interface Call {
  operation: string;
  key?: string;
  token?: string;
  method?: string;
  /** Of a text that was encrypted before. */
  ciphertext?: (text: string) => string;
}

const calls: [name: string, call: Call][] = [
  ["a text is encrypted", { operation: "encrypt" }],
  ["it is decrypted", { operation: "decrypt", ciphertext: (text) => text }],
  ["it is encrypted again", { operation: "rewrap", ciphertext: (text) => text }],
  ["with an unknown token", { operation: "encrypt", token: "hvs.unknown" }],
  ["with an empty token", { operation: "encrypt", token: "" }],
  ["with a key that is not there", { operation: "encrypt", key: "missing" }],
  ["with another method", { operation: "encrypt", method: "DELETE" }],
  ["with another operation", { operation: "sign" }],
  ["with another key", { operation: "decrypt", key: "other", ciphertext: (text) => text }],
  ["changed", { operation: "decrypt", ciphertext: (text) => text.replace(/.{8}$/, "AAAAAAA=") }],
  ["cut off", { operation: "decrypt", ciphertext: (text) => text.slice(0, 40) }],
  ["cut off in base64", { operation: "decrypt", ciphertext: (text) => text.slice(0, 41) }],
  ["very short", { operation: "decrypt", ciphertext: (text) => text.slice(0, 13) }],
  ["without a prefix", { operation: "decrypt", ciphertext: (text) => text.slice(9) }],
  ["without a version", { operation: "rewrap", ciphertext: (text) => text.replace(":v1:", ":") }],
  ["of a later version", { operation: "decrypt", ciphertext: (text) => text.replace(":v1:", ":v9:") }],
  ["of a version in letters", { operation: "decrypt", ciphertext: (text) => text.replace(":v1:", ":vx:") }],
  ["empty", { operation: "decrypt", ciphertext: () => "" }],
];

interface Target {
  endpoint: string;
  token: string;
}

/** Status, errors, and the names of what is answered. */
async function send(target: Target, { operation, key = fake.key, method = "POST", ciphertext, ...call }: Call) {
  const post = async (path: string, body: object, how = "POST", sent = target.token) => {
    const headers = { "x-vault-token": sent, "x-vault-namespace": fake.namespace, "x-vault-request": "true" };
    const url = `${target.endpoint}/v1/${fake.mount}/${path}`;
    const response = await fetch(url, { method: how, headers, body: JSON.stringify(body) });
    return { status: response.status, body: JSON.parse((await response.text()) || "{}") };
  };
  const plaintext = Buffer.from("text").toString("base64");
  const made = (await post(`encrypt/${fake.key}`, { plaintext })).body.data?.ciphertext ?? "";
  const body = ciphertext === undefined ? { plaintext } : { ciphertext: ciphertext(made) };
  const answer = await post(`${operation}/${key}`, body, method, call.token);
  return { status: answer.status, errors: answer.body.errors, data: Object.keys(answer.body.data ?? {}) };
}

test.each(calls)("the scripted Vault answers as Vault does: %s", async (_name, call) => {
  const answer = await send({ endpoint: vault.endpoint, token }, call);
  expect(await send({ endpoint: fake.endpoint, token: fake.token }, call)).toEqual(answer);
});

test("servers over TLS, with an authority of its own: keys are rotated while they run, and a sealed Vault stops neither for good", async () => {
  const { key, own } = await openOwn();
  const harness = await openPlatformForTest({
    env: {
      ...{ PLATFORM_KMS_PROVIDER: "vault", PLATFORM_KMS_ENDPOINT: vault.tlsEndpoint, PLATFORM_KMS_KEY: key },
      ...{ PLATFORM_KMS_MOUNT: fake.mount, PLATFORM_KMS_CACHE_SECONDS: "0", VAULT_TOKEN: own },
      NODE_EXTRA_CA_CERTS: vault.authority,
    },
  });
  const distrusting = await harness.run(["serve", "--listen", "127.0.0.1:0"], { NODE_EXTRA_CA_CERTS: "" });
  expect(distrusting).toMatchObject({ code: 1, stderr: expect.stringMatching(/certificate.*NODE_EXTRA_CA_CERTS/) });

  const server = await harness.serve();
  const first = await harness.client(server);
  const set = (client: typeof first, name: string) =>
    client.send("PUT", `/v1/team/secrets/${name}`, { value: "canary-4d0f-value" });
  expect((await set(first, "BEFORE")).status).toBe(201);
  await vault.asRoot("POST", `${fake.mount}/keys/${key}/rotate`);
  const [printed, ...ends] = await Promise.all([
    harness.output("rotate-kek"),
    ...[1, 2, 3].map(async () => first.waitForRun(await first.create("run true"))),
  ]);
  expect(printed).toMatch(
    new RegExp(`^\\d+ data keys are encrypted by the newest version of the key .*${key} of Vault\n`),
  );
  expect(ends.map(({ status }) => status)).toEqual(["FINISHED", "FINISHED", "FINISHED"]);

  await harness.output("rotate-kek");
  await vault.asRoot("POST", `${fake.mount}/keys/${key}/config`, { min_decryption_version: 2 });
  const second = await harness.client(await harness.serve());
  for (const client of [first, second]) {
    const run = await client.waitForRun(await client.create("run test ${#BEFORE} = 17"));
    expect(run).toMatchObject({ status: "FINISHED", result: expect.stringContaining("exit code 0") });
  }

  await vault.seal();
  expect(await set(first, "MEANWHILE")).toMatchObject({
    status: 503,
    text: expect.stringContaining("key_service_unavailable"),
  });
  await eventually(() => expect(server.log().join("\n")).toMatch(/key_service_unavailable.*Vault is sealed/));
  await vault.unseal();
  for (const client of [first, second]) expect([200, 201]).toContain((await set(client, "MEANWHILE")).status);
});
