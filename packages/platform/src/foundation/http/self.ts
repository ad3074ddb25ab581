// Routes about the server itself: health, readiness, API description and metrics.

import { once } from "../once.ts";
import type { Metrics } from "../telemetry/index.ts";
import { checkMetricsReader, type MetricsAccess } from "./metrics-access.ts";
import { openApiDocument } from "./openapi.ts";
import { referencePage } from "./reference-page.ts";
import type { AnyRoute, Api } from "./route.ts";

export interface SelfOptions {
  metrics: Metrics;
  metricsAccess: MetricsAccess;
  version: string;
  url: string;
  /** The reason why it cannot serve, for people; null where it can. */
  obstacle(): Promise<string | null>;
}

/** Added last: the document describes the routes added before. */
export function addSelfRoutes({ app, routes }: Api, options: SelfOptions): void {
  const { metrics, metricsAccess, version, url, obstacle } = options;
  const description = describeOnce(() => openApiDocument(routes, { version, url }), routes);
  app.get("/healthz", (context) => context.json({ status: "ok" }));
  app.get("/readyz", async (context) => {
    const reason = await obstacle();
    if (reason === null) return context.json({ status: "ready" });
    return context.json({ status: "not ready", reason }, 503, { "retry-after": "1" });
  });
  app.get("/metrics", async (context) => {
    const { socket, headers } = context.env.incoming;
    checkMetricsReader(metricsAccess, { address: socket.remoteAddress, headers });
    return context.body(await metrics.text(), 200, { "content-type": "text/plain; version=0.0.4; charset=utf-8" });
  });
  app.get("/openapi.json", async (context) =>
    context.body((await description()).json, 200, { "content-type": "application/json" }),
  );
  app.get("/docs/api", async (context) =>
    context.html((await description()).html, 200, {
      "content-security-policy": "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'",
      "x-content-type-options": "nosniff",
      "referrer-policy": "same-origin",
    }),
  );
}

interface Description {
  json: string;
  html: string;
}

/** Made for the first reader, and kept as text: at the start it took 100 ms and 45 MB, for what most servers are never asked. */
function describeOnce(
  makeDocument: () => Promise<Record<string, unknown>>,
  routes: readonly AnyRoute[],
): () => Promise<Description> {
  return once(async () => {
    const document = await makeDocument();
    return { json: JSON.stringify(document), html: referencePage(routes, document) };
  });
}
