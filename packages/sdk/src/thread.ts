// A conversation: each turn is one run of the program, and all turns share their context.
import type { EventUsage, ExecEvent, ThreadItem } from "@agentcli/protocol";
import { commandLine } from "./command-line.ts";
import { runProgram } from "./exec.ts";
import type { ClientOptions, Input, ThreadOptions, TurnOptions } from "./options.ts";
import { findProgram } from "./program.ts";
import { type SchemaFiles, writeSchemaFiles } from "./schema-files.ts";

export type ThreadEvent = ExecEvent;
export type Usage = EventUsage;
export type { ThreadItem };

export interface Turn {
  items: ThreadItem[];
  /** The last message; with an output schema a JSON text that satisfies it. */
  finalResponse: string;
  usage: Usage | null;
  /** Null if the price is unknown. */
  /** With six digits; null if a price is unknown. */
  costUsd: string | null;
}

export interface StreamedTurn {
  /** The turn starts when the first event is requested. Throws like `run`; leaving the loop ends the turn. */
  events: AsyncGenerator<ThreadEvent>;
}

export class Thread {
  readonly #client: ClientOptions;
  readonly #options: ThreadOptions;
  #id: string | null;
  #isBusy = false;

  constructor(client: ClientOptions, options: ThreadOptions, id: string | null) {
    this.#client = client;
    this.#options = options;
    this.#id = id;
  }

  /** Null until the first turn has started. */
  get id(): string | null {
    return this.#id;
  }

  async run(input: Input, options: TurnOptions = {}): Promise<Turn> {
    const schema = await writeSchemaFiles(options.outputSchema);
    try {
      const turn: Turn = { items: [], finalResponse: "", usage: null, costUsd: null };
      for await (const event of this.#turn(input, schema, options.signal)) collect(turn, event);
      turn.finalResponse = schema ? await schema.readResponse() : finalMessage(turn.items);
      return turn;
    } finally {
      await schema?.remove();
    }
  }

  async runStreamed(input: Input, options: TurnOptions = {}): Promise<StreamedTurn> {
    return { events: this.#stream(input, options) };
  }

  async *#stream(input: Input, options: TurnOptions): AsyncGenerator<ThreadEvent> {
    const schema = await writeSchemaFiles(options.outputSchema);
    try {
      yield* this.#turn(input, schema, options.signal);
    } finally {
      await schema?.remove();
    }
  }

  async *#turn(input: Input, schema: SchemaFiles | null, signal?: AbortSignal): AsyncGenerator<ThreadEvent> {
    if (this.#isBusy)
      throw new Error("This thread already has an active turn. Wait for its end, or start another thread.");
    this.#isBusy = true;
    try {
      const request = { client: this.#client, thread: this.#options, threadId: this.#id, input, schema };
      const launch = { ...findProgram(this.#client.agentPathOverride), env: environmentOf(this.#client) };
      for await (const event of runProgram({ ...launch, ...commandLine(request) }, signal)) {
        if (event.type === "thread.started") this.#id = event.thread_id;
        yield event;
      }
    } finally {
      this.#isBusy = false;
    }
  }
}

function collect(turn: Turn, event: ThreadEvent): void {
  if (event.type === "item.completed") turn.items.push(event.item);
  if (event.type === "turn.completed") {
    turn.usage = event.usage;
    turn.costUsd = event.cost_usd;
  }
}

/** The last message of phase final_answer, else the last one without a phase; commentary does not count. */
function finalMessage(items: Turn["items"]): string {
  const messages = items.filter((item) => item.type === "agent_message");
  const withPhase = (phase: "final_answer" | undefined) => messages.findLast((message) => message.phase === phase);
  return (withPhase("final_answer") ?? withPhase(undefined))?.text ?? "";
}

function environmentOf({ env, apiKey }: ClientOptions): NodeJS.ProcessEnv {
  const base = env ?? process.env;
  return {
    AGENT_INTERNAL_ORIGINATOR_OVERRIDE: "agent_sdk_ts",
    ...base,
    ...(apiKey === undefined ? {} : { AGENT_API_KEY: apiKey }),
  };
}
