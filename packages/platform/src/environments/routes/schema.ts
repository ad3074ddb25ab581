// The JSON Schema of environment.json, for editors and checks. It needs no key.
import { z } from "zod";
import type { Api } from "../../foundation/index.ts";

export const schemaPath = "/schemas/environment.schema.json";

export function serveSchema({ app }: Api, publicUrl: () => string): void {
  app.get(schemaPath, async (context) => {
    const { EnvironmentFile } = await import("@agentcli/protocol/environment-file");
    const schema = z.toJSONSchema(EnvironmentFile, { io: "input" });
    return context.json({ ...schema, $id: `${publicUrl()}${schemaPath}` }, 200, {
      "content-type": "application/schema+json",
      "cache-control": "public, max-age=3600",
    });
  });
}
