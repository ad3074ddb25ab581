// Kinds of credentials, as people read them.
import type { CredentialKind } from "@agentcli/protocol/api";

export const kindWords: Record<CredentialKind, string> = {
  token: "Token (https)",
  basic: "User name and password (https)",
  ssh_key: "Private key (ssh)",
  known_hosts: "Host keys (ssh)",
};
