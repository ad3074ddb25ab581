// Dependencies of the pages.
import type { Context } from "hono";
import type { AgentHost, OverviewHost } from "../agents/index.ts";
import type { Api, Env, ServerContext } from "../foundation/index.ts";
import type { Identity } from "../identity/index.ts";
import type { Repositories } from "../repositories/index.ts";
import type { Fields } from "./form.ts";
import type { Visitor } from "./session.ts";

export interface PageOptions {
  identity: Identity;
  agents: AgentHost;
  overview: OverviewHost;
  repositories: Repositories;
}

export interface PageHost extends PageOptions {
  platform: ServerContext;
  api: Api;
}

/** Pages for users who are logged in; others get the login page. */
export interface Pages {
  get(path: string, show: (context: Context<Env>, visitor: Visitor) => Promise<Response>): void;
  /** A form of these pages; its fields are strings. */
  form(path: string, act: (context: Context<Env>, visitor: Visitor, fields: Fields) => Promise<Response>): void;
}
