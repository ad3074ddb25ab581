// A route of API v1 as a value: what it takes, answers and refuses. Checked, served and documented from the same words.
import type { ProblemCode } from "@agentcli/protocol/api";
import type { HttpBindings } from "@hono/node-server";
import type { Context, Hono } from "hono";
import type { z } from "zod";
import type { Principal, Scope } from "../principals/index.ts";
import type { RateLimit } from "./rate-limit.ts";

export type Env = { Bindings: HttpBindings; Variables: { requestId: string; route: string; principal: Principal } };

export interface Route<Params extends z.ZodType, Query extends z.ZodType, Body extends z.ZodType, Answer> {
  method: "get" | "post" | "put" | "patch" | "delete";
  /** With its parameters in braces: `/v1/agents/{id}`. */
  path: string;
  summary: string;
  /** Groups routes on the reference page. */
  tag: string;
  /** What the key must be good for; `null` where any key will do. */
  scope: Scope | null;
  /** What is done with the agent that the route is about; who of its team may is the rule of sharing. */
  sharing?: "read" | "follow_up" | "manage";
  params?: Params;
  /** Of texts, as they stand in the address. */
  query?: Query;
  body?: Body;
  /** Most bytes of the body (1 MiB). */
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

/** JSON of a schema, what the route writes itself (a stream, a file), or either, as the caller wants it. */
export type AnswerDefinition<Answer> =
  | { status: 200 | 201; schema: z.ZodType<Answer>; description: string }
  | { status: 200; schema: z.ZodType<Answer>; contentType: string; description: string }
  | { status: 200; contentType: string; description: string };

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
  /** For what is not part of API v1, such as pages and git: no key is asked for, nothing is documented. */
  app: Hono<Env>;
  /** Those added so far. */
  routes: readonly AnyRoute[];
}
