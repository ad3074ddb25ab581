// The routes as an OpenAPI 3.1 document: its schemas are JSON Schema, which is what zod makes.
import { ProblemBody, type ProblemCode, problemStatus } from "@agentcli/protocol/api";
import { z } from "zod";
import type { AnyRoute } from "./route.ts";
import { strictly } from "./validate.ts";

type Json = Record<string, unknown>;

export interface DocumentOptions {
  version: string;
  /** Base address. */
  url: string;
}

export async function openApiDocument(routes: readonly AnyRoute[], { version, url }: DocumentOptions): Promise<Json> {
  const components = new Map<string, Json>();
  const paths: Record<string, Json> = {};
  for (const route of routes)
    paths[route.path] = { ...paths[route.path], [route.method]: await operation(route, components) };
  return {
    openapi: "3.1.0",
    info: { title: "Platform", version, description: "Coding agents that work unattended." },
    servers: [{ url }],
    paths,
    components: {
      schemas: Object.fromEntries([...components].sort(([left], [right]) => (left < right ? -1 : 1))),
      securitySchemes: {
        bearer: { type: "http", scheme: "bearer" },
        basic: { type: "http", scheme: "basic", description: "The key is the user name; no password." },
        session: {
          type: "apiKey",
          in: "cookie",
          name: "platform_session",
          description: "Of a browser that is logged in; __Host-platform_session over TLS.",
        },
        csrf: {
          type: "apiKey",
          in: "header",
          name: "X-CSRF-Token",
          description:
            "The form token of the session, which its pages carry: beside the cookie for whatever changes something.",
        },
      },
    },
  };
}

async function operation(route: AnyRoute, components: Map<string, Json>): Promise<Json> {
  const { answer } = route;
  const [params, query, body] = await Promise.all([route.params?.(), route.query?.(), route.body?.()]);
  const content = answer.status === 204 ? {} : await contentOf(answer, components);
  return {
    operationId: operationId(route),
    summary: route.summary,
    tags: [route.tag],
    security: security(route),
    ...(route.scope === null ? {} : { "x-scope": route.scope }),
    ...(route.sharing === undefined ? {} : { "x-sharing": route.sharing }),
    parameters: [...parameters(params, "path", components), ...parameters(query, "query", components)],
    ...(body ? { requestBody: requestBody(body, route.bodyIsOptional !== true, components) } : {}),
    responses: {
      [answer.status]: {
        description: answer.description,
        ...(answer.status !== 204 && { content }),
      },
      ...("createdDescription" in answer && {
        201: { description: answer.createdDescription, content },
      }),
      ...problems(route, components),
    },
  };
}

/** Each of these will do; behind them stands the scope, which a session has by the role of its user. */
function security({ method, scope }: AnyRoute): Json[] {
  const needed = scope === null ? [] : [scope];
  const session = method === "get" ? { session: needed } : { session: needed, csrf: [] };
  return [{ bearer: needed }, { basic: needed }, session];
}

const contentOf = async (answer: AnyRoute["answer"], components: Map<string, Json>): Promise<Json> => ({
  ...("schema" in answer && { "application/json": { schema: schemaOf(await answer.schema(), components) } }),
  ...("contentType" in answer && { [answer.contentType]: { schema: { type: "string" } } }),
});

const requestBody = (body: z.ZodType, required: boolean, components: Map<string, Json>): Json => ({
  required,
  content: { "application/json": { schema: schemaOf(strictly(body), components) } },
});

const operationId = ({ method, path }: AnyRoute): string =>
  `${method}${path.replace(/[/{-]+(\w)/g, (_, letter: string) => letter.toUpperCase()).replace(/\W/g, "")}`;

function parameters(schema: z.ZodType | undefined, location: "path" | "query", components: Map<string, Json>): Json[] {
  if (!schema) return [];
  const { properties = {}, required = [] } = schemaOf(schema, components) as {
    properties?: Record<string, Json>;
    required?: string[];
  };
  return Object.entries(properties).map(([name, { description, ...inner }]) => ({
    name,
    in: location,
    required: location === "path" || required.includes(name),
    ...(description ? { description } : {}),
    schema: inner,
  }));
}

/** `payload_too_large`: the headers, or the body. */
const always: ProblemCode[] = [
  "validation_error",
  "unauthorized",
  "payload_too_large",
  "rate_limited",
  "internal",
  "unavailable",
];

/** All codes that a route may answer. */
export function problemCodes({ method, scope, sharing, problems: own = [] }: AnyRoute): ProblemCode[] {
  const forbidden: ProblemCode[] = scope === null && method === "get" ? [] : ["forbidden"];
  const unshared: ProblemCode[] = sharing ? ["agent_not_found", "integration_not_connected", "unavailable"] : [];
  return [...new Set([...always, ...forbidden, ...unshared, ...own])];
}

function problems(route: AnyRoute, components: Map<string, Json>): Json {
  const schema = schemaOf(ProblemBody, components);
  const codes = problemCodes(route);
  const answers = [...new Set(codes.map((code) => problemStatus[code]))].map((status) => {
    const description = codes.filter((code) => problemStatus[code] === status).join(", ");
    return [status, { description, content: { "application/json": { schema } } }];
  });
  return Object.fromEntries(answers);
}

/** Schemas with an id become components. Answers too are described as if they were sent: they may grow. */
function schemaOf(schema: z.ZodType, components: Map<string, Json>): Json {
  const {
    $schema: _,
    $defs = {},
    id,
    ...plain
  } = z.toJSONSchema(schema, { io: "input", unrepresentable: "any" }) as Json & {
    $defs?: Record<string, Json>;
    id?: string;
  };
  for (const [name, { id: __, ...definition }] of Object.entries($defs)) components.set(name, relocated(definition));
  if (id === undefined) return relocated(plain);
  components.set(id, relocated(plain));
  return { $ref: `#/components/schemas/${id}` };
}

const relocated = (schema: Json): Json =>
  JSON.parse(JSON.stringify(schema).replaceAll('"#/$defs/', '"#/components/schemas/'));
