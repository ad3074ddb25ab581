// The state of a thread, folded from its log.
import type {
  Budget,
  CallBlock,
  Charges,
  Frozen,
  HookSource,
  NoteData,
  RecordOf,
  TurnEnd,
  TurnSettings,
} from "@agentcli/protocol";
import { noCharges } from "../budget/charges.ts";
import { emptyLedger, type Ledger } from "../budget/ledger.ts";
import type { Message } from "../ports.ts";
import type { SubagentRecords } from "./known-agents.ts";
import type { SettledCall } from "./touched.ts";
import { newWork, type WorkState } from "./work.ts";

export interface OpenCall {
  callId: string;
  block: CallBlock;
  begun: Omit<RecordOf<"tool.begun">, "type"> | null;
  /** The decision, if an approval was requested. */
  approval: CallApproval | null;
}

type ApprovalNote = Extract<NoteData<"approval">, { decision: unknown }>;

export interface CallApproval extends Pick<ApprovalNote, "decision" | "reason" | "refusedHunks"> {
  /** The arguments it was requested for, as JSON. */
  args: string;
  /** The call runs outside the sandbox. */
  outside: boolean;
}

export interface OpenTurn {
  turnId: string;
  settings: TurnSettings;
  /** The text of the prompt. */
  prompt: string;
  /** What hooks have decided in this turn. */
  hooks: TurnHooks;
  /** Requested and not settled yet, in the order of the reply. */
  calls: OpenCall[];
  /** Set when the last reply made no calls: its message, or null when it had none. */
  final: { message: string | null } | undefined;
  /** Calls in a row that led nowhere. */
  streak: CallStreak;
  ledger: Ledger;
  /** The limit that was reached; set when the wrap-up begins. */
  wrappingUp: keyof Budget | undefined;
  /** The model has been asked to fix its final message; there is no second attempt. */
  repaired: boolean;
  /** The turn was begun only to compact the history. */
  compacts: boolean;
  /** Set if the final message is review findings, shown as text. */
  review: RecordOf<"turn.begun">["review"];
}

export interface TurnHooks {
  /** Hooks have run for the prompt. */
  prompted: boolean;
  /** For the model, with its next request. */
  context: string[];
  /** How often hooks kept the turn from ending. */
  continuations: number;
  /** Set when a hook has stopped the turn. */
  halted: { message: string; hook: HookSource } | null;
}

/** A process that outlived the call that started it. */
export interface ProcessSession {
  callId: string;
  command: string;
  terminal: boolean;
  cursor: number;
  /** It was approved to run outside the sandbox. */
  outside: boolean;
}

export interface SentInstructions {
  sources: string[];
  message: Message;
}

export interface ThreadState {
  threadId: string;
  seq: number;
  frozen: Frozen;
  /** What the model reads after the frozen context. */
  messages: Message[];
  /** Estimated size of the next request. */
  tokens: number;
  repliesSinceCompaction: number;
  compactions: number;
  turns: number;
  backgroundProcesses: Map<number, ProcessSession>;
  work: WorkState;
  /** Calls since the last reply: instructions for the files they touched are injected with the next request. */
  settledCalls: SettledCall[];
  /** Repository instructions that were injected and are still among the messages. */
  instructions: SentInstructions[];
  turn: OpenTurn | null;
  /** Sub-agents of this thread, by id. */
  agents: SubagentRecords;
  /** What this thread spent for one turn of the main thread, the newest it worked for. */
  account: { turnId: string; ledger: Ledger; charges: Charges };
  /** Settings of the newest turn, also after it ended. */
  settings: TurnSettings | null;
  end: TurnEnd | null;
}

export function emptyThread(threadId: string): ThreadState {
  return {
    threadId,
    seq: 0,
    frozen: { instructions: "", tools: [], context: [] },
    messages: [],
    tokens: 0,
    repliesSinceCompaction: 0,
    compactions: 0,
    turns: 0,
    backgroundProcesses: new Map(),
    work: newWork(),
    settledCalls: [],
    instructions: [],
    turn: null,
    agents: new Map(),
    account: openAccount(""),
    settings: null,
    end: null,
  };
}

export const openAccount = (turnId: string): ThreadState["account"] => ({
  turnId,
  ledger: emptyLedger(),
  charges: noCharges(),
});

export const findOpenCall = (state: ThreadState, callId: string): OpenCall | undefined =>
  state.turn?.calls.find((open) => open.callId === callId);

/** Calls in a row that led nowhere. */
export interface CallStreak {
  /** The newest call. */
  newest: CallBlock | null;
  length: number;
  /** The replies that made the first and the newest of these calls. */
  firstReply: string;
  lastReply: string;
}
