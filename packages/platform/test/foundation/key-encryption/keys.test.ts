// The key-encryption key in a file, in AWS KMS and in Vault: what all of them promise, and what happens where a service fails.
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { mkdirSync, readFileSync } from "node:fs";
import { createServer } from "node:https";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { temporaryDirectory, unusedPort } from "@agentcli/testkit";
import { afterAll, beforeAll, beforeEach, describe, expect, onTestFinished, test } from "vitest";
import type { Settings } from "../../../src/foundation/config/index.ts";
import { claimNodeId } from "../../../src/foundation/db/index.ts";
import { silentLog } from "../../../src/foundation/telemetry/index.ts";
import {
  findKey,
  type KeyEncryption,
  type KeySettings,
  openVault,
  rotateServiceKey,
  Unsealable,
  type Vault,
} from "../../../src/foundation/vault/index.ts";
import { makeKeyFile, readKeyFile } from "../../../src/foundation/vault/key-file.ts";
import { KeyServiceFault } from "../../../src/foundation/vault/key-service.ts";
import { serviceKey } from "../../../src/foundation/vault/service-key.ts";
import { openVaultTransit } from "../../../src/foundation/vault/vault-transit.ts";
import { makeBackup, restoreBackup } from "../../../src/operations/backup/index.ts";
import { emptyDatabase, freshDatabase, type TestDatabase } from "../../harness/database.ts";
import { testSettings } from "../../harness/settings.ts";
import { type KeyPair, keyEncryptionContract } from "./contract.ts";
import { keysOf, openAws, openTransit, quickRetry, type Service } from "./services.ts";

let database: TestDatabase;
let folder: Awaited<ReturnType<typeof temporaryDirectory>>;
beforeAll(async () => {
  [database, folder] = [await freshDatabase(), await temporaryDirectory()];
});
afterAll(async () => {
  await database.close();
  await folder.remove();
});

const fileKey = (name: string) => async () => {
  makeKeyFile(join(folder.path, name));
  return readKeyFile(join(folder.path, name)) ?? expect.fail("no key");
};
keyEncryptionContract("file", { open: fileKey("one"), openOther: fileKey("other") });

test("a server does not start where the service is not there, and names it", async () => {
  const endpoint = `http://127.0.0.1:${await unusedPort()}`;
  const token = { kind: "variable", variable: "TOKEN" } as const;
  const kms = {
    kind: "vault",
    key: "platform",
    mount: "transit",
    namespace: null,
    endpoint,
    cacheMs: 0,
    token,
  } as const;
  await expect(openVault(database.db, { kekFile: join(folder.path, "unused"), kms })).rejects.toThrow(
    /key_service_unavailable: the key transit\/keys\/platform of Vault did not answer: .* Check kms\.endpoint/,
  );
});

test("a service whose certificate is of an unknown authority is asked for nothing, and the error says how to trust it", async () => {
  const files = join(import.meta.dirname, "../../../../../e2e/platform/fixtures");
  const [key, cert] = ["tls-key.pem", "tls-cert.pem"].map((name) => readFileSync(join(files, name)));
  let asked = 0;
  const server = createServer({ key, cert }, () => {
    asked += 1;
  }).listen(0, "127.0.0.1");
  onTestFinished(() => void server.close());
  await once(server, "listening");
  const endpoint = `https://localhost:${(server.address() as AddressInfo).port}`;
  const options = { key: "platform", mount: "transit", namespace: null, endpoint, retry: quickRetry };
  const service = openVaultTransit({ ...options, token: () => "hvs.token" });
  await expect(service.encrypt(randomBytes(32), "data key")).rejects.toMatchObject({
    reason: "unreachable",
    message: expect.stringMatching(/certificate\. This server does not trust .* NODE_EXTRA_CA_CERTS/),
  });
  expect(asked).toBe(0);
});

test("a stored key that is empty is damaged, which does not count as a fault of the service", async () => {
  const { open, fake } = await openTransit();
  onTestFinished(fake.close);
  await expect(open().decrypt(Buffer.alloc(0), "data key")).rejects.toThrow(Unsealable);
});

