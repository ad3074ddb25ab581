// Notes and warnings that a run adds to its thread, and the first record of a new thread.
import { freeze } from "@agentcli/engine";
import type { RecordOf, SandboxReport, ThreadRecord, TurnSettings } from "@agentcli/protocol";
import type { Assembly } from "./assemble.ts";
import { warningNote } from "./warning-note.ts";

/** Notes and warnings of the run, each returned once. */
export const takeNotes = ({ notes, warnings }: Pick<Assembly, "notes" | "warnings">): ThreadRecord[] => [
  ...notes.splice(0),
  ...warnings.splice(0).map(warningNote),
];

export const sandboxNote = ({ sandbox }: { sandbox: SandboxReport }): ThreadRecord => ({
  type: "noted",
  kind: "sandbox",
  data: { ...sandbox },
});

type Created = RecordOf<"thread.created">;

export interface NewThreadRequest extends Pick<Created, "threadId" | "worktree" | "tags" | "program"> {
  settings: TurnSettings;
  assembly: Pick<Assembly, "promptEnvironment" | "tools" | "hooks">;
  traits: { freeformTools: boolean; stringEdits?: boolean };
  /** Replaces the instructions of the engine. */
  instructions?: string | undefined;
}

/** Tools, instructions and hooks are frozen: they apply to the whole thread. */
export function threadCreated({ assembly, settings, traits, instructions, ...rest }: NewThreadRequest): Created {
  const { promptEnvironment, tools, hooks } = assembly;
  return {
    type: "thread.created",
    ...rest,
    frozen: {
      ...freeze(settings, promptEnvironment, tools, traits),
      ...(instructions !== undefined && { instructions }),
      ...(hooks.length > 0 && { hooks }),
    },
    settings,
  };
}
