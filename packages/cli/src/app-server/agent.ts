// The agent as the app server uses it: runs, configuration, servers and credentials of this command line.
import type { Agent, Credential } from "@agentcli/app-server";
import { loadConfig } from "@agentcli/project";
import type { Invocation } from "../command.ts";
import { configRequest, existingDirectory, requirementFiles } from "../config/request.ts";
import { configOptions, runOptions } from "../config/run-options.ts";
import { settle } from "../config/settings.ts";
import { removeAuthFile, saveKey } from "../credentials/auth-file.ts";
import type { Credential as FoundCredential } from "../credentials/credential.ts";
import { currentCredential } from "../credentials/current.ts";
import { checkedKey } from "../credentials/key-input.ts";
import { readImages } from "../exec/images.ts";
import { openRun } from "../exec/run.ts";
import { hooksIn } from "../hooks/listed.ts";
import { authStatus } from "../mcp/auth-status.ts";
import { defaultLoginTimeoutMs, logInTo } from "../mcp/login.ts";
import { startServers } from "../mcp/source.ts";
import type { Program } from "../program.ts";
import { assign, maxBytesOfFile } from "../review/assign.ts";
import { collectChange } from "../review/collect.ts";
import { composeWorkspace } from "../sandbox/workspace.ts";
import { knownSecrets } from "../secrets.ts";
import { openThreadRecordings } from "./recordings.ts";

export const openAgent = (invocation: Invocation, program: Program): Agent => ({
  runs: runs(invocation, program),
  configuration: configuration(invocation, program),
  servers: {
    start: (config, cwd) => startServers(config, cwd, program),
    authStatus: (name, server) => authStatus(name, server, program.environment),
    logIn: ({ timeoutMs = defaultLoginTimeoutMs, ...login }, signal) =>
      logInTo({ ...login, limitMs: timeoutMs, program }, signal),
  },
  credentials: {
    current: async (config) => credentialOf(await currentCredential(config, program)),
    save: (key) => saveKey(program.environment.agentHome, checkedKey(key)),
    remove: () => void removeAuthFile(program.environment.agentHome),
    secrets: () => knownSecrets(program.environment),
  },
  input: {
    readImages,
    // Loaded only when asked for: the checker of schemas is larger than the rest of the program.
    openOutputSchema: async (schema, name) => (await import("../output-schema/load.ts")).openOutputSchema(schema, name),
    async openReview(target, run) {
      if (target.kind === "custom") return { assignment: assign(null, target.instructions, run), nothing: null };
      const limits = { directory: run.settings.cwd, maxBytes: maxBytesOfFile(run) };
      const change = await collectChange(target, { ...limits, program, onProgress: () => {} });
      return { assignment: assign(change, "", run), nothing: change.files.length === 0 ? change.nothing : null };
    },
  },
});

function runs(invocation: Invocation, program: Program): Agent["runs"] {
  const directory = invocation.text("record");
  const recordings = directory === undefined ? null : openThreadRecordings(directory, program.environment.cwd);
  return {
    options: () => ({ ...runOptions(invocation), recordFile: undefined }),
    async open(options, reporting, context) {
      const reported = { ...program, ...reporting };
      const tape = await recordings?.tape(options, reported);
      return openRun(options, reported, { ...context, ...(tape && { tape }) });
    },
    openWorkspace: async (settings, config) => (await composeWorkspace(settings, config, program)).workspace,
  };
}

function configuration(invocation: Invocation, { environment }: Program): Agent["configuration"] {
  const options = () => configOptions(invocation);
  return {
    async load(directory) {
      const cwd = existingDirectory(directory ?? options().directory ?? ".", environment.cwd);
      return { cwd, options: options(), loaded: await loadConfig(configRequest(options(), cwd, environment)) };
    },
    settle: ({ cwd, options }) => settle({ ...options, directory: cwd }, environment, null),
    requirementFiles: () => requirementFiles(environment),
    hooks: ({ cwd, loaded }) => hooksIn(cwd, loaded, environment),
  };
}

function credentialOf(credential: FoundCredential): Credential {
  switch (credential.source) {
    case "env_key":
    case "AGENT_API_KEY":
    case "saved-key":
    case "workload-identity":
      return { kind: "key" };
    case "saved-account":
      return { kind: "account", idToken: credential.tokens.id_token };
    case "none":
      return { kind: "none" };
  }
}