test("a backup without a passphrase is authenticated with the key of a service, and restored with that key alone", async () => {
  const [{ fake, kms, variables, otherKey }, target] = [await openAws(), await emptyDatabase()];
  onTestFinished(async () => void (await Promise.all([fake.close(), target.close()])));
  await database.db.deleteFrom("key_encryption_keys").execute();
  const kekFile = join(folder.path, "unused");
  const { wrapped } = await (await openVault(database.db, { kekFile, kms, variables })).newDataKey();
  const team = { name: "sealed by a service", data_key: wrapped };
  await database.db.insertInto("teams").values(team).execute();
  onTestFinished(async () => void (await database.db.deleteFrom("teams").where("name", "=", team.name).execute()));
  const key = (await findKey(database.db, { kekFile, kms, variables })) ?? expect.fail("no key");
  const path = join(folder.path, "backup");
  const source = { connection: database.connection, dataDirectory: join(folder.path, "source"), kekFile, key };
  mkdirSync(source.dataDirectory);
  await makeBackup({ ...source, path, passphrase: null, platformVersion: "1", now: new Date() });

  const usual = { ...testSettings(join(folder.path, "target")), databaseUrl: target.url, variables };
  const restore = (more: Partial<Settings>) =>
    restoreBackup({ path, passphrase: null, settings: { ...usual, ...more }, signal: new AbortController().signal });
  await expect(restore({ kms: { ...kms, key: otherKey } })).rejects.toThrow(
    /is another key\. Name the right one in \[kms\]/,
  );
  await expect(restore({})).rejects.toThrow(/\[kms\], which names the service that has this key, is missing/);
  await restore({ kms });
  const [row] = await target.db.selectFrom("teams").select("data_key").where("name", "=", team.name).execute();
  const restored = await openVault(target.db, { kekFile, kms, variables });
  await restored.unwrap(row?.data_key ?? expect.fail("no team"));
});

