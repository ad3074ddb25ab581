// What a build says about secrets that a command of its configuration uses, and does not get in its phase.
import type { EnvironmentFile } from "@agentcli/protocol/environment-file";
import type { SinglePhaseNames } from "../../secrets/index.ts";

/** A line for each; empty where there is none. */
export function withheldSecrets({ install, start, terminals = [] }: EnvironmentFile, names: SinglePhaseNames): string {
  const ofRuns = [start, ...terminals.map(({ command }) => command)];
  const lines = [
    ...names.runs.filter((name) => uses([install], name)).map((name) => line("install", name, "commands of agents")),
    ...names.builds.filter((name) => uses(ofRuns, name)).map((name) => line("start or a terminal", name, "builds")),
  ];
  return lines.join("");
}

const uses = (commands: (string | undefined)[], name: string): boolean =>
  commands.some((command) => command !== undefined && new RegExp(`\\$\\{?${name}\\b`).test(command));

const line = (command: string, name: string, owner: string): string =>
  `${command} uses ${name}, a secret for ${owner} alone, and does not get it. For both: platform secrets set ${name} --phase both\n`;
