// Options of a run of agentcli: the flags of the command line, the parameters of the app server.
import type { LocalProvider, Tags } from "@agentcli/protocol";

export interface RunOptions extends ConfigOptions {
  outputFile?: string;
  outputSchemaFile?: string;
  skipGitCheck: boolean;
  ephemeral: boolean;
  budget: string[];
  /** What to do when the provider asks to retry later. */
  onLimit?: "wait" | "stop";
  images: string[];
  tags: Tags;
  /** A model server on this machine: this one, or the first that answers. */
  local: LocalProvider | "any" | null;
  /** Set by a flag; overrides the configuration. */
  provider?: string;
  ignoreRules: boolean;
  /** Definition hashes of hooks that may run. */
  /** Hidden text is removed from the prompt. */
  sanitize?: boolean;
  /** The run is recorded here, to be replayed. */
  recordFile?: string;
  trustHooks: string[];
  /** Hooks run without being trusted. */
  bypassHookTrust: boolean;
}

/** Options that determine the configuration of a run. */
export interface ConfigOptions {
  model?: string;
  /** A review may use a different model. */
  purpose?: "review";
  sandbox?: string;
  sandboxMin?: MinBackEnd;
  approval?: string;
  fullAuto: boolean;
  /** No sandbox and no approvals. */
  bypass: boolean;
  directory?: string;
  moreDirectories: string[];
  profile?: string;
  overrides: string[];
  limits: string[];
  strictConfig: boolean;
  ignoreUserConfig: boolean;
  trustProject: boolean;
  /** `--search`: the web may be searched live. */
  search?: boolean;
}

/** The weakest sandbox to accept, from --sandbox-min. Absent: Landlock is accepted for reading only. */
export type MinBackEnd = "bubblewrap" | "landlock" | undefined;
