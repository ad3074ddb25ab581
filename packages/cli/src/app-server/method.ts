// What a part of the app server is made of: methods by name, the client that calls them, and how to refuse.
import type {
  AnswerOf,
  ClientInfo,
  MethodName,
  NoticeOf,
  NotificationName,
  ParamsOf,
  QuestionOf,
  ResultOf,
  ServerRequestName,
} from "@agentcli/protocol/app-server";
import { rpcCodes } from "@agentcli/protocol/app-server/codes";
import type { Invocation } from "../args.ts";
import type { Program } from "../program.ts";

/** One connected program, after its `initialize`. */
export interface Client {
  readonly id: number;
  readonly info: ClientInfo;
  /** It asked for what may still change. */
  readonly wantsExperimental: boolean;
  /** Methods of notifications it does not want; `notify` leaves them out by itself. */
  readonly optedOut: ReadonlySet<string>;
  /** Queued in order behind everything sent before; dropped without a word once the client is gone. */
  notify<Name extends NotificationName>(method: Name, params: NoticeOf<Name>): void;
  ask<Name extends ServerRequestName>(method: Name, params: QuestionOf<Name>, signal?: AbortSignal): Asked<Name>;
  /** Settles when the client has read enough of what is queued. Whoever produces much waits here in between. */
  room(): Promise<void>;
  /** Aborted when the connection is gone: what was done for this client alone ends then. */
  readonly closed: AbortSignal;
}

/** A question under way. */
export interface Asked<Name extends ServerRequestName> {
  /** As `serverRequest/resolved` names it. */
  requestId: number;
  /** Checked against the table. Rejects when the client refuses, answers nonsense, goes away, or the signal aborts. */
  answer: Promise<AnswerOf<Name>>;
}

/** One request being answered. */
export interface Call {
  /** Runs this right behind the answer on the wire: `thread/started` follows the response of `thread/start`. */
  afterwards(act: () => void): void;
  /** Aborted when the client or the server goes while the method is at work. */
  signal: AbortSignal;
}

/** What a method does with checked params. It throws RpcError to refuse; anything else it throws is our bug (−32603). */
export type Methods = {
  [Name in MethodName]?: (
    params: ParamsOf<Name>,
    client: Client,
    call: Call,
  ) => Promise<ResultOf<Name>> | ResultOf<Name>;
};

/** Some methods together with what they keep running. */
export interface Part {
  methods: Methods;
  /** Ends what the methods started, children and all; settles when nothing is left. */
  close(): Promise<void>;
}

/** What a part is opened with. */
export interface Host {
  program: Program;
  /** The flags of `agentcli app-server`: what threads start from where a request says nothing. */
  invocation: Invocation;
  /** Everyone who is connected now. */
  clients(): Client[];
  /** Tells all of them. */
  broadcast<Name extends NotificationName>(method: Name, params: NoticeOf<Name>): void;
}

export type OpenPart = (host: Host) => Part;

/** A request refused, with the code the client is given. */
export class RpcError extends Error {
  override name = "RpcError";
  readonly code: number;
  readonly data: unknown;

  constructor(code: number, message: string, data?: unknown) {
    super(message);
    this.code = code;
    this.data = data;
  }
}

/** For what is wrong with the moment or the thing asked for: an unknown thread, no turn to interrupt. */
export const invalidRequest = (message: string, data?: unknown) => new RpcError(rpcCodes.invalidRequest, message, data);

/** For values that fit the table and still cannot be: input too large, a path that is not absolute. */
export const invalidParams = (message: string, data?: unknown) => new RpcError(rpcCodes.invalidParams, message, data);

export const unsupported = (method: string) =>
  new RpcError(rpcCodes.unsupported, `${method} is not supported by agentcli.`);
