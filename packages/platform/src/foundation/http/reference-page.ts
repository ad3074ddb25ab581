// The routes as a page for people: one file, nothing from elsewhere.
import { problemStatus } from "@agentcli/protocol/api";
import { problemCodes } from "./openapi.ts";
import type { AnyRoute } from "./route.ts";

type Json = Record<string, unknown>;

/** `document` is what openApiDocument made of the same routes. */
export function referencePage(routes: readonly AnyRoute[], document: Json): string {
  const tags = [...new Set(routes.map(({ tag }) => tag))];
  const sections = tags.map((tag) =>
    section(
      tag,
      routes.filter((route) => route.tag === tag),
      document,
    ),
  );
  const { schemas } = document.components as { schemas: Record<string, Json> };
  return page(`<nav>${tags.map((tag) => `<a href="#${asHtml(tag)}">${asHtml(tag)}</a>`).join(" ")}
<a href="#schemas">schemas</a> <a href="/openapi.json">openapi.json</a></nav>
${sections.join("\n")}
<h2 id="schemas">schemas</h2>
${Object.entries(schemas)
  .map(([name, schema]) => schemaEntry(name, schema))
  .join("\n")}`);
}

const section = (tag: string, routes: AnyRoute[], document: Json): string =>
  `<h2 id="${asHtml(tag)}">${asHtml(tag)}</h2>\n${routes.map((route) => routeEntry(route, document)).join("\n")}`;

function routeEntry(route: AnyRoute, document: Json): string {
  const operation = (document.paths as Record<string, Record<string, Json>>)[route.path]?.[route.method] ?? {};
  const problems = problemCodes(route).map((code) => `<code>${problemStatus[code]} ${code}</code>`);
  return `<details><summary><b>${route.method.toUpperCase()}</b> <code>${asHtml(route.path)}</code> ${asHtml(route.summary)}</summary>
<p>${route.scope === null ? "Any key." : `A key with the scope <code>${route.scope}</code>.`}</p>
${shown("Parameters", (operation.parameters as unknown[])?.length ? operation.parameters : undefined)}
${shown("Body", operation.requestBody && (operation.requestBody as Json).content)}
${shown(`Answer ${route.answer.status}`, (operation.responses as Json)?.[route.answer.status])}
<p>Problems: ${problems.join(", ")}</p></details>`;
}

const shown = (title: string, value: unknown): string =>
  value === undefined ? "" : `<h4>${asHtml(title)}</h4><pre>${linked(asHtml(JSON.stringify(value, null, 2)))}</pre>`;

const schemaEntry = (name: string, schema: Json): string =>
  `<details id="schema-${asHtml(name)}"><summary><code>${asHtml(name)}</code></summary><pre>${linked(asHtml(JSON.stringify(schema, null, 2)))}</pre></details>`;

const linked = (html: string): string => html.replace(/#\/components\/schemas\/(\w+)/g, '<a href="#schema-$1">$1</a>');

const asHtml = (text: string): string => text.replace(/[&<>"]/g, (sign) => `&#${sign.charCodeAt(0)};`);

const page = (body: string): string => `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<title>Platform API</title><style>
body { font: 16px/1.5 system-ui, sans-serif; max-width: 60rem; margin: 2rem auto; padding: 0 1rem; color: #1a1a1a; background: #fff }
details { border: 1px solid #ccc; border-radius: 6px; padding: .4rem .8rem; margin: .4rem 0 }
summary { cursor: pointer } code { overflow-wrap: anywhere } code, pre { font-family: ui-monospace, monospace; font-size: .9em }
pre { background: #f4f4f4; padding: .6rem; overflow: auto; border-radius: 4px } nav a { margin-right: .8rem }
@media (prefers-color-scheme: dark) { body { color: #eee; background: #161616 } pre { background: #242424 } a { color: #8bf } details { border-color: #444 } }
</style></head><body><h1>Platform API</h1>
<p>Send your key as <code>Authorization: Bearer &lt;key&gt;</code> or as the user name of Basic authentication.
A refusal is <code>{"error": {"code", "message"}}</code>; every answer carries <code>x-request-id</code>.</p>
${body}</body></html>
`;
