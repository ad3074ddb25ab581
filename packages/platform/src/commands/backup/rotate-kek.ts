// `platform rotate-kek`
import type { Settings } from "../../foundation/config/index.ts";
import { openDatabase, recordAuditEvent } from "../../foundation/db/index.ts";
import { silentLog } from "../../foundation/telemetry/index.ts";
import {
  type KeyEncryption,
  openVault,
  rotateKeyFile,
  rotateServiceKey,
  type ServiceRotation,
} from "../../foundation/vault/index.ts";
import { authenticateWithBoth } from "../../identity/audit/index.ts";
import { anchorEntries } from "../anchor.ts";
import type { Invocation } from "../command.ts";
import { asOperator } from "../operator.ts";
import type { Program } from "../program.ts";
import { settingsFor } from "../settings.ts";

export async function run(invocation: Invocation, program: Program): Promise<number> {
  const { settings } = settingsFor(invocation, program);
  const { db, close } = await openDatabase(settings, silentLog);
  try {
    const { kms } = settings;
    const lines = await asOperator(async () =>
      kms === null ? rotateFile(db, settings) : describe(await rotateService(db, { ...settings, kms }), settings),
    );
    await anchorEntries({ db, settings, vault: await openVault(db, settings) }, program);
    for (const line of lines) program.print(`${line}\n`);
    return 0;
  } finally {
    await close();
  }
}

type Db = Parameters<typeof rotateKeyFile>[0];

/** What proves the audit log is outside the database. */
const prepare = (dataDirectory: string) => (former: KeyEncryption, next: KeyEncryption) =>
  authenticateWithBoth(dataDirectory, former, next);

async function rotateFile(db: Db, settings: Settings): Promise<string[]> {
  const { dataDirectory, kekFile } = settings;
  await openVault(db, settings);
  const { fingerprint, dataKeys, formerFile } = await rotateKeyFile(db, kekFile, prepare(dataDirectory));
  return [
    `${dataKeys} data keys are wrapped with a new key (fingerprint ${fingerprint}) in ${kekFile}`,
    `The old key is ${formerFile}: earlier backups need it. Remove it when they are gone.`,
  ];
}

async function rotateService(
  db: Db,
  settings: Settings & { kms: NonNullable<Settings["kms"]> },
): Promise<ServiceRotation> {
  const rotation = await rotateServiceKey(db, settings, prepare(settings.dataDirectory));
  const { kind, dataKeys } = rotation;
  // A change of the key itself is recorded with its row.
  if (kind === "rewrapped")
    await recordAuditEvent(db, {
      ...{ action: "key_encryption_key.rewrapped", subject: "platform", data: { dataKeys } },
    });
  return rotation;
}

function describe({ kind, dataKeys, fingerprint, description }: ServiceRotation, { kekFile }: Settings): string[] {
  if (kind === "rewrapped")
    return [
      `${dataKeys} data keys are encrypted by the newest version of ${description}`,
      "The service may stop decrypting older versions, unless earlier backups are needed.",
    ];
  return [
    `${dataKeys} data keys are wrapped with ${description} (fingerprint ${fingerprint})`,
    `The old key is ${kekFile}: earlier backups need it. Remove it when they are gone.`,
  ];
}
