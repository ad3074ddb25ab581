// What servers of one database know of each other, of their keys, and of everything that was changed.
import type { JsonWebKey } from "node:crypto";
import type { PlatformRole } from "@agentcli/protocol";
import type { ColumnType, Generated } from "kysely";
import type { Json, Perhaps, Sealed, Stamped, Timestamp } from "./columns.ts";

/** At most one row: the key that wrapped every data key. */
export interface KeyEncryptionKeyTable {
  is_only: Generated<true>;
  fingerprint: string;
  /** By which the platform proves what it wrote outside the database, encrypted by the service that has the key; null: a file. */
  authentication_key: Perhaps<Buffer>;
  created_at: Stamped;
}

/** Signs identity tokens of agents. */
export interface IdentityKeyTable {
  id: string;
  /** Wrapped by the key-encryption key. */
  data_key: Buffer;
  private_key: Sealed;
  public_key: Json<JsonWebKey>;
  created_at: Timestamp;
}

export interface NodeTable {
  id: string;
  heartbeat_at: Timestamp;
  started_at: Stamped;
  roles: ColumnType<PlatformRole[], PlatformRole[] | undefined, PlatformRole[]>;
  /** Null: of a version that did not write it. */
  version: Perhaps<string>;
  /** Where other servers reach it, without a slash at the end; null: of a version that did not write it. */
  address: Perhaps<string>;
}

/** Where servers of this database are and were reached, without a slash at the end. */
export interface ServerAddressTable {
  url: string;
  seen_at: Stamped;
}

/** Data directories of servers that take runs. */
export interface DataDirectoryTable {
  id: string;
  seen_at: Stamped;
  /** The server that reported it last; null: of a version that did not say so. */
  node_id: string | null;
}

/** Runs whose streams are read on a server. */
export interface OpenStreamTable {
  id: string;
  run_id: string;
  node_id: string;
}

/** Who may hold the lock of a job: the workers of one life of one server. */
export interface JobPoolTable {
  id: string;
  node_id: string;
  node_started_at: Timestamp;
  created_at: Stamped;
}

/** Written by triggers only. */
export interface AuditEntryTable {
  seq: number;
  /** JSON, as it was hashed. */
  entry: string;
  /** SHA-256 of the hash before and the entry. */
  hash: Buffer;
}

/** One row: where the chain ends. */
export interface AuditHeadTable {
  is_only: Generated<true>;
  seq: number;
  hash: Buffer;
}
