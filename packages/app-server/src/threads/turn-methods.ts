// turn/*: starting, steering and interrupting turns.
import type { ParamsOf } from "@agentcli/protocol/app-server";
import { type Client, invalidRequest, type Methods } from "../method.ts";
import type { Input } from "../program.ts";
import { readInput } from "./input.ts";
import { readSchema, type TurnRequest } from "./opening.ts";
import type { OwnThread } from "./own-thread.ts";
import { unknownThread } from "./refusals.ts";
import type { ThreadTable } from "./table.ts";
import type { RunningTurn } from "./turn.ts";

export function turnMethods(table: ThreadTable, agentInput: Input): Methods {
  return {
    async "turn/start"(params, client, call) {
      const thread = loaded(params.threadId, table);
      if (params.input.length === 0) throw emptyInput();
      const { turn, begin } = await thread.start(await requestOf(params, client, agentInput));
      thread.audience.join(client)();
      call.afterwards(begin);
      return { turn };
    },
    "turn/steer": ({ threadId, input, expectedTurnId, clientUserMessageId }) => {
      const thread = loaded(threadId, table);
      const turn = thread.turn();
      if (!turn) throw invalidRequest("no active turn to steer");
      if (turn.id !== expectedTurnId)
        throw invalidRequest(`expected active turn id ${expectedTurnId} but found ${turn.id}`);
      if (turn.kind !== "work") throw notSteerable(turn);
      const parts = readInput(input, thread.run().settings.cwd, agentInput);
      if (parts.length === 0) throw emptyInput();
      turn.steer({ input: parts, ...(clientUserMessageId && { clientId: clientUserMessageId }) });
      return { turnId: turn.id };
    },
    async "thread/compact/start"({ threadId }, client, call) {
      const thread = loaded(threadId, table);
      if (!thread.canCompact()) throw invalidRequest(`thread ${threadId} has nothing to summarise yet`);
      const open = () => ({ input: [], compaction: "only" as const });
      const { begin } = await thread.start({ kind: "compact", client, change: {}, open });
      thread.audience.join(client)();
      call.afterwards(begin);
      return {};
    },
    "turn/interrupt"({ threadId, turnId }, _client, call) {
      const turn = loaded(threadId, table).turn();
      if (!turn) throw invalidRequest("no active turn to interrupt");
      if (turnId !== "" && turn.id !== turnId)
        throw invalidRequest(`expected active turn id ${turnId} but found ${turn.id}`);
      call.afterwards(() => turn.stop("Interrupted by the client."));
      return {};
    },
  };
}

/** Turns belong to loaded threads: a client must start, resume or join one first. */
export function loaded(threadId: string, table: ThreadTable): OwnThread {
  const thread = table.find(threadId);
  if (!thread) throw unknownThread(threadId);
  if (thread.kind === "child") throw invalidRequest(`thread ${threadId} is a sub-agent and is driven by its parent`);
  return thread;
}

async function requestOf(params: ParamsOf<"turn/start">, client: Client, agentInput: Input): Promise<TurnRequest> {
  const { input, cwd, approvalPolicy, sandboxPolicy, model, effort, summary, serviceTier, outputSchema } = params;
  const clientId = params.clientUserMessageId;
  return {
    kind: "work",
    client,
    change: { cwd, approvalPolicy, sandboxPolicy, model, effort, summary, serviceTier },
    shape: await readSchema(outputSchema, agentInput),
    open: ({ settings }) => ({ input: readInput(input, settings.cwd, agentInput), ...(clientId && { clientId }) }),
  };
}

const emptyInput = (): Error => invalidRequest("input must not be empty");

function notSteerable({ kind }: RunningTurn): Error {
  const info = { activeTurnNotSteerable: { turnKind: kind } };
  return invalidRequest(`a ${kind} turn cannot be steered`, { errorInfo: info, codexErrorInfo: info });
}
