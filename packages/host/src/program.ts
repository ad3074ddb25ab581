// What a program that runs agentcli gives to its runs: its environment, and where it reports.

import type { Progress, StoredRecord } from "@agentcli/engine";
import type { HostPrograms } from "@agentcli/workspace";

export interface Environment {
  variables: NodeJS.ProcessEnv;
  agentHome: string;
  userHome: string;
  /** Configuration for all users of the machine. */
  systemDirectory: string;
  cwd: string;
  /** Programs for the host, found on PATH. */
  programs: HostPrograms;
  /** Hidden from sandboxed commands in addition to credentials: what clients of this program need to connect. */
  ownFiles?: string[];
}

export interface Reporter {
  /** Registers a record of an earlier run without showing it. */
  recall(stored: StoredRecord): void;
  show(stored: StoredRecord): Promise<void>;
  /** The final message, when the turn completed. */
  finish(message: string): Promise<void>;
  /** An error before or outside a turn. */
  fail(message: string): Promise<void>;
  /** Something worth knowing that is not part of the run. */
  log(line: string): void;
  /** What is under way between two records; absent if nothing of it is shown. */
  onProgress?(progress: Progress): void;
  /** A record of a sub-agent, whose own log it is in. */
  onAgentRecord?(stored: StoredRecord): void;
}
