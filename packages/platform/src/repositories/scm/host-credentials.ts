// The port to the credentials that a team has for git hosts.
import type { CredentialKind } from "@agentcli/protocol/api";
import type { HostKey, SshKey } from "../ssh/index.ts";
import type { RepositoryUrl } from "./repository-url.ts";

/** A header for git over http and https. */
export interface Authorization {
  /** Sent to this origin only: some hosts redirect authenticated clients only. */
  origin: string;
  value: string;
  /** Absent if it is not one of a team. */
  credential?: CredentialLabel;
  /** What must not appear in a message, whatever the host answers. */
  secrets?: string[];
}

/** A credential in messages: never its value. */
export interface CredentialLabel {
  /** Such as `token for git.example.com`. */
  name: string;
  /** The command that sets another. */
  setCommand: string;
}

export interface SshCredentials {
  /** Undefined if the team has none for this host. */
  key: { key: SshKey; credential: CredentialLabel } | undefined;
  hostKeys: HostKey[] | undefined;
}

/** The credentials of one team. A credential is used for the host that it was set for, and no other. */
export interface HostCredentials {
  authorization(url: RepositoryUrl, signal: AbortSignal): Promise<Authorization | undefined>;
  ssh(url: RepositoryUrl): Promise<SshCredentials>;
  /** The command with which an operator sets a credential for the host. */
  setCommand(url: RepositoryUrl, kind: CredentialKind): Promise<string>;
}
