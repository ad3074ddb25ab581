// Questions to one client. Each settles: with its answer, or because the client refused, talked nonsense or went away.
import { type ServerRequestName, serverRequests } from "@agentcli/protocol/app-server";
import { type Asked, RpcError } from "../method.ts";
import { isRecord, questionText, type RequestId } from "./envelope.ts";
import { explainIssues, type Issue } from "./issues.ts";

export interface Questions {
  ask<Name extends ServerRequestName>(question: Question<Name>): Asked<Name>;
  /** False where no question has this id. */
  settle(id: RequestId, outcome: { result: unknown } | { error: unknown }): boolean;
  /** No answer will come any more. */
  abandon(reason: string): void;
}

interface Question<Name extends ServerRequestName> {
  method: Name;
  params: unknown;
  signal?: AbortSignal;
}

interface Pending {
  method: ServerRequestName;
  resolve(answer: never): void;
  reject(error: Error): void;
}

export function openQuestions(send: (text: string) => void): Questions {
  const pending = new Map<RequestId, Pending>();
  let next = 0;
  let gone: string | null = null;

  const take = (id: RequestId): Pending | undefined => {
    const question = pending.get(id);
    pending.delete(id);
    return question;
  };

  return {
    ask({ method, params, signal }) {
      const requestId = next++;
      const answer = new Promise<never>((resolve, reject) => pending.set(requestId, { method, resolve, reject }));
      const withdraw = () => take(requestId)?.reject(new Error(`${method} was withdrawn.`));
      if (gone !== null) take(requestId)?.reject(new Error(gone));
      else if (signal?.aborted) withdraw();
      else send(questionText(requestId, method, params));
      signal?.addEventListener("abort", withdraw, { once: true });
      // The caller may not await it any more by the time it fails.
      void answer.catch(() => {}).then(() => signal?.removeEventListener("abort", withdraw));
      return { requestId, answer };
    },
    settle(id, outcome) {
      const question = take(id);
      if (!question) return false;
      if ("error" in outcome) question.reject(refusalOf(question.method, outcome.error));
      else conclude(question, outcome.result);
      return true;
    },
    abandon(reason) {
      gone = reason;
      for (const id of [...pending.keys()]) take(id)?.reject(new Error(reason));
    },
  };
}

function conclude({ method, resolve, reject }: Pending, result: unknown): void {
  const checked = serverRequests[method].result.safeParse(result);
  if (checked.success) {
    resolve(checked.data as never);
    return;
  }
  const problem = explainIssues(checked.error.issues as Issue[], result);
  reject(new Error(`The client's response to ${method} is invalid: ${problem}.`));
}

function refusalOf(method: string, error: unknown): RpcError {
  const { code, message } = isRecord(error) ? error : {};
  return new RpcError(Number(code) || 0, `The client refused ${method}: ${String(message ?? "no reason given")}`);
}
