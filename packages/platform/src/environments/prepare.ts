// Prepares the machine of a run: what the build left in the workspace, `install` where it is needed, then `start` and `terminals`.
import type { Workspace } from "@agentcli/protocol";
import type { EnvironmentFile } from "@agentcli/protocol/environment-file";
import { leftFilesArchive } from "./builds/left-files.ts";
import { type MachineCommands, openMachineCommands } from "./machine-commands.ts";
import { installedMark, markInstalled, workspaceDirectory } from "./machine-settings.ts";
import { startTerminals } from "./terminals.ts";

export interface Preparation {
  config: EnvironmentFile;
  /** The directory that commands run in. */
  root: string;
  /** `install` runs unless the disk was prepared for this; null: never. */
  installFor: string | null;
}

const installTimeoutMs = 2 * 3_600_000;
const startTimeoutMs = 10 * 60_000;

/** Returns what went wrong, for people and the agent: it works with what there is. */
export async function prepareMachine(
  workspace: Workspace,
  { config, root, installFor }: Preparation,
  signal: AbortSignal,
): Promise<string[]> {
  const run = openMachineCommands(workspace, { root, user: config.user ?? "root" }, signal);
  await run.script(unpack, [workspaceDirectory, leftFilesArchive]);
  const warnings: (string | null)[] = [];
  if (config.install !== undefined && installFor !== null && !(await isInstalled(run, installFor))) {
    const failure = await run.logged("install", config.install, installTimeoutMs);
    if (failure === null) await run.argv(markInstalled(installFor));
    warnings.push(failure);
  }
  if (config.start !== undefined) warnings.push(await run.logged("start", config.start, startTimeoutMs));
  if (config.terminals && config.terminals.length > 0) warnings.push(await startTerminals(run, config.terminals));
  return warnings.filter((warning) => warning !== null);
}

const isInstalled = async (run: MachineCommands, key: string): Promise<boolean> =>
  (await run.script('[ "$(cat "$0" 2> /dev/null)" = "$1" ]', [installedMark, key])).exitCode === 0;

/** Once for a workspace: what the agent removes later stays removed. */
const unpack = `mark="$0/.home/.left-files"; [ -e "$1" ] && [ ! -e "$mark" ] || exit 0
  tar --extract --skip-old-files --no-same-owner --file "$1" --directory "$0"; : > "$mark"`;
