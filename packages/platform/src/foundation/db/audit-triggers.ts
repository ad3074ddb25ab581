// What writes the audit log in the database of this version: a test compares it with a new database.
import { createHash } from "node:crypto";
import { functions } from "./migrations/0003-audit.ts";

/** Table: what a row is, the columns of its id, the columns that are recorded. */
const tables = `
  agents: agent, id, team_id user_id service_account_id source archived_at
  api_keys: api_key, id, team_id user_id service_account_id name scopes expires_at revoked_at successor_id parent_id hash
  automation_backtests: automation_backtest, id, automation_id last created_by
  automation_memories: automation_memory, automation_id name version, author bytes
  automation_webhook_keys: automation_webhook_key, id, automation_id name hash
  automations: automation, id, team_id user_id scope name version enabled disabled_reason
  commit_statuses: commit_status, repository_id commit context, state author
  environment_builds: environment_build, id, environment_id version_id trigger draft status cancel_requested_at discarded_at
  environments: environment, id, team_id user_id name repos version_id active_build_id build_interval_hours
  event_sources: event_source, id, team_id type name
  handoffs: handoff, agent_id repo_url, branch pushed_commit pr_url
  hosted_repositories: repository, id, team_id name default_branch
  identities: identity, issuer subject, user_id
  invitations: invitation, id, team_id email role expires_at accepted_at revoked_at hash
  key_encryption_keys: key_encryption_key, fingerprint, fingerprint
  login_links: login_link, id, user_id used_at hash
  mentions: mention, id, team_id user_id sender agent_id status reason
  pull_request_comments: comment, repository_id pull_request id, author
  pull_request_labels: label, repository_id pull_request name, author
  pull_request_reviews: review, repository_id pull_request id, author verdict
  pull_requests: pull_request, repository_id number, head_branch base_branch state draft author
  runs: run, id, agent_id team_id user_id service_account_id number status error_code cancel_requested_at
  secrets: secret, id, team_id user_id environment_id name type phase repos updated_at
  service_accounts: service_account, id, team_id name
  sessions: session, id, user_id method ended_at hash
  source_accounts: source_account, user_id host, login
  source_credentials: source_credential, team_id host kind, team_id host kind updated_at
  subscriptions: subscription, id, agent_id source status ended_reason
  team_settings: team_settings, team_id, settings
  teams: team, id, name spend_limit_usd follow_ups
  user_settings: user_settings, user_id, settings
  users: user, id, team_id email role spend_limit_usd removed_at
  webhooks: webhook, agent_id, version
  worker_claims: worker_claim, agent_id, team_id worker_id service_account_id failed_run_id
  worker_pools: worker_pool, id, team_id service_account_id name ready_timeout_seconds is_registered
  worker_tokens: worker_token, id, team_id agent_id worker_id expires_at hash
`;

const audited = tables
  .trim()
  .split("\n")
  .map((line) => /^ *(\w+): (\w+), ([\w ]+), ([\w ]+)$/.exec(line) ?? [])
  .map(([, table = "", row = "", id = "", columns = ""]) => ({ table, row, id, columns }));

/** Tables whose rows nothing else may hide or change. */
export const auditTables: string[] = [...audited.map(({ table }) => table), "audit_entries", "audit_head"];

export interface AuditTrigger {
  table: string;
  name: string;
  /** As PostgreSQL prints it; null where only its function matters. */
  definition: string | null;
}

/** All triggers of these tables, also those that write nothing to the log. */
export const auditTriggers: AuditTrigger[] = [
  ...audited.flatMap(({ table, row, id, columns }) => {
    const isChanged = columns.split(" ").map((column) => `old.${column} IS DISTINCT FROM new.${column}`);
    const rest = `EXECUTE FUNCTION audit_change('${row}', '${id}', '${columns}')`;
    const on = `ON ${table} DEFERRABLE INITIALLY DEFERRED FOR EACH ROW`;
    return [
      {
        ...{ table, name: "audit_existence" },
        definition: `CREATE CONSTRAINT TRIGGER audit_existence AFTER INSERT OR DELETE ${on} ${rest}`,
      },
      {
        ...{ table, name: "audit_changes" },
        definition: `CREATE CONSTRAINT TRIGGER audit_changes AFTER UPDATE ${on} WHEN (${isChanged.join(" OR ")}) ${rest}`,
      },
    ];
  }),
  {
    ...{ table: "audit_entries", name: "only_added_to" },
    definition:
      "CREATE TRIGGER only_added_to BEFORE DELETE OR UPDATE OR TRUNCATE ON audit_entries FOR EACH STATEMENT EXECUTE FUNCTION audit_refuse()",
  },
  { table: "handoffs", name: "note_automation_branch", definition: null },
  ...[
    ["automation_backtests", "tell_of_backtests"],
    ["mentions", "tell_of_mentions"],
    ["runs", "keep_usage_of_run"],
    ["subscriptions", "tell_of_fix_states"],
    ["subscriptions", "tell_of_subscriptions"],
  ].map(([table = "", name = ""]) => ({ table, name, definition: null })),
];

const digestOf = (text: string): string => createHash("sha256").update(text).digest("hex");

/** The functions that these triggers call, by the SHA-256 of what is between their dollars. */
export const auditFunctions: { name: string; digest: string }[] = [
  ...[...functions.matchAll(/create function (\w+)\([^$]*\$\$([^$]*(?:\$\d[^$]*)*)\$\$/g)].map(
    ([, name = "", body = ""]) => ({
      name,
      digest: digestOf(body),
    }),
  ),
  { name: "note_automation_branch", digest: "37d4971a08642f5a4593537ae6339afe08b83aee4465074608917cc8ec472254" },
  { name: "tell_automations", digest: "636c934022e3fb0ed4ae0149d2c1f2397e2f4eaa2789a3a416c8047f7e9ba72e" },
];

/** What these functions call, by name; `at time zone` is a function too. */
export const auditCalls: string[] = [
  ...new Set(["timezone", ...[...functions.matchAll(/\b([a-z][a-z_\d]*)\(/g)].map(([, name = ""]) => name)]),
];
