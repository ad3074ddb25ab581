// Brings a database to the schema of this program. Servers that start at once wait for each other.
import { type Kysely, type Migration, Migrator, sql } from "kysely";
import { type Connection, openClient } from "./connect.ts";
import { DatabaseError } from "./database-error.ts";
import * as spine from "./migrations/0001-spine.ts";
import * as webhooks from "./migrations/0002-webhooks.ts";
import * as audit from "./migrations/0003-audit.ts";
import * as sourceAccounts from "./migrations/0004-source-accounts.ts";
import * as identity from "./migrations/0005-identity.ts";
import * as sharing from "./migrations/0006-sharing.ts";
import * as inference from "./migrations/0007-inference.ts";
import * as handoffChecks from "./migrations/0008-handoff-checks.ts";
import * as claims from "./migrations/0009-claims.ts";
import * as addresses from "./migrations/0011-identity-addresses.ts";
import * as agentDirectories from "./migrations/0012-agent-directories.ts";
import * as loginAttempts from "./migrations/0013-login-attempts.ts";
import * as retention from "./migrations/0014-retention.ts";
import * as runModels from "./migrations/0015-run-models.ts";
import * as nodeRoles from "./migrations/0016-node-roles.ts";
import * as heldBackFiles from "./migrations/0017-held-back-files.ts";
import * as unsavedArtifacts from "./migrations/0018-unsaved-artifacts.ts";
import * as deletedDirectories from "./migrations/0019-deleted-directories.ts";
import * as settings from "./migrations/0020-settings.ts";
import * as sourceCredentials from "./migrations/0021-source-credentials.ts";
import * as environments from "./migrations/0022-environments.ts";
import * as activeBuilds from "./migrations/0023-active-builds.ts";
import * as unverifiedAddresses from "./migrations/0024-unverified-addresses.ts";
import * as runMachines from "./migrations/0025-run-machines.ts";
import * as secrets from "./migrations/0026-secrets.ts";
import * as automations from "./migrations/0027-automations.ts";
import * as workers from "./migrations/0028-workers.ts";
import * as firingRetention from "./migrations/0029-retention-of-firings.ts";
import * as staleBuilds from "./migrations/0030-stale-builds.ts";
import * as inboundEvents from "./migrations/0031-inbound-events.ts";
import * as runEgress from "./migrations/0032-run-egress.ts";
import * as limitsOfAutomations from "./migrations/0033-limits-of-automations.ts";
import * as eventLimits from "./migrations/0034-event-limits.ts";
import * as nextFirings from "./migrations/0035-next-firings.ts";
import * as inbox from "./migrations/0036-inbox.ts";
import * as gitHostEvents from "./migrations/0037-git-host-events.ts";
import * as automationMemories from "./migrations/0038-automation-memories.ts";
import * as subscriptions from "./migrations/0039-subscriptions.ts";
import * as workerPools from "./migrations/0040-worker-pools.ts";
import * as wakeUps from "./migrations/0041-wake-ups.ts";
import * as ciFix from "./migrations/0042-ci-fix.ts";
import * as lostWakeUps from "./migrations/0043-lost-wake-ups.ts";
import * as nodeAddresses from "./migrations/0044-node-addresses.ts";
import * as proposals from "./migrations/0045-proposals.ts";
import * as automationChanges from "./migrations/0046-automation-changes.ts";
import * as inquiries from "./migrations/0047-inquiries.ts";
import * as fixStates from "./migrations/0048-fix-states.ts";
import * as automationAgents from "./migrations/0049-automation-agents.ts";
import * as agentDisks from "./migrations/0050-agent-disks.ts";
import * as dataDirectories from "./migrations/0051-data-directories.ts";
import * as mentionAttempts from "./migrations/0052-mention-attempts.ts";
import * as workerLoss from "./migrations/0053-worker-loss.ts";
import * as dataDirectoryNodes from "./migrations/0054-data-directory-nodes.ts";
import * as sharedSpelling from "./migrations/0055-shared-spelling.ts";
import * as identityKeys from "./migrations/0056-identity-keys.ts";
import * as unprovedAddresses from "./migrations/0057-unproved-addresses.ts";
import * as provedAddresses from "./migrations/0058-proved-addresses.ts";
import * as push from "./migrations/0059-push.ts";
import * as boundSecrets from "./migrations/0060-bound-secrets.ts";
import * as runMessages from "./migrations/0061-run-messages.ts";
import * as recordedHashes from "./migrations/0062-recorded-hashes.ts";
import * as keyServices from "./migrations/0063-key-services.ts";
import * as openStreams from "./migrations/0064-open-streams.ts";
import * as changedLines from "./migrations/0065-changed-lines.ts";
import * as approvals from "./migrations/0066-approvals.ts";
import * as deletedRuns from "./migrations/0067-deleted-runs.ts";
import type { Tables } from "./tables/index.ts";

/**
 * Only added to; the names are stored in every database, so that no number is given again. A number is missing where a change
 * was dropped before it was part of main; `unusedMigrationNumbers` lists those. No database has ever had one of them.
 */
