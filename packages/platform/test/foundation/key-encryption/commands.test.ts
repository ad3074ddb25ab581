// Commands of the operator where a service keeps the key-encryption key.
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { moveAnchor } from "../../../src/identity/audit/advance.ts";
import { command } from "../../harness/command.ts";
import { testPlatform } from "../../harness/platform.ts";
import { openTransit } from "./services.ts";

test("commands use the service that the configuration names: its newest version encrypts data keys while a server runs, the audit log verifies, and a backup says which key it needs", async () => {
  const { fake, kms, variables } = await openTransit();
  onTestFinished(fake.close);
  const tested = await testPlatform({ kms, variables });
  onTestFinished(tested.close);
  await tested.key();
  const { db, settings, vault } = tested.platform;
  await moveAnchor({ db, settings, vault }, null);
  if (kms.kind !== "vault") expect.fail("another service");
  const { endpoint, key, mount, namespace } = kms;
  const written = { provider: "vault", endpoint, key, mount, namespace, token_file: "token" };
  const lines = Object.entries(written).map(([name, value]) => `${name} = ${JSON.stringify(value)}`);
  writeFileSync(join(settings.dataDirectory, "config.toml"), ["[kms]", ...lines].join("\n"));
  writeFileSync(join(settings.dataDirectory, "token"), `${variables.TRANSIT_TOKEN}\n`, { mode: 0o600 });

  fake.rotate();
  expect(await command(tested, "rotate-kek")).toMatch(
    /^1 data keys are encrypted by the newest version of the key engines\/transit\/keys\/platform of Vault\n/,
  );
  fake.retire();
  expect(await command(tested, "audit", "verify")).toMatch(/^whole: /);
  const entries = await db.selectFrom("audit_entries").select("entry").orderBy("seq").execute();
  expect(entries.at(-1)?.entry).toMatch(
    /key_encryption_key\.rewrapped.*operator|operator.*key_encryption_key\.rewrapped/,
  );
  const path = join(settings.dataDirectory, "..", "service.backup");
  const printed = await command(tested, "backup", path);
  expect(printed).toContain(
    "Keep the key engines/transit/keys/platform of Vault: without it the backup cannot be read.",
  );
  fake.failNext(1, "denied");
  await expect(command(tested, "keys", "list")).rejects.toThrow(/key_service_unavailable: .* Check the token/);
});
