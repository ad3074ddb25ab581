// The documentation: the built site, as static pages that anyone can read.
import { readdirSync, readFileSync } from "node:fs";
import { extname, join } from "node:path";
import type { Context, Hono } from "hono";
import type { Env } from "../foundation/index.ts";
import { findBuiltFolder } from "./built-folder.ts";

const headers = {
  "content-security-policy":
    "default-src 'none'; style-src 'self'; img-src 'self' data:; frame-ancestors 'none'; base-uri 'none'",
  "x-content-type-options": "nosniff",
  "referrer-policy": "same-origin",
  "cache-control": "max-age=300",
};

const types: Record<string, string> = {
  ".html": "text/html; charset=utf-8",
  ".css": "text/css; charset=utf-8",
  ".png": "image/png",
};

/** Also for HTML: files of the repository are shown, not run. */
const asText = "text/plain; charset=utf-8";

export function addDocumentation(app: Hono<Env>): void {
  let opened: Site | undefined;
  const site = () => {
    opened ??= openSite();
    return opened;
  };
  const answer = (context: Context<Env>, path: string) => {
    const type = path.startsWith("files/") ? asText : (types[extname(path)] ?? asText);
    return context.body(site().read(path), 200, { ...headers, "content-type": type });
  };
  app.get("/docs", (context) => answer(context, "index.html"));
  app.get("/docs/:path{.+}", (context, next) => {
    const path = context.req.param("path");
    const file = [`${path}.html`, path].find((each) => site().has(each));
    return file === undefined ? next() : Promise.resolve(answer(context, file));
  });
}

interface Site {
  has(path: string): boolean;
  read(path: string): Uint8Array<ArrayBuffer>;
}

/** Only files that were there at the first visit are read, whatever the path of a request is. */
function openSite(): Site {
  const folder = findBuiltFolder("docs", "The documentation");
  const entries = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  const files = new Map(
    entries.map(({ parentPath, name }) => join(parentPath, name)).map((path) => [path.slice(folder.length + 1), path]),
  );
  return { has: (path) => files.has(path), read: (path) => new Uint8Array(readFileSync(files.get(path) ?? "")) };
}
