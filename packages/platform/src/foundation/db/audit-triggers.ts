// What writes the audit log in the database of this version: a test compares it with a new database.
import { functions } from "./migrations/0003-audit.ts";

const auditedTables = `
  agents api_keys automation_backtests automation_memories automation_webhook_keys automations commit_statuses
  environment_builds environments event_sources handoffs hosted_repositories identities invitations
  key_encryption_keys login_links mentions pull_request_comments pull_request_labels pull_request_reviews
  pull_requests runs secrets service_accounts sessions source_accounts source_credentials subscriptions
  team_settings teams user_settings users webhooks worker_claims worker_pools worker_tokens
`
  .trim()
  .split(/\s+/);

export const auditTriggers: { table: string; name: string }[] = [
  ...auditedTables.flatMap((table) => ["audit_existence", "audit_changes"].map((name) => ({ table, name }))),
  { table: "audit_entries", name: "only_added_to" },
];

export const auditFunctions: { name: string; body: string }[] = [
  ...functions.matchAll(/create function (\w+)\([^$]*\$\$([^$]*(?:\$\d[^$]*)*)\$\$/g),
].map(([, name = "", body = ""]) => ({ name, body }));
