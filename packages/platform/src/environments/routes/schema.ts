// The JSON Schema of environment.json, for editors and checks. It needs no key.
import { EnvironmentFile } from "@agentcli/protocol/environment-file";
import { z } from "zod";
import type { Api } from "../../foundation/index.ts";

export const schemaPath = "/schemas/environment.schema.json";

export function serveSchema({ app }: Api, publicUrl: () => string): void {
  const schema = z.toJSONSchema(EnvironmentFile, { io: "input" });
  app.get(schemaPath, (context) =>
    context.json({ ...schema, $id: `${publicUrl()}${schemaPath}` }, 200, {
      "content-type": "application/schema+json",
      "cache-control": "public, max-age=3600",
    }),
  );
}
