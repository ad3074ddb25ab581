// Settings of a server: flags over environment over file over defaults, each with its origin.
import { existsSync } from "node:fs";
import { join, resolve } from "node:path";
import { defaults } from "@agentcli/project";
import { type PlatformConfig, PlatformRole } from "@agentcli/protocol";
import { readCloudRoles, variablesOfCloudRoles } from "./cloud-roles.ts";
import { keys } from "./keys.ts";
import { readKms, variablesOfKms } from "./kms.ts";
import { environmentLayer, fileLayer, flagLayer, type Layer, setAt, valueAt } from "./layers.ts";
import { readObjectStore, variablesOfObjectStore } from "./object-store.ts";
import { readOidc } from "./oidc.ts";
import { rateLimitDefaults, readRateLimits } from "./rate-limits.ts";
import { readRetention, retentionDefaults } from "./retention.ts";
import { SettingError } from "./setting-error.ts";
import type { ModelSettings, Settings } from "./settings.ts";
import { readSourceHosts } from "./source-hosts.ts";
import { findUnset } from "./unset-variables.ts";

export interface Sources {
  /** By name without dashes: data, config, listen, role, tls-cert, tls-key. */
  flags: Partial<Record<string, string>>;
  variables: NodeJS.ProcessEnv;
  userHome: string;
  cwd: string;
  programDirectory: string;
}

export interface Loaded {
  settings: Settings;
  entries: Entry[];
}

/** One setting as doctor shows it. */
export interface Entry {
  name: string;
  value: unknown;
  origin: string;
}

export function loadSettings(sources: Sources): Loaded {
  const { flags, variables, cwd } = sources;
  const data = dataDirectory(sources);
  const file = configFile(sources, data.value as string);
  const layers = [...(file ? [fileLayer(file)] : []), environmentLayer(variables, cwd), flagLayer(flags, cwd)];
  const config = merge(layers);
  const settings = settingsOf(config, data.value as string, sources);
  return { settings, entries: [data, ...entriesOf(layers, config, settings)] };
}

function dataDirectory({ flags, variables, userHome, cwd }: Sources): Entry {
  if (flags.data) return { name: "data", value: resolve(cwd, flags.data), origin: "--data" };
  if (variables.PLATFORM_DATA)
    return { name: "data", value: resolve(cwd, variables.PLATFORM_DATA), origin: "PLATFORM_DATA" };
  return { name: "data", value: join(userHome, ".platform"), origin: "default" };
}

/** A file that was named must be there; the usual one may be. */
function configFile({ flags, variables, cwd }: Sources, data: string): string | null {
  const named = flags.config ?? variables.PLATFORM_CONFIG;
  if (named) return resolve(cwd, named);
  const usual = join(data, "config.toml");
  return existsSync(usual) ? usual : null;
}

/** Later layers win, key by key. */
function merge(layers: Layer[]): PlatformConfig {
  const merged: Record<string, unknown> = {};
  for (const { config } of layers)
    for (const { path } of keys) {
      const value = valueAt(config, path);
      if (value !== undefined) setAt(merged, path, value);
    }
  return merged;
}

function settingsOf(config: PlatformConfig, data: string, sources: Sources): Settings {
  const { variables, programDirectory } = sources;
  return {
    dataDirectory: data,
    listen: readAddress(config.listen ?? "127.0.0.1:7420"),
    publicUrl: config.public_url?.replace(/\/+$/, "") ?? null,
    internalUrl: readInternalUrl(config.internal_url),
    tls: readTls(config),
    roles: config.roles ?? [...PlatformRole.options],
    databaseUrl: config.database_url ?? null,
    databaseConnections: config.database_connections ?? 20,
    queryTimeoutMs: (config.query_timeout_seconds ?? 10) * 1_000,
    configFile: configFile(sources, data),
    kekFile: config.kek_file ?? join(data, "kek"),
    kms: config.kms === undefined ? null : readKms(config.kms),
    cloudRoles: readCloudRoles(config.cloud_roles),
    signingKey: {
      path: config.signing_key_file ?? join(data, "signing-key"),
      isGiven: config.signing_key_file !== undefined,
    },
    committer: {
      name: config.committer?.name ?? "platform",
      email: config.committer?.email ?? "agent@platform.invalid",
    },
    objectStore: readObjectStore(config.object_store, sources.cwd),
    sourceHosts: readSourceHosts(config),
    botName: config.bot_name ?? "platform",
    oidc: config.oidc === undefined ? null : readOidc(config.oidc),
    leaseMs: (config.lease_seconds ?? 10) * 1_000,
    stopTimeoutMs: (config.stop_timeout_seconds ?? 20) * 1_000,
    streamRetentionSeconds: config.stream_retention_seconds ?? 86_400,
    retention: readRetention(config.retention),
    workers: {
      silenceMs: (config.workers?.silence_seconds ?? 60) * 1_000,
      waitSeconds: config.workers?.wait_seconds ?? 86_400,
    },
    concurrentRuns: config.concurrent_runs ?? 50,
    allowPrivate: config.network?.allow_private ?? [],
    readableDirectories: config.sandbox?.readable ?? [],
    machines: {
      provider: config.machines?.provider ?? "host",
      dockerSocket: config.machines?.docker_socket ?? "/var/run/docker.sock",
      diskBudget: config.machines?.disk_budget ?? "off",
      cpus: config.machines?.cpus ?? null,
      idleMs: (config.machines?.idle_seconds ?? 60) * 1_000,
    },
    rateLimits: readRateLimits(config.rate_limits),
    metricsToken: (config.metrics?.token_env && variables[config.metrics.token_env]) || null,
    models: modelSettings(config, variables),
    otel: config.otel,
    variables,
    unsetVariables: findUnset(namedVariables(config), variables),
    programDirectory,
  };
}

