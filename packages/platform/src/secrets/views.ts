// Secrets as clients see them: everything but the value.
import type { OwnedSecret, SecretVersion } from "@agentcli/protocol/api";
import type { SecretRow } from "./store.ts";

export const versionOf = ({ id, name, type, phase, repos, hosts, uses, created_at }: SecretRow): SecretVersion => ({
  ...{ id, name, type, repos, createdAt: created_at.toISOString() },
  ...(hosts.length > 0 && { hosts, uses: usesOf(uses) }),
  ...(phase === "both" && { phase }),
});

/** Without a choice, what most services take. */
export const usesOf = (uses: string[]): string[] => (uses.length > 0 ? uses : ["bearer", "basic"]);

export type OwnedRow = SecretRow & { email: string | null };

export const ownedOf = (row: OwnedRow): OwnedSecret => ({ ...versionOf(row), owner: ownerOf(row) });

function ownerOf({ user_id, environment_id, email }: OwnedRow): OwnedSecret["owner"] {
  if (environment_id !== null) return { type: "environment", environmentId: environment_id };
  return user_id === null ? { type: "team" } : { type: "user", user: { email } };
}
