// What can be taken over from another tool, and what is left out.
import type { Table } from "@agentcli/project";

export interface Proposal {
  /** The tool, as messages name it. */
  tool: string;
  /** Keys of config.toml. */
  settings: Table;
  instructions: { path: string; text: string } | null;
  /** Lines of a .rules file. */
  rules: string[];
  skipped: Skipped[];
}

export interface Skipped {
  /** A file, and perhaps a key in it. */
  what: string;
  reason: string;
}
