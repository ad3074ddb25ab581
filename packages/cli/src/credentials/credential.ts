// A credential for a model provider, and where it comes from.
import type { AccountTokens, WorkloadIdentity } from "@agentcli/protocol";

export type Credential =
  | { source: "env_key" | "AGENT_API_KEY"; variable: string; key: string }
  | { source: "saved-key"; path: string; key: string }
  | { source: "saved-account"; path: string; tokens: AccountTokens }
  | { source: "workload-identity"; identity: CompleteIdentity }
  | { source: "none" };

/** With everything an exchange needs. */
export type CompleteIdentity = WorkloadIdentity & { token_endpoint: string; audience: string };
