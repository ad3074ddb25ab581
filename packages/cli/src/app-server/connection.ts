// One client's conversation, from its first message to the end of its connection.
import { setMaxListeners } from "node:events";
import type { ParamsOf } from "@agentcli/protocol/app-server";
import { openCalls } from "./calls.ts";
import { checkParams, type Errand } from "./dispatch.ts";
import { type Message, noticeText, readMessage, refusalText } from "./envelope.ts";
import { type Client, invalidRequest } from "./method.ts";
import { type Link, type Outbox, openOutbox } from "./outbox.ts";
import type { Notice } from "./pieces.ts";
import { openQuestions, type Questions } from "./questions.ts";

export interface Connection {
  /** Takes in one message, whatever it is. */
  receive(text: string): void;
  /** The client, once it has introduced itself. */
  readonly client: Client | undefined;
  /** Whether what the client is told goes out about as fast as it is said; `room` settles when it does. */
  hasRoom(): boolean;
  room(): Promise<void>;
  /** The client will say nothing more: settles when what it asked is answered. */
  drain(): Promise<void>;
  /** Tells the methods at work for this client to end. */
  stop(): void;
  /** Settles when everything said has been handed over. */
  flush(): Promise<void>;
  end(reason: string): void;
}

/** What a connection needs of the server it belongs to. */
export interface Counter {
  id: number;
  /** Carries out a request of a client that has introduced itself. */
  perform(errand: Errand): unknown;
  /** What `initialize` answers. */
  welcome(client: Client): unknown;
  /** A line for the log. */
  log(line: string): void;
  onEnd(): void;
}

export function openConnection(link: Link, counter: Counter): Connection {
  const closed = new AbortController();
  setMaxListeners(0, closed.signal);
  const outbox = openOutbox(link, () => end("it does not read what it is sent"));
  const questions = openQuestions(outbox.send);
  const calls = openCalls(outbox.send);
  let client: Client | undefined;

  function request({ id, method, params }: Extract<Message, { kind: "request" }>): void {
    calls.answer(id, (call) => {
      if (method === "initialize") return initialize(params);
      if (!client) throw invalidRequest("Not initialized");
      return counter.perform({ method, params, client, call });
    });
  }

  function initialize(params: unknown): unknown {
    if (client) throw invalidRequest("Already initialized");
    const checked = checkParams("initialize", params) as ParamsOf<"initialize">;
    client = describe(counter.id, checked, { outbox, questions, closed: closed.signal });
    return counter.welcome(client);
  }

  function end(reason: string): void {
    if (closed.signal.aborted) return;
    closed.abort();
    calls.stop();
    questions.abandon(`The client is gone: ${reason}.`);
    outbox.close();
    link.close(reason);
    counter.onEnd();
  }

  return {
    get client() {
      return client;
    },
    receive: (text) => {
      const message = readMessage(text);
      if (message.kind === "request") request(message);
      else if (message.kind === "unclear")
        outbox.send(refusalText(message.id, invalidRequest(`Invalid request: ${message.reason}`)));
      else takeIn(message, questions, counter.log);
    },
    hasRoom: outbox.hasRoom,
    room: outbox.room,
    async drain() {
      questions.abandon("The client has ended its input.");
      await calls.idle();
    },
    stop: calls.stop,
    flush: outbox.flush,
    end,
  };
}

interface Ends {
  outbox: Outbox;
  questions: Questions;
  closed: AbortSignal;
}

/** The client as methods see it. */
function describe(id: number, introduction: ParamsOf<"initialize">, { outbox, questions, closed }: Ends): Client {
  const { optOutNotificationMethods, experimentalApi } = introduction.capabilities ?? {};
  const optedOut = new Set(optOutNotificationMethods);
  return {
    id,
    info: introduction.clientInfo,
    wantsExperimental: experimentalApi === true,
    optedOut,
    notify(method, params) {
      const notice = { method, params } as Notice;
      if (!optedOut.has(method)) outbox.notify(notice, writtenOnce(notice));
    },
    ask: (method, params, signal) => questions.ask({ method, params, signal }),
    room: outbox.room,
    closed,
  };
}

/** What needs no answer. Of notifications clients have only `initialized`, which says nothing new. */
function takeIn(message: Message, questions: Questions, log: (line: string) => void): void {
  if (message.kind === "noise") log(`A message was ignored: ${message.reason}.`);
  if (message.kind === "answer" && !questions.settle(message.id, message.outcome))
    log(`An answer was ignored: nothing was asked under the id ${JSON.stringify(message.id)}.`);
}

const written = new WeakMap<object, { method: string; text: string }>();

/** Many clients are told the same: params that are one object are written out once. */
function writtenOnce(notice: Notice): string {
  const known = written.get(notice.params);
  if (known?.method === notice.method) return known.text;
  const text = noticeText(notice);
  written.set(notice.params, { method: notice.method, text });
  return text;
}
