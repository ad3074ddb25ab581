// The built web app: its files as they are sent, and its document with the visitor filled in.
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { Context } from "hono";
import type { ContentfulStatusCode } from "hono/utils/http-status";
import { ApiError, type Env } from "../foundation/index.ts";
import { findBuiltFolder } from "./built-folder.ts";
import { type Html, html } from "./html.ts";
import { pageHeaders } from "./layout.ts";

export interface WebApp {
  /** A file of the app by its name; every name has a hash of the content. */
  file(context: Context<Env>, name: string): Response;
  /** The service worker: the one file that keeps its name. */
  worker(context: Context<Env>): Response;
  document(context: Context<Env>, page: AppPage, status?: ContentfulStatusCode): Response;
}

export interface AppPage {
  session: AppSession;
  /** For browsers without JavaScript. */
  fallback: Html;
}

/** What the app has to know before its first request. */
export interface AppSession {
  userId: number;
  email: string;
  team: string;
  isAdmin: boolean;
  formToken: string;
  notice: string | null;
}

interface WebFile {
  type: string;
  bytes: Record<Encoding, Buffer>;
}

type Encoding = "identity" | "gzip" | "br";

/** Read when the first page is shown: commands load this folder too. */
export function openWebApp(): WebApp {
  let loaded: { files: Map<string, WebFile>; document: string } | undefined;
  const load = () => {
    loaded ??= readApp();
    return loaded;
  };
  const answer = (context: Context<Env>, name: string, caching: string): Response => {
    const file = load().files.get(name);
    if (!file) throw new ApiError("not_found", "There is no such file. Reload the page.");
    const encoding = chooseEncoding(context.req.header("accept-encoding") ?? "");
    return context.body(new Uint8Array(file.bytes[encoding]), 200, {
      "content-type": file.type,
      "cache-control": caching,
      "x-content-type-options": "nosniff",
      vary: "accept-encoding",
      ...(encoding !== "identity" && { "content-encoding": encoding }),
    });
  };
  return {
    file: (context, name) => answer(context, name, "public, max-age=31536000, immutable"),
    worker: (context) => answer(context, "push-worker.js", "no-cache"),
    document(context, { session, fallback }, status = 200) {
      const { markup } = html`${JSON.stringify(session)}`;
      // Functions, since `$` has a meaning in a replacement text.
      const filled = load()
        .document.replace("%session%", () => markup)
        .replace("%fallback%", () => fallback.markup);
      return context.html(filled, status, pageHeaders);
    },
  };
}

function chooseEncoding(accepted: string): Encoding {
  if (/\bbr\b(?!\s*;\s*q=0(?:\.0*)?\s*(?:,|$))/.test(accepted)) return "br";
  return /\bgzip\b(?!\s*;\s*q=0(?:\.0*)?\s*(?:,|$))/.test(accepted) ? "gzip" : "identity";
}

const types: Record<string, string> = {
  js: "text/javascript; charset=utf-8",
  css: "text/css; charset=utf-8",
};

function readApp(): { files: Map<string, WebFile>; document: string } {
  const folder = findBuiltFolder("web", "The web app");
  const names = readdirSync(folder).filter((name) => /\.(?:js|css)$/.test(name));
  const read = (name: string) => readFileSync(join(folder, name));
  const files = names.map((name) => {
    const bytes = { identity: read(name), gzip: read(`${name}.gz`), br: read(`${name}.br`) };
    return [name, { type: types[name.split(".").at(-1) ?? ""] ?? "application/octet-stream", bytes }] as const;
  });
  return { files: new Map(files), document: read("index.html").toString("utf8") };
}
