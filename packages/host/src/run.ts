// A run of agentcli: the command line drives it for one turn, the app server for many.
import type { Model } from "@agentcli/engine";
import type { ProjectContext } from "@agentcli/project";
import type { HookDefinition, TurnSettings } from "@agentcli/protocol";
import type { Assembly } from "./assemble.ts";
import type { RunCallbacks } from "./callbacks.ts";
import type { Today } from "./date.ts";
import type { TimeLimit } from "./drive-turn.ts";
import type { FileStore } from "./sessions/index.ts";

export interface Run extends Assembly {
  settings: TurnSettings;
  context: ProjectContext;
  traits: { freeformTools: boolean; stringEdits?: boolean };
  /** In tokens; null if the model is not known. */
  contextWindow: number | null;
  /** How long to wait for standard input. */
  stdinLimitMs: number | null;
  timeLimits: TimeLimit[];
  /** Tells the user's program about a completed turn; absent if none is configured. */
  notify?(turn: EndedTurn): Promise<void>;
  /** The session file of a thread; null if it is not stored. */
  sessionPath(threadId: string): string | null;
}

/** A completed turn, for the user's program. */
export interface EndedTurn {
  threadId: string;
  turnId: string;
  cwd: string;
  prompt: string;
  message: string;
}

/** Settings recorded at the start of an existing thread. */
export interface Recorded {
  settings: TurnSettings | null;
  hooks: HookDefinition[];
}

/** How a run is recorded or replayed. */
export interface Tape {
  store(store: FileStore): FileStore;
  /** The model of the run, given how it is opened without a tape. */
  openModel(open: () => Promise<Model>): Promise<Model>;
  /** As the prompt states it; absent: now. */
  today?: Today;
  /** `none`: what MCP servers answered is part of the recording. */
  servers: "started" | "none";
}

/** Store, recorded settings and callbacks of a run. */
export interface RunContext {
  store: FileStore;
  /** Absent: as the options say. */
  tape?: Tape;
  /** `sandboxed`: hooks run inside the sandbox of the run, trusted or not. Absent: on this machine, if they are trusted. */
  hooks?: "sandboxed" | "as-trusted";
  /** Null for a new thread. */
  recorded: Recorded | null;
  callbacks: RunCallbacks;
}