/** Keys of models are not among them: a model without its key says so itself, and others still answer. */
function namedVariables(config: PlatformConfig) {
  const { metrics, oidc, source_hosts: { github } = {}, object_store, kms, cloud_roles } = config;
  return [
    ...variablesOfObjectStore(object_store),
    ...variablesOfKms(kms),
    ...variablesOfCloudRoles(cloud_roles),
    { setting: "metrics.token_env", variable: metrics?.token_env, remedy: "Put the token there." },
    { setting: "oidc.client_secret_env", variable: oidc?.client_secret_env, remedy: "Put the secret there." },
    { setting: "source_hosts.github.token_env", variable: github?.token_env, remedy: "Put the token there." },
    {
      setting: "source_hosts.github.client_secret_env",
      variable: github?.client_secret_env,
      remedy: "Set it, or remove client_id and client_secret_env.",
    },
  ];
}

/** The practice model only if nothing at all is configured. */
function modelSettings(config: PlatformConfig, { AGENT_API_KEY }: NodeJS.ProcessEnv): ModelSettings {
  const { openai_base_url, model_provider, model_providers, models, model_fallback } = config;
  const { model_context_window, prices, compatible_folders } = config;
  const isListed = Object.keys(model_providers ?? {}).length > 0 || (models ?? []).length > 0;
  const isConfigured = Boolean(AGENT_API_KEY || model_provider || openai_base_url || isListed);
  const { limits, budget, model = isConfigured ? defaults.model : "practice" } = config;
  const providers = { openai_base_url, model_provider, model_providers };
  const catalogue = { models, model_fallback, model_context_window, prices };
  return { model, ...providers, ...catalogue, compatible_folders, limits, budget };
}

function readAddress(text: string): Settings["listen"] {
  const [, bracketed, plain, digits] = /^(?:\[([^\]]+)\]|([^:]+)):(\d+)$/.exec(text) ?? [];
  const host = bracketed ?? plain;
  const port = Number(digits);
  if (host !== undefined && port <= 65_535) return { host, port };
  throw new SettingError(`listen: "${text}" is not HOST:PORT, such as 127.0.0.1:7420 or [::1]:7420.`);
}

function readInternalUrl(text: string | undefined): string | null {
  if (text === undefined) return null;
  const url = URL.canParse(text) ? new URL(text) : null;
  if (url && /^https?:$/.test(url.protocol) && url.pathname === "/") return url.origin;
  throw new SettingError(`internal_url: "${text}" is not the address of a server, such as http://10.0.0.5:7420.`);
}

function readTls({ tls_cert: certificateFile, tls_key: keyFile }: PlatformConfig): Settings["tls"] {
  if (certificateFile !== undefined && keyFile !== undefined) return { certificateFile, keyFile };
  if (certificateFile === undefined && keyFile === undefined) return null;
  throw new SettingError("tls_cert and tls_key belong together. Set both, or neither.");
}

function entriesOf(layers: Layer[], config: PlatformConfig, settings: Settings): Entry[] {
  return keys.flatMap(({ name, path }) => {
    const origin = layers.findLast(({ origins }) => origins.has(name))?.origins.get(name);
    const value = valueAt(config, path);
    if (origin !== undefined) return [{ name, value: withoutSecrets(name, value), origin }];
    const standard = defaultOf(name, settings);
    return standard === undefined ? [] : [{ name, value: standard, origin: "default" }];
  });
}

/** As the key would be written, for those that have a default. */
function defaultOf(name: string, settings: Settings): unknown {
  const defaults: Record<string, unknown> = {
    listen: `${settings.listen.host}:${settings.listen.port}`,
    roles: settings.roles,
    database_url: "embedded",
    database_connections: settings.databaseConnections,
    query_timeout_seconds: settings.queryTimeoutMs / 1_000,
    kek_file: settings.kekFile,
    signing_key_file: settings.signingKey.path,
    "committer.name": settings.committer.name,
    "committer.email": settings.committer.email,
    lease_seconds: settings.leaseMs / 1_000,
    stop_timeout_seconds: settings.stopTimeoutMs / 1_000,
    stream_retention_seconds: settings.streamRetentionSeconds,
    "workers.silence_seconds": settings.workers.silenceMs / 1_000,
    "workers.wait_seconds": settings.workers.waitSeconds,
    concurrent_runs: settings.concurrentRuns,
    model: settings.models.model,
    ...rateLimitDefaults(settings.rateLimits),
    ...retentionDefaults(settings.retention),
  };
  return defaults[name];
}

function withoutSecrets(name: string, value: unknown): unknown {
  if (name === "database_url") return String(value).replace(/(:\/\/[^:/@]*):[^@]*@/, "$1:***@");
  if (name !== "model_providers") return value;
  return JSON.parse(JSON.stringify(value, (key, inner) => (key === "http_headers" ? masked(inner) : inner)));
}

const masked = (headers: Record<string, string>): Record<string, string> =>
  Object.fromEntries(Object.keys(headers).map((name) => [name, "***"]));
