// The user as a port, reachable while a turn runs: approves calls and answers questions of the model.
import type { McpOrigin, NoteData, TurnSettings } from "@agentcli/protocol";

export interface ApprovalQuestion {
  threadId: string;
  turnId: string;
  callId: string;
  name: string;
  /** As they will run. */
  args: unknown;
  mcp: McpOrigin | undefined;
  settings: TurnSettings;
  /** Why an approval is needed. */
  reason: string;
}

export type Decision = Extract<NoteData<"approval">, { decision: unknown }>["decision"];

export interface Judgement {
  decision: Decision;
  /** The user's own words, for the model. */
  reason?: string | undefined;
  /** Of a patch that is accepted in part: counted from 0 over all its files. */
  refusedHunks?: number[] | undefined;
}

export interface UserQuestion {
  id: string;
  header: string;
  question: string;
  options: { label: string; description: string }[];
}

/** The answers to each question, by its id. */
export type UserAnswers = Record<string, string[]>;

/** The user, or a client acting for the user. */
export interface Approver {
  /** Whether this was accepted for the whole session and need not be asked. */
  remembers(question: ApprovalQuestion): boolean;
  /** Always settles, at once on abort; a client that disconnects has declined. `cancel` also stops the turn. */
  approve(question: ApprovalQuestion, signal: AbortSignal): Promise<Judgement>;
  /** Null if there is no answer. */
  answer(
    call: { threadId: string; turnId: string; callId: string },
    questions: UserQuestion[],
    signal: AbortSignal,
  ): Promise<UserAnswers | null>;
}
