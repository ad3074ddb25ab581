// The configuration of an environment: from the file of a repository where there is one, else the saved one.
import { createHash } from "node:crypto";
import { describeProblem, type EnvironmentProblem, type EnvironmentReading } from "@agentcli/project/environment";
import { type EnvironmentFile, environmentFilePath } from "@agentcli/protocol/environment-file";
import { invalid } from "../foundation/index.ts";

/** Throws ApiError `validation_error` that names line, column and member. */
export async function checkEnvironmentJson(text: string): Promise<EnvironmentFile> {
  const reading = await readEnvironment(text, "environmentJson");
  if (reading.status === "valid") return reading.environment;
  throw invalid(reading.problems.map(describeProblem));
}

/** The file of a repository at one commit. */
export async function readRepositoryFile(text: string, repoUrl: string): Promise<EnvironmentFile | EnvironmentFault> {
  const reading = await readEnvironment(text, `${repoUrl}: ${environmentFilePath}`);
  return reading.status === "valid" ? reading.environment : new EnvironmentFault(reading.problems);
}

/** Loaded with the first file: its schema is large. */
async function readEnvironment(text: string, file: string): Promise<EnvironmentReading> {
  const environment = await import("@agentcli/project/environment");
  return environment.readEnvironment(text, file);
}

export class EnvironmentFault extends Error {
  override name = "EnvironmentFault";

  constructor(problems: EnvironmentProblem[]) {
    super(problems.map(describeProblem).join("\n"));
  }
}

/** Spaces and the order of members do not matter. */
export const digestOf = (config: EnvironmentFile): string =>
  createHash("sha256")
    .update(JSON.stringify(sorted(config)))
    .digest("hex");

const sorted = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(sorted);
  if (typeof value !== "object" || value === null) return value;
  const entries = Object.entries(value).sort(([left], [right]) => (left < right ? -1 : 1));
  return Object.fromEntries(entries.map(([name, member]) => [name, sorted(member)]));
};
