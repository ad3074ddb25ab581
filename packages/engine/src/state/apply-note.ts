// Applies notes to the state of a thread.
import type { NoteData, Noted, TurnSettings } from "@agentcli/protocol";
import { increaseCharges } from "../budget/charges.ts";
import { chargeAside } from "../budget/ledger.ts";
import { findOpenCall, type ThreadState } from "./state.ts";

export function applyNote(state: ThreadState, note: Noted): void {
  switch (note.kind) {
    case "policy":
      if ("settings" in note.data) applySettings(state, note.data.settings);
      return;
    case "hook":
      applyHook(state, note.data);
      return;
    case "approval":
      if ("decision" in note.data) applyApproval(state, note.data);
      return;
    case "budget":
      if (state.turn) state.turn.wrappingUp = note.data.spent;
      return;
    case "sandbox":
    case "mcp":
    case "retry":
    case "warning":
      return;
  }
}

function applyHook({ turn, account }: ThreadState, data: NoteData<"hook">): void {
  const paid = chargeOf(data);
  if (paid) {
    chargeAside(account.ledger, paid);
    increaseCharges(account.charges, paid);
  }
  if (!turn) return;
  if (paid) chargeAside(turn.ledger, paid);
  const { hooks } = turn;
  if ("prompted" in data) hooks.prompted = true;
  else if ("continues" in data) hooks.continuations += 1;
  else {
    if (data.context !== undefined) hooks.context.push(data.context);
    if (data.halt !== undefined) hooks.halted ??= { message: data.halt, hook: data.source };
  }
}

type ApprovalDecision = Extract<NoteData<"approval">, { decision: unknown }>;

function applyApproval(state: ThreadState, note: ApprovalDecision): void {
  const { callId, decision, reason, refusedHunks, args, outside } = note;
  const call = findOpenCall(state, callId);
  if (call) call.approval = { decision, reason, refusedHunks, args: JSON.stringify(args), outside: outside === true };
}

/** What a model charged for answering a hook; null if none was asked. */
export const chargeOf = (data: NoteData<"hook">): HookCharge | null => ("usage" in data ? data : null);

type HookCharge = Extract<NoteData<"hook">, { usage: unknown }>;

/** A resumed turn may have another policy, or a larger budget, than it began with. */
function applySettings(state: ThreadState, settings: TurnSettings): void {
  if (!state.turn) return;
  state.turn.settings = settings;
  if (!state.turn.final) state.turn.wrappingUp = undefined;
  state.settings = settings;
}
