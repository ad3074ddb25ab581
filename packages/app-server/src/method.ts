// The interface of a part of the app server: methods by name, the client that calls them, and refusals.
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
import type { Agent, Program } from "./program.ts";

/** One connected program, after its `initialize`. */
export interface Client {
  readonly id: number;
  readonly info: ClientInfo;
  /** It opted in to the experimental API. */
  readonly wantsExperimental: boolean;
  /** Notification methods it opted out of; `notify` skips them. */
  readonly optedOut: ReadonlySet<string>;
  /** Queued in order behind everything sent before; dropped silently once the client is gone. */
  notify<Name extends NotificationName>(method: Name, params: NoticeOf<Name>): void;
  ask<Name extends ServerRequestName>(method: Name, params: QuestionOf<Name>, signal?: AbortSignal): Asked<Name>;
  /** Settles when the client has read enough of its queue. Producers of much output await it in between. */
  room(): Promise<void>;
  /** Aborted when the connection is gone: what was done for this client alone ends then. */
  readonly closed: AbortSignal;
}

/** A pending server request. */
export interface Asked<Name extends ServerRequestName> {
  /** As `serverRequest/resolved` names it. */
  requestId: number;
  /** Checked against the table. Rejects on refusal, an invalid answer, a disconnect or an abort. */
  answer: Promise<AnswerOf<Name>>;
}

/** One request being answered. */
export interface Call {
  /** Runs this right behind the answer on the wire: `thread/started` follows the response of `thread/start`. */
  afterwards(act: () => void): void;
  /** Aborted when the client or the server closes while the method runs. */
  signal: AbortSignal;
}

/** Called with checked params. It throws RpcError to refuse; any other exception is an internal error (−32603). */
export type Methods = {
  [Name in MethodName]?: (
    params: ParamsOf<Name>,
    client: Client,
    call: Call,
  ) => Promise<ResultOf<Name>> | ResultOf<Name>;
};

/** Some methods and the work they keep running. */
export interface Part {
  methods: Methods;
  /** Ends what the methods started, children and all; settles when nothing is left. */
  close(): Promise<void>;
}

/** What a part is opened with. */
export interface Host {
  program: Program;
  agent: Agent;
  /** All clients connected now. */
  clients(): Client[];
  /** Notifies all of them. */
  broadcast<Name extends NotificationName>(method: Name, params: NoticeOf<Name>): void;
}

export type OpenPart = (host: Host) => Part;

/** A refused request, with the error code for the client. */
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

/** For requests that the current state does not allow: an unknown thread, no turn to interrupt. */
export const invalidRequest = (message: string, data?: unknown) => new RpcError(rpcCodes.invalidRequest, message, data);

/** For values that match the schema and are still invalid: input too large, a path that is not absolute. */
export const invalidParams = (message: string, data?: unknown) => new RpcError(rpcCodes.invalidParams, message, data);

export const unsupported = (method: string) =>
  new RpcError(rpcCodes.methodNotFound, `${method} is not supported by agentcli.`);
