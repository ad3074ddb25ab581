// Where the files that hooks run are looked for, and which of them an agent may be able to change.
import type { LoadedConfig } from "@agentcli/project";
import type { ScriptSearch } from "@agentcli/project/hooks";
import { configuredRoots } from "../sandbox/workspace.ts";

export const scriptSearch = (cwd: string, { config, project: { root } }: LoadedConfig): ScriptSearch => ({
  directories: [cwd, root],
  repository: root,
  writableRoots: [cwd, ...configuredRoots({ cwd }, config)],
  pinning: "files",
});
