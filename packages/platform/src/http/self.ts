// What a server says about itself, to anybody: health, readiness, metrics, its API.

import type { Metrics } from "../telemetry/index.ts";
import { openApiDocument } from "./openapi.ts";
import { referencePage } from "./reference-page.ts";
import type { Api } from "./route.ts";

export interface SelfOptions {
  metrics: Metrics;
  version: string;
  url: string;
  /** What stands in the way of serving, for people; null where nothing does. */
  obstacle(): Promise<string | null>;
}

/** Added last: the document is about the routes there are then. */
export function addSelfRoutes({ app, routes }: Api, { metrics, version, url, obstacle }: SelfOptions): void {
  const document = openApiDocument(routes, { version, url });
  const html = referencePage(routes, document);
  app.get("/healthz", (context) => context.json({ status: "ok" }));
  app.get("/readyz", async (context) => {
    const reason = await obstacle();
    return reason === null ? context.json({ status: "ready" }) : context.json({ status: "not ready", reason }, 503);
  });
  app.get("/metrics", async (context) =>
    context.body(await metrics.text(), 200, { "content-type": "text/plain; version=0.0.4; charset=utf-8" }),
  );
  app.get("/openapi.json", (context) => context.json(document));
  app.get("/docs", (context) =>
    context.html(html, 200, {
      "content-security-policy": "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'",
      "x-content-type-options": "nosniff",
      "referrer-policy": "same-origin",
    }),
  );
}
