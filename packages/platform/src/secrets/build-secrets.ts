// The secrets of a build: those of the environment and of the team. A result is shared, so those of a user are never part of it.
import { type ChosenSecret, choose } from "./choose.ts";
import { ofEnvironment, ofTeam } from "./owner.ts";
import type { SecretStore } from "./store.ts";

export interface SecretBuild {
  teamId: number;
  environmentId: string;
  repos: { url: string }[];
}

export const secretsOfBuild = (
  store: SecretStore,
  { teamId, environmentId, repos }: SecretBuild,
): Promise<ChosenSecret[]> =>
  choose(store, { owners: [ofEnvironment(teamId, environmentId), ofTeam(teamId)], repos, phase: "build" });
