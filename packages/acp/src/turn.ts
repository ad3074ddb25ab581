// A turn that the editor waits for, and how it is answered when it is over.

import type { ErrorInfo, Turn } from "@agentcli/protocol/app-server";
import { type PromptResponse, RequestError, type StopReason } from "@agentclientprotocol/sdk";

export interface RunningTurn {
  /** Null until the server has begun it. */
  id: string | null;
  isCancelled: boolean;
  answer: Promise<PromptResponse>;
  /** Settles with the answer, whatever it is. */
  over: Promise<void>;
  finish(turn: Turn): void;
  fail(error: Error): void;
}

export function openTurn(): RunningTurn {
  let resolve = (_answer: PromptResponse) => {};
  let reject = (_error: Error) => {};
  const answer = new Promise<PromptResponse>((settle, refuse) => {
    resolve = settle;
    reject = refuse;
  });
  const turn: RunningTurn = {
    id: null,
    isCancelled: false,
    answer,
    over: answer.then(
      () => {},
      () => {},
    ),
    finish({ status, error }) {
      const stopReason = turn.isCancelled || status === "interrupted" ? "cancelled" : stopReasonOf(error?.errorInfo);
      if (stopReason) resolve({ stopReason });
      else reject(failure(error?.errorInfo, error?.message));
    },
    fail: (error) => (turn.isCancelled ? resolve({ stopReason: "cancelled" }) : reject(error)),
  };
  return turn;
}

/** Null for a failure that the protocol has no reason for. */
export function stopReasonOf(info: ErrorInfo | null | undefined): StopReason | null {
  switch (info) {
    case undefined:
    case null:
      return "end_turn";
    case "contextWindowExceeded":
      return "max_tokens";
    case "sessionBudgetExceeded":
      return "max_turn_requests";
    case "cyberPolicy":
    case "misalignmentPolicyViolation":
      return "refusal";
    default:
      return null;
  }
}

function failure(info: ErrorInfo | null | undefined, message = "The turn failed."): RequestError {
  if (info === "unauthorized") return new RequestError(-32000, `${message} Run agentcli login, or set AGENT_API_KEY.`);
  return new RequestError(-32603, message);
}
