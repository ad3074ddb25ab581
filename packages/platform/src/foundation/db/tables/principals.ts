// Teams, their users and service accounts, and what these have: keys, accounts and credentials on source hosts.
import type { CredentialKind } from "@agentcli/protocol/api";
import type { ColumnType, Generated } from "kysely";
import type { Perhaps, Sealed, Stamped, Timestamp } from "./columns.ts";

export interface TeamTable {
  id: Generated<number>;
  name: string;
  /** Seals what belongs to the team and to no agent, such as pull requests. Wrapped like an agent's. */
  data_key: Buffer;
  /** USD per calendar month; null for none. */
  spend_limit_usd: string | null;
  follow_ups: ColumnType<FollowUps, FollowUps | undefined, FollowUps>;
  created_at: Stamped;
}

/** Which agents take follow-ups from others than their owner: none, those of service accounts, all. */
export type FollowUps = "disabled" | "service_accounts" | "all";

export interface UserTable {
  id: Generated<number>;
  team_id: number;
  email: string;
  first_name: string | null;
  last_name: string | null;
  role: "admin" | "member";
  spend_limit_usd: string | null;
  /** Joined without an identity provider, under the address of a user of another team. */
  has_shared_address: Generated<boolean>;
  /** Has proved no address: keeps it until another person proves it. */
  joined_by_link: Generated<boolean>;
  /** When another person than the one who joined may have proved the address: what is older does not act for the user. */
  proved_at: Perhaps<Date>;
  /** Stays, for what it made; may do nothing any more. */
  removed_at: Perhaps<Date>;
  created_at: Stamped;
}

export interface ServiceAccountTable {
  id: string;
  team_id: number;
  name: string;
  created_at: Stamped;
}

export interface ApiKeyTable {
  /** The public part of `plt_<id>_<secret>`. */
  id: string;
  team_id: number;
  user_id: number | null;
  service_account_id: string | null;
  name: string;
  /** SHA-256 of the whole key: 32 random bytes need no slow hash. */
  hash: Buffer;
  scopes: string[];
  expires_at: Timestamp | null;
  revoked_at: Timestamp | null;
  /** To the minute. */
  last_used_at: Perhaps<Date>;
  /** The key it was rotated into. */
  successor_id: Perhaps<string>;
  /** The key of the service account that it was made with, for an hour: it is valid no longer than that. */
  parent_id: Perhaps<string>;
  created_at: Stamped;
}

/** Who a user is on a source host. */
export interface SourceAccountTable {
  user_id: number;
  /** As in addresses of repositories: `github.com`. */
  host: string;
  /** Stays, whatever the account is called. */
  account_id: string;
  login: string;
  /** Sealed with the team's key; null where the account was only named. */
  token: Buffer | null;
  created_at: Stamped;
}

/** What the agents of a team authenticate with at a git host. */
export interface SourceCredentialTable {
  team_id: number;
  /** As in addresses of repositories, with the port if it is not the default; `http://HOST` without TLS. */
  host: string;
  kind: CredentialKind;
  /** User name and value: one JSON document, sealed with the team's key. */
  sealed: Sealed;
  created_at: Stamped;
  updated_at: Stamped;
}
