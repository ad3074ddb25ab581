// What a start would find: database, key, sandbox, git, model. Each finding says what to do where something is wrong.
import { existsSync } from "node:fs";
import type { Settings } from "../config/index.ts";
import { type Inspection, inspectDatabase } from "../db/index.ts";
import { requireGit } from "../git/index.ts";
import { probeForAgents } from "../runs/index.ts";
import { readPrivateKey } from "../scm/index.ts";
import { findServer } from "../server-file.ts";
import { openSigningKey } from "../signing/index.ts";
import { readKeyFile } from "../vault/index.ts";

export interface Finding {
  subject: string;
  verdict: "fine" | "note" | "wrong";
  text: string;
}

export async function examine(settings: Settings): Promise<Finding[]> {
  const database = await tried("database", () => inspectDatabase(settings));
  return [
    examineServer(settings),
    "verdict" in database ? database : describeDatabase(database),
    examineKey(settings, "verdict" in database ? null : database),
    examineSigningKey(settings),
    await examineSandbox(settings),
    await examineGit(),
    ...examineGithub(settings),
    examineModel(settings),
  ];
}

async function tried<T>(subject: string, look: () => Promise<T>): Promise<T | Finding> {
  try {
    return await look();
  } catch (error) {
    return { subject, verdict: "wrong", text: (error as Error).message };
  }
}

function examineServer({ dataDirectory }: Settings): Finding {
  const running = findServer(dataDirectory);
  return {
    subject: "server",
    verdict: "fine",
    text: running ? `runs at ${running.url} (process ${running.pid})` : "does not run",
  };
}

function describeDatabase(found: Inspection): Finding {
  const subject = "database";
  if (found.kind === "none") return { subject, verdict: "fine", text: `made in ${found.where} by the first start` };
  const { version, pending } = found;
  const todo = pending.length > 0 ? `, to be migrated: ${pending.join(", ")}` : ", up to date";
  return { subject, verdict: "fine", text: `PostgreSQL ${version}${todo}` };
}

function examineKey({ kekFile }: Settings, found: Inspection | null): Finding {
  const subject = "key-encryption key";
  const expected = found?.kind === "there" ? found.fingerprint : null;
  try {
    const own = readKeyFile(kekFile)?.fingerprint;
    if (own !== undefined && (expected === null || own === expected))
      return { subject, verdict: "fine", text: `${kekFile} (fingerprint ${own})` };
    if (expected === null) return { subject, verdict: "fine", text: `made in ${kekFile} by the first start` };
    const state = own === undefined ? "is missing" : `is another one (fingerprint ${own})`;
    return {
      subject,
      verdict: "wrong",
      text: `${kekFile} ${state}; the database was sealed with fingerprint ${expected}. Restore that key, or name it with PLATFORM_KEK_FILE.`,
    };
  } catch (error) {
    return { subject, verdict: "wrong", text: (error as Error).message };
  }
}

function examineSigningKey({ signingKey }: Settings): Finding {
  const subject = "signing key";
  const { path, isGiven } = signingKey;
  if (!isGiven && !existsSync(path)) return { subject, verdict: "fine", text: `made in ${path} by the first start` };
  try {
    return { subject, verdict: "fine", text: `${path} (${openSigningKey(signingKey).fingerprint})` };
  } catch (error) {
    return { subject, verdict: "wrong", text: (error as Error).message };
  }
}

async function examineSandbox(settings: Settings): Promise<Finding> {
  const probe = await probeForAgents(settings);
  const subject = "sandbox";
  if (probe.kind === "available") return { subject, verdict: "fine", text: probe.backEnd.kind };
  return { subject, verdict: "wrong", text: `${probe.reason} ${probe.remedy}`.trim() };
}

async function examineGit(): Promise<Finding> {
  const subject = "git";
  try {
    return { subject, verdict: "fine", text: await requireGit() };
  } catch (error) {
    return { subject, verdict: "wrong", text: (error as Error).message };
  }
}

/** Nothing where it is not configured. Whether the credentials are good is for GitHub to say. */
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

const withoutKey = ["ollama", "lmstudio"];

function examineModel({ models, variables }: Settings): Finding {
  const { model, model_provider: id = "openai", model_providers: providers = {} } = models;
  const subject = "model";
  if (model === "practice" || id === "practice")
    return {
      subject,
      verdict: "note",
      text: "the practice model, which only follows plain instructions. Set model and a key for a real one.",
    };
  const provider = providers[id];
  if (!provider && !["openai", ...withoutKey].includes(id))
    return {
      subject,
      verdict: "wrong",
      text: `there is no provider ${id}. Add [model_providers.${id}] to the configuration.`,
    };
  const variable = provider?.env_key ?? (id === "openai" ? "AGENT_API_KEY" : null);
  if (variable === null || variables[variable]) return { subject, verdict: "fine", text: `${model} at ${id}` };
  return { subject, verdict: "wrong", text: `${model} at ${id} needs a key. Set ${variable}.` };
}
