// Requests to the worker of a run: its refusals, its silence and the loss of its connection are faults of the worker.
import type { Duplex } from "node:stream";
import { setTimeout as pause } from "node:timers/promises";
import type { WorkerRequest, WorkerRequestName } from "@agentcli/protocol/worker-link";
import type { z } from "zod";
import { Fault } from "../foundation/index.ts";
import type { ConnectedWorker } from "./gateway.ts";

/** The worker of a run is gone, or cannot do what is asked. */
export class WorkerFault extends Fault {
  override name = "WorkerFault";
  readonly code = "worker_lost";
}

/** No worker was found for a run in the time that it may wait. */
export class WaitExpiredFault extends Fault {
  override name = "WaitExpiredFault";
  readonly code = "worker_wait_expired";
}

/** Its commands at the start of a session may take ten minutes. */
const defaultAnswerTimeoutMs = 660_000;

/** Asks the worker of a run. */
export interface Caller {
  plain<Name extends WorkerRequestName>(name: Name, body: WorkerRequest<Name>): Promise<unknown>;
  /** The caller ends the stream. */
  streaming<Name extends WorkerRequestName>(
    name: Name,
    body: WorkerRequest<Name>,
    write?: (stream: Duplex) => Promise<void>,
  ): Promise<Duplex>;
  /** For what ends with the connection: the run is given back before the error arrives. */
  guarded<Result>(work: () => Promise<Result>): Promise<Result>;
}

export function caller(
  { link }: ConnectedWorker,
  yieldRun: () => Promise<void>,
  timeoutMs: number = defaultAnswerTimeoutMs,
): Caller {
  let isClosed = false;
  void link.closed.then(() => {
    isClosed = true;
  });
  async function guarded<Result>(work: () => Promise<Result>): Promise<Result> {
    try {
      return await work();
    } catch (error) {
      const isLost = (error as { code?: string }).code === "disconnected" || isClosed;
      // The engine would write down that the command failed; it goes on, and its output can still be read.
      if (isLost) await yieldRun();
      if (isLost) throw new WorkerFault(`The connection to the worker was lost: ${(error as Error).message}`);
      throw (error as Error).name === "LinkError" ? refusedBy(error as Error & { code: string }) : error;
    }
  }
  return {
    guarded,
    plain: (name, body) =>
      guarded(async () => {
        const { reply, stream } = await within(timeoutMs, name, link.request(name, body));
        stream.destroy();
        return reply;
      }),
    streaming: (name, body, write) => guarded(async () => (await link.request(name, body, write)).stream),
  };
}

/** Its message is a text of the worker. */
const refusedBy = ({ code, message }: { code: string; message: string }): WorkerFault =>
  new WorkerFault(`The worker refused: ${message.replace(/\p{Cc}/gu, " ").slice(0, 1_000)}`, { cause: code });

async function within<Result>(timeoutMs: number, name: string, work: Promise<Result>): Promise<Result> {
  const late = new AbortController();
  const timeout = pause(timeoutMs, undefined, { signal: late.signal }).then(() => {
    throw new WorkerFault(`The worker did not answer ${name} within ${timeoutMs / 1_000} seconds.`);
  });
  try {
    return await Promise.race([work, timeout]);
  } finally {
    late.abort();
    timeout.catch(() => {});
    work.catch(() => {});
  }
}

/** An answer that is not one is the worker's fault. */
export function readAnswer<Schema extends z.ZodType>(
  name: WorkerRequestName,
  schema: Schema,
  answer: unknown,
): z.output<Schema> {
  const { success, data } = schema.safeParse(answer);
  if (!success) throw new WorkerFault(`The worker answered ${name} with something else. Upgrade the worker.`);
  return data;
}
