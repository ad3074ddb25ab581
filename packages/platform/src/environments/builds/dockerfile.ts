// The Dockerfile that a configuration names, as it is in a commit.
import { buildPaths } from "@agentcli/project/environment";
import type { EnvironmentFile } from "@agentcli/protocol/environment-file";

/** Of the first repository, whose `.platform` the paths are relative to. Empty where none is named, null where it is missing. */
export async function dockerfileOf(
  { build }: EnvironmentFile,
  read: (path: string) => Promise<string | null>,
): Promise<string | null> {
  return build === undefined ? "" : read(buildPaths(build).dockerfile);
}
