// Serves routes: authentication, limits, scope, validation, answer. Every failure is an error with a code.
import { type Context, Hono } from "hono";
import type { z } from "zod";
import { retryOnce } from "../db/index.ts";
import { once } from "../once.ts";
import { type Principal, principalName } from "../principal.ts";
import { type Admission, type AdmissionLimits, type FindForwarded, openAdmission } from "./admission.ts";
import { answerError, toApiError } from "./answers.ts";
import { ApiError } from "./api-error.ts";
import { defaultBodyLimitBytes, isEmpty, readJson } from "./body.ts";
import type { Env } from "./env.ts";
import { type FollowOptions, followRequests } from "./requests.ts";
import type { AnyRoute, Api, Authenticate, Call, Caller, ErrorRenderer } from "./route.ts";
import { isUpgrade, takeOver } from "./sockets.ts";
import { invalid, strictly, validate } from "./validate.ts";

export interface ApiOptions extends FollowOptions {
  authenticate: Authenticate;
  limits: AdmissionLimits;
  /** Where another server of the database forwarded the request. Throws ApiError if that is not proved. */
  forwarded?: FindForwarded;
}

export function createApi({ authenticate, limits, forwarded, ...following }: ApiOptions): Api {
  const { log } = following;
  const app = new Hono<Env>();
  const routes: AnyRoute[] = [];
  const renderers: ErrorRenderer[] = [];
  const admission = openAdmission(limits, forwarded);
  app.use(followRequests(following), admission.middleware);
  app.onError((error, context) => {
    const problem = toApiError(error, context, log);
    for (const render of renderers) {
      const rendered = render(context, problem);
      if (rendered) return rendered;
    }
    return answerError(problem);
  });
  app.notFound((context) => answerUnserved(context, routes));

  const receive = openReceiver(authenticate, admission);

  return {
    app,
    routes,
    hosts: [],
    admission,
    renderErrors: (render) => void renderers.push(render),
    socket: (path, accept) =>
      void app.get(path, async (context) => {
        if (!isUpgrade(context)) return answerUnserved(context, routes);
        context.set("route", path);
        const { principal, take } = await retryOnce(() => accept(context));
        admission.admit(context, principal);
        return takeOver(context, take);
      }),
    route(route, answer) {
      routes.push(route as AnyRoute);
      const readSchemas = once(() => schemasOf(route as AnyRoute));
      const path = route.path.replace(/\{(\w+)\}/g, ":$1");
      app.on(route.method.toUpperCase(), path, async (context) => {
        context.set("route", route.path);
        const call = (await receive(context, route as AnyRoute, readSchemas)) as Parameters<typeof answer>[0];
        const answered = await (route.method === "get" ? retryOnce(() => answer(call)) : answer(call));
        if (answered instanceof Response) return answered;
        const headers = { "cache-control": "no-store" };
        const { status } = route.answer;
        return status === 204 ? context.body(null, status, headers) : context.json(answered as object, status, headers);
      });
    },
  };
}

/** What a request says, once its sender may say it. */
function openReceiver(authenticate: Authenticate, admission: Admission) {
  const requireScope = ({ principal, lacks }: Caller, { scope }: AnyRoute): Principal => {
    if (scope === null || principal.scopes.includes(scope)) return principal;
    throw new ApiError("forbidden", lacks(scope));
  };
  const admit = async (context: Context<Env>, route: AnyRoute): Promise<Principal> => {
    const caller = await authenticate(context);
    admission.admit(context, caller.principal, { name: nameOf(route), limits: [route.rateLimit ?? []].flat() });
    return requireScope(caller, route);
  };
  return async (context: Context<Env>, route: AnyRoute, readSchemas: () => Promise<Schemas>): Promise<AnyCall> => {
    const admitted = await retryOnce(() => admit(context, route));
    const { body, bodyLimitBytes = defaultBodyLimitBytes } = route;
    if (body) admission.admitBody(context, { name: principalName(admitted) }, bodyLimitBytes);
    const wasComplete = !body || context.env.incoming.complete;
    const sent = await readCall(context, route, await readSchemas());
    // Until its body has come, the sender may have lost the key, the session or the role.
    return { ...sent, principal: wasComplete ? admitted : requireScope(await authenticate(context), route) };
  };
}

const nameOf = ({ method, path }: AnyRoute): string => `${method} ${path}`;

/** What a request is validated with. */
async function schemasOf({ params, query, body }: AnyRoute): Promise<Schemas> {
  const [path, search, sent] = await Promise.all([params?.(), query?.(), body?.()]);
  return { params: path && strictly(path), query: search && strictly(search), body: sent && strictly(sent) };
}

type Schemas = Partial<Record<"params" | "query" | "body", z.ZodType>>;

async function readCall(context: Context<Env>, route: AnyRoute, schemas: Schemas): Promise<Omit<AnyCall, "principal">> {
  const { bodyIsOptional, bodyTexts, bodyLimitBytes = defaultBodyLimitBytes } = route;
  const { params, query, body } = schemas;
  const isLeftOut = bodyIsOptional && isEmpty(context.env.incoming);
  const sent =
    body && (isLeftOut ? { raw: Buffer.alloc(0), json: {} } : await readJson(context.env.incoming, bodyLimitBytes));
  return {
    params: params && validate(params, context.req.param(), "path"),
    query: query && validate(query, onlyOnce(context.req.queries()), "query"),
    body: body && validate(body, sent?.json, "body", bodyTexts),
    rawBody: sent?.raw ?? Buffer.alloc(0),
    requestId: context.get("requestId"),
    header: (name) => context.req.header(name),
    context,
  };
}

type AnyCall = Call<unknown, unknown, unknown>;

function onlyOnce(queries: Record<string, string[]>): Record<string, string> {
  const repeated = Object.keys(queries).filter((name) => (queries[name] ?? []).length > 1);
  if (repeated.length > 0) throw invalid(repeated.map((name) => `query parameter ${name}: was given more than once`));
  return Object.fromEntries(Object.entries(queries).map(([name, [value = ""]]) => [name, value]));
}

export const answerUnserved = (context: Context<Env>, routes: readonly AnyRoute[]): Response =>
  answerError(unserved(context, routes));

/** No route at all, or one with another method. */
function unserved({ req }: Context<Env>, routes: readonly AnyRoute[]): ApiError {
  const allowed = routes
    .filter(({ path }) => pathPattern(path).test(req.path))
    .map(({ method }) => method.toUpperCase());
  if (allowed.length === 0) return new ApiError("not_found", "There is no such route. /docs/api lists all routes.");
  const message = `This route takes ${allowed.join(", ")}, not ${req.method}.`;
  return new ApiError("method_not_allowed", message, { headers: { allow: allowed.join(", ") } });
}

const pathPattern = (path: string): RegExp => new RegExp(`^${path.replace(/\{\w+\}/g, "[^/]+")}$`);
