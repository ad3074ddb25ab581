// The secrets of a build: those of the environment and of the team. A result is shared, so those of a user are never part of it.
import { type ChosenSecret, choose } from "./choose.ts";
import { ofEnvironment, ofTeam } from "./owner.ts";
import { listSecretsOf, type SecretStore } from "./store.ts";

export interface SecretBuild {
  teamId: number;
  environmentId: string;
  repos: { url: string }[];
}

export const secretsOfBuild = (store: SecretStore, build: SecretBuild): Promise<ChosenSecret[]> =>
  choose(store, { owners: ownersOf(build), repos: build.repos, phase: "build" });

/** Names of secrets that a build or the commands of agents alone get. */
export interface SinglePhaseNames {
  builds: string[];
  runs: string[];
}

export async function singlePhaseNames({ db }: Pick<SecretStore, "db">, build: SecretBuild): Promise<SinglePhaseNames> {
  const rows = (await listSecretsOf(db, ownersOf(build))).flat();
  const names = [...new Set(rows.map(({ name }) => name))];
  const withoutPhase = (other: "build" | "run") =>
    names.filter((name) => !rows.some((row) => row.name === name && row.phase !== other));
  return { builds: withoutPhase("build"), runs: withoutPhase("run") };
}

const ownersOf = ({ teamId, environmentId }: SecretBuild) => [ofEnvironment(teamId, environmentId), ofTeam(teamId)];
