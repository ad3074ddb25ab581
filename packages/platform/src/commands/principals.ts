// Opens the database for commands that manage keys, users and teams; no server has to run.
import type { Kysely } from "kysely";
import type { Settings } from "../foundation/config/index.ts";
import { openDatabase, type Tables } from "../foundation/db/index.ts";
import { silentLog } from "../foundation/telemetry/index.ts";
import { openVault, type Vault } from "../foundation/vault/index.ts";
import {
  type Administration,
  openAdministration,
  openPrincipals,
  type Principals,
} from "../identity/principals/index.ts";
import { anchorEntries } from "./anchor.ts";
import type { Invocation } from "./command.ts";
import { asOperator } from "./operator.ts";
import type { Program } from "./program.ts";
import { settingsFor } from "./settings.ts";

type Use<Resource, T> = (resource: Resource) => Promise<T>;

export const withPrincipals = <T>(invocation: Invocation, program: Program, use: Use<Principals, T>): Promise<T> =>
  withVault(invocation, program, ({ db, vault }) => use(openPrincipals({ db, vault, now: () => new Date() })));

export const withAdministration = <T>(
  invocation: Invocation,
  program: Program,
  use: Use<Administration, T>,
): Promise<T> => withVault(invocation, program, ({ db, vault }) => use(openAdministration(db, vault)));

interface OpenVault {
  db: Kysely<Tables>;
  vault: Vault;
  settings: Settings;
}

export async function withVault<T>(invocation: Invocation, program: Program, use: Use<OpenVault, T>): Promise<T> {
  const { settings } = settingsFor(invocation, program);
  const { db, close } = await openDatabase(settings, silentLog);
  try {
    const opened = await asOperator(async () => ({ db, settings, vault: await openVault(db, settings) }));
    try {
      return await asOperator(() => use(opened));
    } finally {
      await anchorEntries(opened, program);
    }
  } finally {
    await close();
  }
}
