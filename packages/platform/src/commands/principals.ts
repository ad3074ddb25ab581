// What commands that manage keys, users and teams work with: they need the database, and no server.
import type { Kysely } from "kysely";
import type { Invocation } from "../args.ts";
import type { Settings } from "../config/index.ts";
import { openDatabase, type Tables } from "../db/index.ts";
import { type Administration, openAdministration, openPrincipals, type Principals } from "../principals/index.ts";
import type { Program } from "../program.ts";
import { silentLog } from "../telemetry/index.ts";
import { openVault, type Vault } from "../vault/index.ts";
import { asOperator } from "./operator.ts";
import { settingsFor } from "./settings.ts";

type Use<Given, T> = (given: Given) => Promise<T>;

export const withPrincipals = <T>(invocation: Invocation, program: Program, use: Use<Principals, T>): Promise<T> =>
  withVault(invocation, program, ({ db, vault }) => use(openPrincipals({ db, vault, now: () => new Date() })));

export const withAdministration = <T>(
  invocation: Invocation,
  program: Program,
  use: Use<Administration, T>,
): Promise<T> => withVault(invocation, program, ({ db, vault }) => use(openAdministration(db, vault)));

interface Opened {
  db: Kysely<Tables>;
  vault: Vault;
  settings: Settings;
}

export async function withVault<T>(invocation: Invocation, program: Program, use: Use<Opened, T>): Promise<T> {
  const { settings } = settingsFor(invocation, program);
  const { db, close } = await openDatabase(settings, silentLog);
  try {
    return await asOperator(async () => use({ db, settings, vault: await openVault(db, settings.kekFile) }));
  } finally {
    await close();
  }
}
