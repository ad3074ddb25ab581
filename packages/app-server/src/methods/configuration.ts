// config/*: what is configured and where each value comes from; writes go to the user's own file, checked before.
import { join } from "node:path";
import { dottedKey, type LoadedConfig, type Requirements, readRequirements, valueAt } from "@agentcli/project";
import { type ConfigEdit, type WriteRefusal, writeConfig } from "@agentcli/project/config-write";
import type { ResultOf } from "@agentcli/protocol/app-server";
import { type Host, invalidRequest, type OpenPart } from "../method.ts";
import { refusing } from "../refusing.ts";
import { asJson, describeLayers } from "./config-layers.ts";
import { absolute } from "./paths.ts";

export const openConfiguration: OpenPart = (host) => ({
  methods: {
    "config/read": ({ cwd, includeLayers }) =>
      refusing(async () => {
        const { loaded } = await host.agent.configuration.load(cwd ?? null);
        const { origins, layers } = describeLayers(loaded);
        return { config: asJson(loaded.config), origins, ...(includeLayers && { layers }) };
      }),
    "config/value/write": ({ filePath, expectedVersion, ...edit }) =>
      refusing(() => write({ edits: [edit], filePath, expectedVersion }, host)),
    "config/batchWrite": (params) => refusing(() => write(params, host)),
    "configRequirements/read": () => refusing(async () => ({ requirements: await allowedHere(host) })),
  },
  close: async () => {},
});

interface Write {
  edits: { keyPath: string; value: unknown; mergeStrategy: ConfigEdit["merge"] }[];
  filePath?: string | null;
  expectedVersion?: string | null;
}

async function write({ edits, filePath, expectedVersion }: Write, host: Host): Promise<ResultOf<"config/value/write">> {
  const path = join(host.program.environment.agentHome, "config.toml");
  if (filePath != null && absolute(filePath) !== path) throw readOnly(filePath, path);
  const written = await writeConfig({
    path,
    edits: edits.map(({ keyPath, value, mergeStrategy }) => ({ key: keyPath, value, merge: mergeStrategy })),
    expectedVersion: expectedVersion ?? undefined,
    requirements: await requirementsOf(host),
  });
  if (written.kind === "refused") throw refusal(written.reason, written.message);
  const overridden = await overriddenHere(written.paths, path, host);
  const answer = { version: written.version, filePath: path };
  return overridden
    ? { status: "okOverridden", ...answer, overriddenMetadata: overridden }
    : { status: "ok", ...answer };
}

const wireReasons: Record<WriteRefusal, string> = {
  "version-conflict": "configVersionConflict",
  invalid: "configValidationError",
  "unknown-key": "configSchemaUnknownKey",
  "not-allowed": "configRequirementReadonly",
};

const refusal = (reason: WriteRefusal, message: string) =>
  invalidRequest(message, { config_write_error_code: wireReasons[reason] });

const readOnly = (filePath: string, path: string) =>
  invalidRequest(`${filePath} is not written; only ${path} is. Leave filePath out.`, {
    config_write_error_code: "configLayerReadonly",
  });

/** Without the rest of the configuration: a broken one can be fixed by writing. */
const requirementsOf = ({ agent }: Host): Promise<Requirements> =>
  readRequirements(agent.configuration.requirementFiles());

/** Where other layers cannot be read, no override is reported; reading the configuration reports the error. */
async function overriddenHere(paths: string[][], file: string, host: Host) {
  const loaded = await host.agent.configuration.load(null).then(
    (configured) => configured.loaded,
    () => null,
  );
  return loaded ? findOverridden(paths, file, loaded) : undefined;
}

/** The first of the written values that a higher layer hides. */
function findOverridden(paths: string[][], file: string, loaded: LoadedConfig) {
  const own = loaded.layers.find(({ origin }) => origin.kind === "user" && origin.path === file);
  const { metadataOf } = describeLayers(loaded);
  for (const path of paths) {
    const written = own?.state === "enabled" ? valueAt(own.table, path) : undefined;
    const effective = valueAt(loaded.config, path);
    const key = dottedKey(path);
    const origin = loaded.origins.get(key);
    const isHidden = origin && origin.kind !== "default" && origin.kind !== "user";
    if (!isHidden || JSON.stringify(written) === JSON.stringify(effective)) continue;
    const message = `${key} is written, but another layer has ${JSON.stringify(effective)}, and that counts.`;
    return { message, overridingLayer: metadataOf(origin), effectiveValue: asJson(effective) };
  }
  return undefined;
}

/** Null without requirements of an administrator. */
async function allowedHere(host: Host): Promise<ResultOf<"configRequirements/read">["requirements"]> {
  const { rules, managedHooksOnly } = await requirementsOf(host);
  if (rules.length === 0 && !managedHooksOnly) return null;
  const allowedFor = (name: string) => rules.find(({ key }) => dottedKey(key) === name)?.allowed;
  const features = rules.flatMap(({ key: [table, feature = ""], allowed }) =>
    table === "features" ? [[feature, allowed[0]]] : [],
  );
  return asJson({
    allowedSandboxModes: allowedFor("sandbox_mode"),
    allowedApprovalPolicies: allowedFor("approval_policy"),
    featureRequirements: features.length > 0 ? Object.fromEntries(features) : undefined,
    allowManagedHooksOnly: managedHooksOnly || undefined,
  });
}
