// Checks what a start needs: database, key, sandbox, git, model. A failed check says what to do.
import { existsSync } from "node:fs";
import { findProvider, ProviderError } from "@agentcli/models";
import { describeLimits } from "@agentcli/workspace";
import { describeUnset, type KmsSettings, type Settings } from "../../foundation/config/index.ts";
import { type Inspection, inspectDatabase } from "../../foundation/db/index.ts";
import { checkObjects } from "../../foundation/objects/index.ts";
import { describeStorage } from "../../foundation/storage/index.ts";
import { configuredKey, type KeyEncryption } from "../../foundation/vault/index.ts";
import { openAgentMachines, openMachines } from "../../machines/index.ts";
import { requireGit } from "../../repositories/git/index.ts";
import { readPrivateKey } from "../../repositories/scm/index.ts";
import { openSigningKey } from "../../repositories/signing/index.ts";
import { agentLimits, probeForAgents } from "../../runs/index.ts";
import { listServers } from "../../server-file.ts";
import { describeEnforcement } from "./enforcement.ts";
import type { Finding } from "./finding.ts";
import { findUnsafe } from "./unsafe.ts";

export async function examine(settings: Settings): Promise<Finding[]> {
  const database = await attempt("database", () => inspectDatabase(settings));
  const server = await attempt("server", () => examineServer(settings));
  return [
    server,
    ...examineVariables(settings, server),
    ...findUnsafe(settings).map((text): Finding => ({ subject: "settings", verdict: "wrong", text })),
    examineStorage(settings),
    await examineObjects(settings),
    "verdict" in database ? database : describeDatabase(database),
    await examineKey(settings, "verdict" in database ? null : database),
    examineSigningKey(settings),
    await examineSandbox(settings),
    await examineLimits(settings),
    await examineMachines(settings),
    await examineGit(),
    ...examineGithub(settings),
    examineModel(settings),
  ];
}

async function attempt<T>(subject: string, inspect: () => Promise<T>): Promise<T | Finding> {
  try {
    return await inspect();
  } catch (error) {
    return { subject, verdict: "wrong", text: (error as Error).message };
  }
}

async function examineServer({ dataDirectory }: Settings): Promise<Finding> {
  const running = listServers(dataDirectory).map(
    ({ url, pid, roles }) => `runs at ${url} (process ${pid}, ${roles.join(", ")})`,
  );
  return { subject: "server", verdict: "fine", text: running.join("; ") || "does not run" };
}

/** A server that runs has variables of its own, which this command cannot see. */
function examineVariables({ unsetVariables }: Settings, server: Finding): Finding[] {
  const isServing = server.text.startsWith("runs");
  return unsetVariables.map((unset) => ({
    subject: "variable",
    verdict: isServing ? "note" : "wrong",
    text: `${describeUnset(unset)} A server does not start from this environment${isServing ? "; the one that runs has its own" : ""}.`,
  }));
}

function examineStorage({ dataDirectory }: Settings): Finding {
  const { freeBytes, isFull } = describeStorage(dataDirectory);
  const free = `${Math.floor(freeBytes / 1024 ** 2)} MiB free in ${dataDirectory}`;
  if (!isFull) return { subject: "storage", verdict: "fine", text: free };
  return {
    subject: "storage",
    verdict: "wrong",
    text: `storage_full: ${free}. Free space there, or enlarge the disk.`,
  };
}

/** Writes to it, because a store that can only be read is of no use. */
async function examineObjects(settings: Settings): Promise<Finding> {
  const subject = "object store";
  if (settings.objectStore === null)
    return {
      subject,
      verdict: "fine",
      text: `none: everything is in ${settings.dataDirectory}, and agents stay with it`,
    };
  try {
    return { subject, verdict: "fine", text: await checkObjects(settings) };
  } catch (error) {
    return { subject, verdict: "wrong", text: `object_store_unavailable: ${(error as Error).message}` };
  }
}

function describeDatabase(found: Inspection): Finding {
  const subject = "database";
  if (found.kind === "none")
    return { subject, verdict: "fine", text: `will be created in ${found.where} by the first start` };
  const { version, pending } = found;
  const todo = pending.length > 0 ? `, pending migrations: ${pending.join(", ")}` : ", up to date";
  return { subject, verdict: "fine", text: `PostgreSQL ${version}${todo}` };
}

async function examineKey(settings: Settings, found: Inspection | null): Promise<Finding> {
  const subject = "key-encryption key";
  const stored = found?.kind === "there" ? found.key : null;
  const expected = stored?.fingerprint ?? null;
  const { kekFile, kms } = settings;
  try {
    const key = configuredKey(settings, stored?.authentication_key ?? null);
    const own = key?.fingerprint;
    if (kms !== null) return await examineServiceKey(kms, key, expected);
    if (own !== undefined && (expected === null || own === expected))
      return { subject, verdict: "fine", text: `${kekFile} (fingerprint ${own})` };
    if (expected === null)
      return { subject, verdict: "fine", text: `will be created in ${kekFile} by the first start` };
    const state = own === undefined ? "is missing" : `is a different key (fingerprint ${own})`;
    return {
      subject,
      verdict: "wrong",
      text: `${kekFile} ${state}; the database was encrypted with fingerprint ${expected}. Restore that key, or set PLATFORM_KEK_FILE to it.`,
    };
  } catch (error) {
    return { subject, verdict: "wrong", text: (error as Error).message };
  }
}