const migrations: Record<string, Migration> = {
  "0001-spine": spine,
  "0002-webhooks": webhooks,
  "0003-audit": audit,
  "0004-source-accounts": sourceAccounts,
  "0005-identity": identity,
  "0006-sharing": sharing,
  "0007-inference": inference,
  "0008-handoff-checks": handoffChecks,
  "0009-claims": claims,
  "0011-identity-addresses": addresses,
  "0012-agent-directories": agentDirectories,
  "0013-login-attempts": loginAttempts,
  "0014-retention": retention,
  "0015-run-models": runModels,
  "0016-node-roles": nodeRoles,
  "0017-held-back-files": heldBackFiles,
  "0018-unsaved-artifacts": unsavedArtifacts,
  "0019-deleted-directories": deletedDirectories,
  "0020-settings": settings,
  "0021-source-credentials": sourceCredentials,
  "0022-environments": environments,
  "0023-active-builds": activeBuilds,
  "0024-unverified-addresses": unverifiedAddresses,
  "0025-run-machines": runMachines,
  "0026-secrets": secrets,
  "0027-automations": automations,
  "0028-workers": workers,
  "0029-retention-of-firings": firingRetention,
  "0030-stale-builds": staleBuilds,
  "0031-inbound-events": inboundEvents,
  "0032-run-egress": runEgress,
  "0033-limits-of-automations": limitsOfAutomations,
  "0034-event-limits": eventLimits,
  "0035-next-firings": nextFirings,
  "0036-inbox": inbox,
  "0037-git-host-events": gitHostEvents,
  "0038-automation-memories": automationMemories,
  "0039-subscriptions": subscriptions,
  "0040-worker-pools": workerPools,
  "0041-wake-ups": wakeUps,
  "0042-ci-fix": ciFix,
  "0043-lost-wake-ups": lostWakeUps,
  "0044-node-addresses": nodeAddresses,
  "0045-proposals": proposals,
  "0046-automation-changes": automationChanges,
  "0047-inquiries": inquiries,
  "0048-fix-states": fixStates,
  "0049-automation-agents": automationAgents,
  "0050-agent-disks": agentDisks,
  "0051-data-directories": dataDirectories,
  "0052-mention-attempts": mentionAttempts,
  "0053-worker-loss": workerLoss,
  "0054-data-directory-nodes": dataDirectoryNodes,
  "0055-shared-spelling": sharedSpelling,
  "0056-identity-keys": identityKeys,
  "0057-unproved-addresses": unprovedAddresses,
  "0058-proved-addresses": provedAddresses,
  "0059-push": push,
  "0060-bound-secrets": boundSecrets,
  "0061-run-messages": runMessages,
  "0062-recorded-hashes": recordedHashes,
  "0063-key-services": keyServices,
  "0064-open-streams": openStreams,
  "0065-changed-lines": changedLines,
  "0066-approvals": approvals,
  "0067-deleted-runs": deletedRuns,
};

/** Nothing is missing in a database that lacks them. */
export const unusedMigrationNumbers: readonly number[] = [10];

const lockNumber = 7420_0001;

/** The names of those that were applied. */
export async function migrate(db: Kysely<Tables>, connection: Connection, upTo?: string): Promise<string[]> {
  // A connection of its own: the lock is there before the tables that the migrator would lock.
  const client = await openClient(connection);
  try {
    await client.query("select pg_advisory_lock($1)", [lockNumber]);
    await refuseNewer(db);
    const migrator = new Migrator({ db, provider: { getMigrations: async () => migrations } });
    const { error, results = [] } = await (upTo === undefined ? migrator.migrateToLatest() : migrator.migrateTo(upTo));
    if (error) throw new DatabaseError(`The database could not be migrated: ${String(error)}.`, { cause: error });
    return results.map(({ migrationName }) => migrationName);
  } finally {
    await client.end();
  }
}

/** In their order. */
export const migrationNames = (): string[] => Object.keys(migrations).sort();

/** Migrations of this program that are not applied yet. */
export async function pendingMigrations(db: Kysely<Tables>): Promise<string[]> {
  const done = await executed(db);
  return Object.keys(migrations).filter((name) => !done.includes(name));
}

async function refuseNewer(db: Kysely<Tables>): Promise<void> {
  const unknown = (await executed(db)).filter((name) => !(name in migrations));
  if (unknown.length === 0) return;
  throw new DatabaseError(
    `The database has been migrated by a newer platform (${unknown.join(", ")}). Start that version, or restore a backup from before.`,
  );
}

async function executed(db: Kysely<Tables>): Promise<string[]> {
  const { rows } = await sql<{ there: boolean }>`select to_regclass('kysely_migration') is not null as there`.execute(
    db,
  );
  if (!rows[0]?.there) return [];
  const names = await sql<{ name: string }>`select name from kysely_migration order by name`.execute(db);
  return names.rows.map(({ name }) => name);
}
