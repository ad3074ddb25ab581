// Layers of a configuration in the words of the wire, each with a version that changes with its content.
import { basename, dirname } from "node:path";
import type { Layer, LoadedConfig, Origin } from "@agentcli/project";
import { fileVersion, versionOf as versionOfText } from "@agentcli/project/config-write";
import type { ConfigLayerMetadata, ConfigLayerSource } from "@agentcli/protocol/app-server";

export interface DescribedLayers {
  /** By dotted key; defaults have none. */
  origins: Record<string, ConfigLayerMetadata>;
  /** The highest first. */
  layers: (ConfigLayerMetadata & { config: Json; disabledReason?: string })[];
  metadataOf(origin: Origin): ConfigLayerMetadata;
}

export function describeLayers({ layers, origins }: LoadedConfig): DescribedLayers {
  const metadataOf = remembering((origin: Origin) => ({
    name: sourceOf(origin),
    version: versionOf(origin, layers),
  }));
  return {
    metadataOf,
    origins: Object.fromEntries(
      [...origins].filter(([, origin]) => isSet(origin)).map(([key, origin]) => [key, metadataOf(origin)]),
    ),
    layers: layers
      .filter(({ origin }) => isSet(origin))
      .reverse()
      .map((layer) => ({ ...metadataOf(layer.origin), ...contentOf(layer) })),
  };
}

/** Defaults have no origin: existing clients expect it so. */
const isSet = ({ kind }: Origin): boolean => kind !== "default";

type Json = ReturnType<typeof JSON.parse>;

/** Values that JSON cannot represent become text or null. */
export const asJson = (value: unknown): Json => JSON.parse(JSON.stringify(value ?? null));

const contentOf = (layer: Layer): { config: Json; disabledReason?: string } =>
  layer.state === "enabled" ? { config: asJson(layer.table) } : { config: {}, disabledReason: layer.reason };

function sourceOf(origin: Origin): ConfigLayerSource {
  switch (origin.kind) {
    case "default":
      return { type: "packagedDefaults" };
    case "system":
    case "requirement":
      return { type: "system", file: origin.path };
    case "user":
      return { type: "user", file: origin.path };
    case "profile":
      return { type: "user", file: origin.path, profile: basename(origin.path, ".config.toml") };
    case "project":
      return { type: "project", dotAgentcliFolder: dirname(origin.path), dotCodexFolder: dirname(origin.path) };
    case "override":
    case "flag":
      return { type: "sessionFlags" };
  }
}

function versionOf(origin: Origin, layers: Layer[]): string {
  if ("path" in origin) return fileVersion(origin.path);
  const setLayers = layers.flatMap((layer) =>
    layer.state === "enabled" && layer.origin.kind === origin.kind ? [layer.table] : [],
  );
  return versionOfText(JSON.stringify(setLayers));
}

/** Once for each: a version is made from the whole file. */
function remembering<Key, Value>(find: (key: Key) => Value): (key: Key) => Value {
  const found = new Map<string, Value>();
  return (key) => {
    const name = JSON.stringify(key);
    const value = found.get(name) ?? find(key);
    found.set(name, value);
    return value;
  };
}
