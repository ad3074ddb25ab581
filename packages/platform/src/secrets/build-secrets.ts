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

/** Of secrets that a build of this environment would get if their phase were `both`. */
export async function namesForRunsAlone({ db }: Pick<SecretStore, "db">, build: SecretBuild): Promise<string[]> {
  const rows = (await listSecretsOf(db, ownersOf(build))).flat();
  const given = new Set(rows.filter(({ phase }) => phase !== "run").map(({ name }) => name));
  return [...new Set(rows.map(({ name }) => name))].filter((name) => !given.has(name));
}

const ownersOf = ({ teamId, environmentId }: SecretBuild) => [ofEnvironment(teamId, environmentId), ofTeam(teamId)];
