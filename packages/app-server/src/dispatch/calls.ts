// The requests of one client that are being answered: each exactly once, also when its method throws, and not too many.
import { setMaxListeners } from "node:events";
import { rpcCodes } from "@agentcli/protocol/app-server/codes";
import { type Call, RpcError } from "../method.ts";
import { answerText, type RequestId, refusalText } from "./envelope.ts";

export interface Calls {
  /** Answers with what `act` returns or settles to, or refuses with what it throws. */
  answer(id: RequestId, act: (call: Call) => unknown): void;
  /** Settles when nothing is being answered. */
  idle(): Promise<void>;
  /** Aborts the running methods. */
  stop(): void;
}

/** As the public counterpart has it. */
export const maxCalls = 128;

export function openCalls(send: (text: string) => void): Calls {
  const stopping = new AbortController();
  setMaxListeners(0, stopping.signal);
  let underWay = 0;
  let whenIdle: (() => void)[] = [];

  function settle(text: string, afterwards: (() => void)[]): void {
    underWay--;
    send(text);
    for (const act of afterwards) act();
    if (underWay > 0) return;
    for (const resolve of whenIdle) resolve();
    whenIdle = [];
  }

  return {
    answer(id, act) {
      if (underWay >= maxCalls) return send(refusalText(id, overloaded()));
      underWay++;
      const afterwards: (() => void)[] = [];
      const call = { signal: stopping.signal, afterwards: (then: () => void) => void afterwards.push(then) };
      const accept = (result: unknown) => settle(written(id, result), afterwards);
      const refuse = (error: unknown) => settle(refusalText(id, error), []);
      const outcome = attempt(() => act(call));
      // Synchronously where possible: notifications caused by the method must come after its answer.
      if ("error" in outcome) refuse(outcome.error);
      else if (outcome.result instanceof Promise) outcome.result.then(accept, refuse);
      else accept(outcome.result);
    },
    idle: () => (underWay === 0 ? Promise.resolve() : new Promise((resolve) => whenIdle.push(resolve))),
    stop: () => stopping.abort(),
  };
}

function attempt(act: () => unknown): { result: unknown } | { error: unknown } {
  try {
    return { result: act() };
  } catch (error) {
    return { error };
  }
}

const overloaded = () => new RpcError(rpcCodes.overloaded, "Server overloaded; retry later.");

function written(id: RequestId, result: unknown): string {
  try {
    return answerText(id, result);
  } catch (error) {
    return refusalText(id, error);
  }
}
