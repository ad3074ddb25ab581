// Reading and writing the configuration. Its keys are those of config.toml, in snake case.
import { z } from "zod";
import { JsonValue, maybe } from "./maybe.ts";

export const ConfigLayerSource = z.discriminatedUnion("type", [
  z.object({ type: z.literal("packagedDefaults") }),
  z.object({ type: z.literal("system"), file: z.string() }),
  z.object({ type: z.literal("user"), file: z.string(), profile: maybe(z.string()) }),
  z.object({
    type: z.literal("project"),
    dotAgentcliFolder: z.string(),
    dotCodexFolder: z.string().describe("The same folder, for existing clients"),
  }),
  z.object({ type: z.literal("sessionFlags") }),
]);
export type ConfigLayerSource = z.infer<typeof ConfigLayerSource>;

export const ConfigLayerMetadata = z.object({ name: ConfigLayerSource, version: z.string() });
export type ConfigLayerMetadata = z.infer<typeof ConfigLayerMetadata>;

export const ConfigReadParams = z.object({ includeLayers: maybe(z.boolean()), cwd: maybe(z.string()) });
export const ConfigReadResponse = z.object({
  config: z.record(z.string(), JsonValue),
  origins: z.record(z.string(), ConfigLayerMetadata).describe("Key path to the layer its value comes from"),
  layers: maybe(z.array(ConfigLayerMetadata.extend({ config: JsonValue, disabledReason: maybe(z.string()) }))),
});

const ConfigEdit = z.object({
  keyPath: z.string(),
  value: JsonValue.describe("null removes the key"),
  mergeStrategy: z.enum(["replace", "upsert"]),
});
const target = { filePath: maybe(z.string()), expectedVersion: maybe(z.string()) };

export const ConfigValueWriteParams = ConfigEdit.extend(target);
export const ConfigBatchWriteParams = z.object({
  edits: z.array(ConfigEdit),
  ...target,
  reloadUserConfig: maybe(z.boolean()),
});
export const ConfigWriteResponse = z.object({
  status: z.enum(["ok", "okOverridden"]),
  version: z.string(),
  filePath: z.string(),
  overriddenMetadata: maybe(
    z.object({ message: z.string(), overridingLayer: ConfigLayerMetadata, effectiveValue: JsonValue }),
  ),
});

export const ConfigRequirementsReadResponse = z.object({
  requirements: maybe(z.record(z.string(), JsonValue)),
});
