// A route of the API as a value: validated, served and documented from the same declaration.
import type { IncomingMessage, ServerResponse } from "node:http";
import type { Duplex } from "node:stream";
import type { ProblemCode } from "@agentcli/protocol/api";
import type { Context, Hono } from "hono";
import type { z } from "zod";
import type { Principal, Scope } from "../principal.ts";
import type { Admission } from "./admission.ts";
import type { ApiError } from "./api-error.ts";
import type { Env } from "./env.ts";
import type { RateLimit } from "./rate-limit.ts";
import type { Later } from "./schema.ts";

/** The authenticated sender of a request. */
export interface Caller {
  principal: Principal;
  /** The reason why the caller lacks a scope, and how to get it. */
  lacks(scope: Scope): string;
}

/** Throws ApiError `unauthorized` or `forbidden`. */
export type Authenticate = (context: Context<Env>) => Promise<Caller>;

export interface Route<Params extends z.ZodType, Query extends z.ZodType, Body extends z.ZodType, Answer> {
  method: "get" | "post" | "put" | "patch" | "delete";
  /** With its parameters in braces: `/v1/agents/{id}`. */
  path: string;
  summary: string;
  /** Groups routes on the reference page. */
  tag: string;
  /** The scope the key needs; `null` where any key will do. */
  scope: Scope | null;
  /** The action on the agent in the path; the sharing rule says who may perform it; `own` is for its owner alone. */
  sharing?: "read" | "follow_up" | "manage" | "own";
  params?: Later<Params>;
  /** Of texts, as they stand in the address. */
  query?: Later<Query>;
  body?: Later<Body>;
  /** No body at all stands for an empty object. */
  bodyIsOptional?: true;
  /** Max bytes of the body; 1 MiB by default. */
  bodyLimitBytes?: number;
  /** Texts of the body may hold any character, as nothing of it is stored. Otherwise NUL is refused. */
  bodyTexts?: "any";
  /** Beside the team's: for one principal and this route; of several, all hold. */
  rateLimit?: RateLimit | RateLimit[];
  answer: AnswerDefinition<Answer>;
  /** Codes beyond those any route may answer. */
  problems?: ProblemCode[];
}

export type AnyRoute = Route<z.ZodType, z.ZodType, z.ZodType, unknown>;

/**
 * `createdDescription`: the route may also answer 201 with the same schema, for what was not there before.
 * JSON of a schema, what the route writes itself (a stream, a file), or either, as the caller wants it.
 */
export type AnswerDefinition<Answer> =
  | { status: 200 | 201; schema: Later<z.ZodType<Answer>>; description: string; createdDescription?: string }
  | { status: 200; schema: Later<z.ZodType<Answer>>; contentType: string; description: string }
  | { status: 200; contentType: string; description: string }
  /** The route returns `noContent`. */
  | { status: 204; description: string };

/** Types of what was sent, after its schemas. `undefined` where the route declares none. */
export interface Call<Params, Query, Body> {
  params: Params;
  query: Query;
  body: Body;
  /** The bytes the body was read from. */
  rawBody: Buffer;
  principal: Principal;
  requestId: string;
  header(name: string): string | undefined;
  /** For what is not JSON: `context.env.outgoing` is Node's response. */
  context: Context<Env>;
}

export type ErrorRenderer = (context: Context<Env>, problem: ApiError) => Response | null;

/** Takes over the connection of a request for a WebSocket. */
export type TakeSocket = (request: IncomingMessage, stream: Duplex, head: Buffer) => void;

/** Authenticates a request for a WebSocket. Throws if it is refused. */
export type AcceptSocket = (context: Context<Env>) => Promise<{ principal: Principal; take: TakeSocket }>;

export interface HostHandler {
  /** `name`: as in the header Host. */
  matches(name: string | undefined): boolean;
  request(request: IncomingMessage, response: ServerResponse): void;
  upgrade(request: IncomingMessage, stream: Duplex, head: Buffer): void;
}

export interface Api {
  /** A Response is sent as it is; anything else as the JSON the route declares. */
  route<
    Answer,
    Params extends z.ZodType = z.ZodUndefined,
    Query extends z.ZodType = z.ZodUndefined,
    Body extends z.ZodType = z.ZodUndefined,
  >(
    route: Route<Params, Query, Body, Answer>,
    answer: (call: Call<z.output<Params>, z.output<Query>, z.output<Body>>) => Promise<Answer | Response>,
  ): void;
  /** For what is not part of the API, such as pages and git: neither authenticated nor documented, but limited. */
  app: Hono<Env>;
  /** For WebSockets at this path; other requests to it are not served. Limited as all requests. */
  socket(path: string, accept: AcceptSocket): void;
  /** Host names that are not the platform's: what they match never reaches its routes. */
  hosts: HostHandler[];
  /** What is not part of the API calls it once the sender is known. */
  admission: Omit<Admission, "middleware">;
  /** For ways in whose errors are not JSON; null for requests of others. */
  renderErrors(render: ErrorRenderer): void;
  /** Those added so far. */
  routes: readonly AnyRoute[];
}