describe.each([
  ["AWS KMS", openAws],
  ["Vault", openTransit],
])("%s", (name, start) => {
  let service: Service;
  beforeAll(async () => {
    service = await start();
  });
  beforeEach(async () => {
    service.fake.endFailures();
    service.fake.operations.length = 0;
    await database.db.deleteFrom("key_encryption_keys").execute();
  });
  afterAll(() => service.fake.close());

  let pair: KeyPair | null = null;
  const keys = (): KeyPair => {
    pair ??= keysOf((key) => service.open(key === undefined ? {} : { key }), service.otherKey);
    return pair;
  };
  keyEncryptionContract(name, { open: () => keys().open(), openOther: () => keys().openOther() });

  const settings = () => ({ kekFile: join(folder.path, "unused"), kms: service.kms, variables: service.variables });

  /** A key whose clock stands until it is moved. */
  async function cachingKey() {
    const opened = service.open();
    const clock = { now: 0 };
    const authenticationKey = await opened.encrypt(randomBytes(32), "authentication key");
    const key = serviceKey(opened, { authenticationKey, cacheMs: 60_000, now: () => clock.now });
    return { key, clock, opened };
  }

  test("servers that start at once agree on what they prove with, and need no key file", async () => {
    const vaults = await Promise.all([1, 2, 3].map(() => openVault(database.db, settings())));
    const { wrapped, key } = await (vaults[0] ?? expect.fail("no vault")).newDataKey();
    const sealed = key.seal("shared", "place");
    const codes = await Promise.all(vaults.map((vault) => vault.authenticate("text", "subject")));
    for (const vault of vaults) expect((await vault.unwrap(wrapped)).openText(sealed, "place")).toBe("shared");
    expect(new Set(codes.map((code) => code.toString("hex"))).size).toBe(1);
    expect(readKeyFile(settings().kekFile)).toBeNull();
    expect((await findKey(database.db, settings()))?.description).toContain(service.kms.key);
  });

  test("a server whose settings name another key than that of the database does not start", async () => {
    await openVault(database.db, settings());
    const other = { ...settings(), kms: { ...service.kms, key: service.otherKey } };
    await expect(openVault(database.db, other)).rejects.toThrow(/sealed with another key .*\[kms\] names one/);
    await expect(openVault(database.db, { kekFile: join(folder.path, "new") })).rejects.toThrow(/is missing/);
  });

  test("what was encrypted for one purpose does not serve another", async () => {
    const opened = service.open();
    const encrypted = await opened.encrypt(randomBytes(32), "authentication key");
    await expect(opened.decrypt(encrypted, "data key")).rejects.toThrow(Unsealable);
  });

  test("a server does not start where the service refuses it", async () => {
    service.fake.failNext(1, "denied");
    await expect(openVault(database.db, settings())).rejects.toThrow(/key_service_unavailable: .* refused/);
    expect(await database.db.selectFrom("key_encryption_keys").selectAll().execute()).toEqual([]);
    await openVault(database.db, settings());
    service.fake.failNext(1, "denied");
    await expect(openVault(database.db, settings())).rejects.toThrow(KeyServiceFault);
  });

  test("a service that accepts requests and does not answer is given up", async () => {
    service.fake.setSilent(true);
    const opened = service.open({ retry: { timeoutMs: 50, pausesMs: [1] } });
    await expect(
      opened.encrypt(randomBytes(32), "data key").finally(() => service.fake.setSilent(false)),
    ).rejects.toThrow(/did not answer/);
  });

  test("data keys that are known are used for a while without the service, and no longer", async () => {
    const { key, clock, opened } = await cachingKey();
    const [made, read] = [randomBytes(32), randomBytes(32)];
    const wrapped = [
      await key.wrap(made),
      await opened.encrypt(read, "data key"),
      await opened.encrypt(read, "data key"),
    ];
    await key.unwrap(wrapped[1] ?? Buffer.alloc(0));
    service.fake.failNext(1_000, "broken");
    clock.now = 59_999;
    expect(await key.unwrap(wrapped[0] ?? Buffer.alloc(0))).toEqual(made);
    expect(await key.unwrap(wrapped[1] ?? Buffer.alloc(0))).toEqual(read);
    await expect(key.unwrap(wrapped[2] ?? Buffer.alloc(0))).rejects.toThrow(KeyServiceFault);
    clock.now = 60_000;
    for (const bytes of wrapped) await expect(key.unwrap(bytes)).rejects.toThrow(/is busy/);
    service.fake.endFailures();
    expect(await key.unwrap(wrapped[2] ?? Buffer.alloc(0))).toEqual(read);
  });

  test("readers of one data key at once are one request", async () => {
    const { key, opened } = await cachingKey();
    const wrapped = await opened.encrypt(randomBytes(32), "data key");
    service.fake.operations.length = 0;
    await Promise.all(Array.from({ length: 20 }, () => key.unwrap(wrapped)));
    expect(service.fake.operations).toEqual([expect.stringMatching(/^decrypt$/i)]);
  });

  test("a service that is busy for a moment is asked again; one that stays so is named, with what to do", async () => {
    const opened = service.open();
    const encrypted = await opened.encrypt(randomBytes(32), "data key");
    service.fake.failNext(2, "throttled");
    expect(await opened.decrypt(encrypted, "data key")).toHaveLength(32);
    service.fake.failNext(3, "throttled");
    const fault = await opened.decrypt(encrypted, "data key").catch((error: unknown) => error);
    expect(fault).toMatchObject({ reason: "throttled", message: expect.stringContaining("kms.cache_seconds") });
    service.fake.failNext(1, "broken");
    expect(await opened.decrypt(encrypted, "data key")).toHaveLength(32);
  });

  test("a refusal is final, says why, and shows no credential", async () => {
    const encrypted = await service.open().encrypt(randomBytes(32), "data key");
    service.fake.operations.length = 0;
    service.fake.failNext(1, "denied");
    await expect(service.open().decrypt(encrypted, "data key")).rejects.toMatchObject({ reason: "denied" });
    expect(service.fake.operations).toHaveLength(1);
    const fault = await service
      .open({ isStranger: true })
      .decrypt(encrypted, "data key")
      .catch((error: unknown) => error);
    expect(fault).toMatchObject({ reason: "denied", message: expect.stringMatching(/Check the (?:variable|token)/) });
    expect(String(fault)).not.toMatch(/wrong|hvs\./);
  });

  test("what an older version of the key encrypted is read, and is encrypted by the new one without being seen", async () => {
    const opened = service.open();
    const plain = randomBytes(32);
    const former = await opened.encrypt(plain, "data key");
    service.fake.rotate();
    const fresh = await opened.rewrap(former, "data key");
    for (const bytes of [former, fresh]) expect(await opened.decrypt(bytes, "data key")).toEqual(plain);
    expect(fresh.equals(former)).toBe(false);
    expect(service.fake.operations.slice(0, 2)).toEqual([
      expect.stringMatching(/^encrypt$/i),
      expect.stringMatching(/^re/i),
    ]);
  });

  /** Three teams whose data keys this vault wrapped; reads them with another one. */
  async function sealTeams(settings: KeySettings) {
    const vault = await openVault(database.db, settings);
    const names = ["a", "b", "c"];
    for (const name of names) {
      const { wrapped, key } = await vault.newDataKey();
      const team = { name: `${name} ${key.seal(name, "team").toString("hex")}`, data_key: wrapped };
      await database.db.insertInto("teams").values(team).execute();
    }
    onTestFinished(async () => void (await database.db.deleteFrom("teams").execute()));
    const readWith = async (reader: Vault): Promise<string[]> => {
      const teams = await database.db.selectFrom("teams").select(["name", "data_key"]).orderBy("id").execute();
      const read = teams.map(async (team) => {
        const sealed = Buffer.from(team.name.slice(2), "hex");
        return (await reader.unwrap(team.data_key)).openText(sealed, "team");
      });
      return Promise.all(read);
    };
    return { vault, names, readWith };
  }

  /** Fails at each of its requests in turn, and at last at none. */
  async function interruptedAtEachRequest(work: () => Promise<unknown>, check: () => Promise<void>): Promise<number> {
    for (let count = 0; ; count += 1) {
      service.fake.failAfter(count, "denied");
      const isDone = await work().then(
        () => true,
        (error: unknown) => {
          expect(error).toBeInstanceOf(KeyServiceFault);
          return false;
        },
      );
      service.fake.endFailures();
      await check();
      if (isDone) return count;
    }
  }

  test("the newest version of the key encrypts all data keys while servers run; interrupted at any request, it is resumed and nothing is lost", async () => {
    const uncached = { ...settings(), kms: { ...service.kms, cacheMs: 0 } };
    const { vault, names, readWith } = await sealTeams(settings());
    const code = await vault.authenticate("text", "subject");
    const other = await openVault(database.db, uncached);
    service.fake.rotate();
    const interruptions = await interruptedAtEachRequest(
      () => rotateServiceKey(database.db, uncached),
      async () => {
        for (const reader of [vault, other]) expect(await readWith(reader)).toEqual(names);
      },
    );
    expect(interruptions).toBe(4);
    service.fake.retire();
    const fresh = await openVault(database.db, uncached);
    for (const reader of [vault, other, fresh]) expect(await readWith(reader)).toEqual(names);
    expect(await fresh.authenticate("text", "subject")).toEqual(code);
  });

  test("data keys move from a key file to the service, all or none, while no server runs", async () => {
    const kekFile = join(folder.path, `moving ${name}`);
    const { names, readWith } = await sealTeams({ kekFile });
    const target = { ...settings(), kekFile };
    await expect(openVault(database.db, target)).rejects.toThrow(/To move from a key file .*: platform rotate-kek/);
    const node = await claimNodeId(database.connection, silentLog);
    await expect(rotateServiceKey(database.db, target)).rejects.toThrow("Stop all servers first");
    await node.release();
    const proved: string[] = [];
    const prepare = async (former: KeyEncryption, next: KeyEncryption) =>
      void proved.push(former.description, (await next.authenticate("text", "subject")).toString("hex"));
    const interruptions = await interruptedAtEachRequest(
      () => rotateServiceKey(database.db, target, prepare),
      async () => {
        const stored = await database.db.selectFrom("key_encryption_keys").select("fingerprint").executeTakeFirst();
        const isFile = stored?.fingerprint === readKeyFile(kekFile)?.fingerprint;
        expect(await readWith(await openVault(database.db, isFile ? { kekFile } : target))).toEqual(names);
      },
    );
    expect(interruptions).toBe(5);
    await expect(openVault(database.db, { kekFile })).rejects.toThrow("sealed with another key");
    const vault = await openVault(database.db, target);
    expect(proved.at(-2)).toContain(kekFile);
    expect((await vault.authenticate("text", "subject")).toString("hex")).toBe(proved.at(-1));
    const team = await database.db.selectFrom("teams").select("data_key").executeTakeFirstOrThrow();
    await expect(readKeyFile(kekFile)?.unwrap(team.data_key)).rejects.toThrow(Unsealable);
  });
});