/** Asks the service. */
async function examineServiceKey(
  { key: name }: KmsSettings,
  key: KeyEncryption | null,
  expected: string | null,
): Promise<Finding> {
  const subject = "key-encryption key";
  if (expected === null)
    return { subject, verdict: "fine", text: `${name}: the first start will ask the service for it` };
  if (key === null || key.fingerprint !== expected) {
    const text = `${name} is another key; the database was encrypted with fingerprint ${expected}. Name that key in [kms], or leave [kms] out for a key file.`;
    return { subject, verdict: "wrong", text };
  }
  await key.authenticate("", "doctor");
  return { subject, verdict: "fine", text: `${key.description} (fingerprint ${key.fingerprint})` };
}

function examineSigningKey({ signingKey }: Settings): Finding {
  const subject = "signing key";
  const { path, isGiven } = signingKey;
  if (!isGiven && !existsSync(path))
    return { subject, verdict: "fine", text: `will be created in ${path} by the first start` };
  try {
    return { subject, verdict: "fine", text: `${path} (${openSigningKey(signingKey).fingerprint})` };
  } catch (error) {
    return { subject, verdict: "wrong", text: (error as Error).message };
  }
}

async function examineSandbox(settings: Settings): Promise<Finding> {
  const probe = await probeForAgents(settings);
  const subject = "sandbox";
  if (probe.kind === "unavailable")
    return { subject, verdict: "wrong", text: `${probe.reason} ${probe.remedy}`.trim() };
  const { backEnd, sharedUser } = probe;
  if (sharedUser === undefined)
    return { subject, verdict: "fine", text: `${backEnd.kind}, with a user of its own for each agent` };
  const text = `${backEnd.kind}; all agents run as the user of the server: ${sharedUser.replace(/\.$/, "")}.`;
  return { subject, verdict: process.geteuid?.() === 0 ? "note" : "fine", text };
}

async function examineLimits(settings: Settings): Promise<Finding> {
  const limits = agentLimits(settings);
  return describeEnforcement(limits, await describeLimits(limits));
}

async function examineMachines(settings: Settings): Promise<Finding> {
  const subject = "machines";
  try {
    const machines = openMachines(settings);
    const { provider, reason } = await openAgentMachines(settings, machines).choose();
    if (provider !== "host") {
      const { egress } = await (await machines.provider()).capabilities();
      const text = `${provider}: each agent has a machine of its own; ${egressTexts[egress]}`;
      return { subject, verdict: "fine", text };
    }
    const text = `host: agents work in sandboxes of this host, without machines of their own (${reason})`;
    return { subject, verdict: settings.machines.provider === "host" ? "fine" : "note", text };
  } catch (error) {
    return { subject, verdict: "wrong", text: (error as Error).message };
  }
}

const egressTexts = {
  transparent: "programs reach allowed hosts with or without the proxy variables (transparent)",
  "proxy-env": "programs reach allowed hosts by the proxy variables only (proxy-env)",
};

async function examineGit(): Promise<Finding> {
  const subject = "git";
  try {
    return { subject, verdict: "fine", text: await requireGit() };
  } catch (error) {
    return { subject, verdict: "wrong", text: (error as Error).message };
  }
}

/** Empty if not configured. Does not check the credentials with GitHub. */
function examineGithub({ sourceHosts: { github } }: Settings): Finding[] {
  const subject = "GitHub";
  if (github === null) return [];
  const { credentials, baseUrl } = github;
  if (credentials.kind === "token")
    return [{ subject, verdict: "fine", text: `${baseUrl} with ${credentials.variable}` }];
  try {
    readPrivateKey(credentials.privateKeyFile);
    return [{ subject, verdict: "fine", text: `${baseUrl} as app ${credentials.appId}` }];
  } catch (error) {
    return [{ subject, verdict: "wrong", text: (error as Error).message }];
  }
}

function knownProvider(id: string, models: Settings["models"], variables: Settings["variables"]) {
  try {
    return findProvider(id, models, variables);
  } catch (error) {
    if (error instanceof ProviderError) return error;
    throw error;
  }
}

function examineModel({ models, variables }: Settings): Finding {
  const { model, model_provider: id = "openai" } = models;
  const subject = "model";
  if (model === "practice" || id === "practice")
    return {
      subject,
      verdict: "note",
      text: "the practice model, which only follows plain instructions. Set model and a key to use a real one.",
    };
  const provider = knownProvider(id, models, variables);
  if (provider instanceof Error) return { subject, verdict: "wrong", text: provider.message };
  const variable = provider.env_key ?? (id === "openai" ? "AGENT_API_KEY" : null);
  if (variable === null || variables[variable]) return { subject, verdict: "fine", text: `${model} at ${id}` };
  return { subject, verdict: "wrong", text: `${model} at ${id} needs a key. Set ${variable}.` };
}
