// Which secrets apply: of one name, that of the first owner that has it for one of the repositories.
import { type SecretType, secretRepository } from "@agentcli/protocol/api";
import type { SecretOwnerId } from "./owner.ts";
import { listSecretsOf, readValue, type SecretRow, type SecretStore, teamKeyOf } from "./store.ts";

export interface ChosenSecret {
  name: string;
  value: string;
  type: SecretType;
  /** Of a user. */
  isPersonal?: true;
  /** Absent where commands get the value. */
  binding?: SecretBinding;
}

export interface SecretBinding {
  hosts: string[];
  uses: string[];
}

export interface Choice {
  /** Of one team; the first wins. */
  owners: SecretOwnerId[];
  repos: { url: string }[];
  phase: "run" | "build";
}

export async function choose(store: SecretStore, { owners, repos, phase }: Choice): Promise<ChosenSecret[]> {
  const repositories = repos.flatMap(({ url }) => secretRepository(url) ?? []);
  const chosen = new Map<string, SecretRow>();
  for (const rows of await listSecretsOf(store.db, owners))
    for (const row of forRepositories(rows, repositories))
      if ((row.phase === phase || row.phase === "both") && !chosen.has(row.name)) chosen.set(row.name, row);
  const [owner] = owners;
  if (chosen.size === 0 || owner === undefined) return [];
  const key = await teamKeyOf(store, owner.teamId);
  return [...chosen.values()].map((row) => ({
    ...{ name: row.name, value: readValue(key, row), type: row.type },
    ...(row.user_id !== null && { isPersonal: true as const }),
    ...(row.hosts.length > 0 && { binding: { hosts: row.hosts, uses: row.uses } }),
  }));
}

/** Of several versions of a name, that of the repository which comes first. */
const forRepositories = (rows: SecretRow[], repositories: string[]): SecretRow[] => [
  ...repositories.flatMap((repository) => rows.filter(({ repos }) => repos.includes(repository))),
  ...rows.filter(({ repos }) => repos.length === 0),
];
