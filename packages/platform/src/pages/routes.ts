// The pages: who may see them, and what their forms do.
import type { Context } from "hono";
import { ApiProblem, answerUnserved, type Env } from "../http/index.ts";
import { PrincipalProblem } from "../principals/index.ts";
import type { SessionDoor } from "../sessions/index.ts";
import { addAccountPages } from "./account-routes.ts";
import { addAgentPages } from "./agent-routes.ts";
import { type Fields, readFields } from "./form.ts";
import type { PageHost } from "./host.ts";
import { html } from "./html.ts";
import { addKeyPages } from "./key-routes.ts";
import { answerPage } from "./layout.ts";
import { addLoginPages, askIn } from "./login-routes.ts";
import { addMemberPages } from "./member-routes.ts";
import { addRepositoryPages } from "./repository-routes.ts";
import { addServiceAccountPages } from "./service-account-routes.ts";
import { doorOf, type Visitor, visitorOf } from "./session.ts";
import { addSessionPages } from "./session-routes.ts";
import { addSettingsPages } from "./settings-routes.ts";
import { streamScript } from "./stream.js.ts";
import { style } from "./style.css.ts";

/** Pages of a visitor: everybody else is told how to come in. */
export interface Pages {
  get(path: string, show: (context: Context<Env>, visitor: Visitor) => Promise<Response>): void;
  /** A form of ours; what it holds comes as texts. */
  form(path: string, act: (context: Context<Env>, visitor: Visitor, fields: Fields) => Promise<Response>): void;
}

export function addPages(host: PageHost): void {
  const { app } = host.api;
  const door = doorOf(host.platform);
  const asset = (type: string) => ({
    "content-type": type,
    "cache-control": "max-age=300",
    "x-content-type-options": "nosniff",
  });
  app.get("/assets/style.css", (context) => context.body(style, 200, asset("text/css; charset=utf-8")));
  app.get("/assets/stream.js", (context) => context.body(streamScript, 200, asset("text/javascript; charset=utf-8")));
  app.get("/", (context) => context.redirect("/agents"));
  const pages = pagesOf(host, door);
  addLoginPages(pages, host, door);
  addAgentPages(pages, host);
  addRepositoryPages(pages, host);
  addKeyPages(pages, host);
  addServiceAccountPages(pages, host);
  addMemberPages(pages, host);
  addSessionPages(pages, host);
  addAccountPages(pages, host);
  addSettingsPages(pages, host);
  addMissingPage(host, door);
}

/** A person who mistyped an address is answered in HTML; programs, and all that is theirs, in JSON as before. */
function addMissingPage({ api }: PageHost, door: SessionDoor): void {
  api.app.notFound(async (context) => {
    if (!isForPeople(context)) return answerUnserved(context, api.routes);
    const visitor = await visitorOf(door, context);
    return answerPage(context, { title: "Not found", visitor, body: missingPage }, 404);
  });
}

const isForPeople = ({ req }: Context<Env>): boolean =>
  ["GET", "HEAD"].includes(req.method) &&
  /\btext\/html\b/i.test(req.header("accept") ?? "") &&
  !/^\/(?:v\d+|git|\.well-known)(?:\/|$)/.test(req.path);

const missingPage = html`<section class="card narrow"><h1>Not found</h1>
<p>There is no page at this address.</p>
<p><a class="action" href="/agents">Go to the agents</a></p></section>`;

function pagesOf({ api, oidc }: PageHost, door: SessionDoor): Pages {
  const known = async (context: Context<Env>, show: (visitor: Visitor) => Promise<Response>): Promise<Response> => {
    const visitor = await visitorOf(door, context);
    if (!visitor) return askIn(context, oidc, context.req.method === "GET" ? ownAddress(context) : "");
    try {
      refuseUnstorable(context);
      return await show(visitor);
    } catch (error) {
      if (error instanceof ApiProblem) return trouble(context, visitor, error);
      if (!(error instanceof PrincipalProblem)) throw error;
      return trouble(context, visitor, new ApiProblem("validation_error", error.message));
    }
  };
  return {
    get: (path, show) => void api.app.get(path, (context) => known(context, (visitor) => show(context, visitor))),
    form: (path, act) =>
      void api.app.post(path, (context) =>
        known(context, async (visitor) => {
          const fields = await readFields(context);
          if (door.origin(context, visitor, fields.token) !== "own page")
            throw new ApiProblem("forbidden", "This form is too old. Load the page again.");
          return act(context, visitor, fields);
        }),
      ),
  };
}

/** The database cannot even be asked for it. */
function refuseUnstorable({ req }: Context<Env>): void {
  const texts = [...Object.values(req.param()), ...Object.values(req.query())];
  if (texts.some((text) => text?.includes("\0")))
    throw new ApiProblem("not_found", "There is nothing at this address.");
}

function ownAddress({ req }: Context<Env>): string {
  const { pathname, search } = new URL(req.url);
  return `${pathname}${search}`;
}

function trouble(context: Context<Env>, visitor: Visitor, problem: ApiProblem): Response {
  const status = problem.status === 404 ? 404 : problem.status === 409 ? 409 : problem.status === 403 ? 403 : 400;
  const { helpUrl } = problem.extra.members ?? {};
  const help = typeof helpUrl === "string" && html`<p><a href="${helpUrl}">Go there</a></p>`;
  const body = html`<section class="card"><h1>That did not work</h1><p class="problem">${problem.message}</p>${help}</section>`;
  return answerPage(context, { title: "Trouble", visitor, body }, status);
}
