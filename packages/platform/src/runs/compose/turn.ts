// What is known of a run before anything is opened: its model, its settings, and what must never be seen.
import { type Scrub, type Secret, scrubber } from "@agentcli/engine";
import type { Budget, TurnSettings } from "@agentcli/protocol";
import type { McpServer } from "@agentcli/protocol/api";
import type { Settings } from "../../config/index.ts";
import type { KnownAgent, RunRequest } from "../request.ts";
import { type ChosenModel, chooseModel } from "./model.ts";
import { secretsIn } from "./secrets.ts";

export interface Intent {
  agent: KnownAgent;
  request: RunRequest;
  chosen: ChosenModel;
  /** Tokens. */
  contextWindow: number;
  /** Of this run: given with it, or the agent's. */
  servers: McpServer[];
  /** Variables that commands are given. */
  variables: Record<string, string>;
  scrub: Scrub;
}

export function intentOf(agent: KnownAgent, request: RunRequest, settings: Settings): Intent {
  const chosen = chooseModel((request.model ?? agent.settings.model)?.id, settings);
  const servers = request.mcpServers ?? agent.private.mcpServers;
  const variables = { ...agent.private.envVars, ...request.envVars };
  return {
    agent,
    request,
    chosen,
    contextWindow: settings.models.model_context_window ?? chosen.facts.contextWindow,
    servers,
    variables,
    scrub: scrubber([...chosen.secrets, ...secretsIn(variables), ...servers.flatMap(secretsOfServer)]),
  };
}

export function turnSettings(
  { agent, request, chosen, contextWindow }: Intent,
  cwd: string,
  budget?: Budget,
): TurnSettings {
  const effort = parameter(request.model ?? agent.settings.model, "reasoning_effort");
  return {
    model: chosen.id,
    provider: chosen.provider,
    ...(effort && { effort }),
    cwd,
    shell: "/bin/bash",
    sandbox: request.mode === "plan" ? "read-only" : "workspace-write",
    approval: "never",
    ...(budget && { budget }),
    compactAt: Math.floor(contextWindow * 0.9),
  };
}

export const parameter = (model: RunRequest["model"], id: string): string | undefined =>
  model?.params?.find((param) => param.id === id)?.value;

/** Other headers, such as those that name a format, have values that stand in many texts. */
const isSecretHeader = /auth|token|key|secret|cookie|pass|session|credential/i;

function secretsOfServer(server: McpServer): Secret[] {
  if ("command" in server) return secretsIn(server.env ?? {});
  const headers = Object.entries(server.headers ?? {}).filter(([name]) => isSecretHeader.test(name));
  return headers.flatMap(([name, value]) =>
    // Also without the word in front, as in `Bearer …`.
    [value, ...value.split(/\s+/).slice(1)].map((part) => ({ name: `${server.name}.${name}`, value: part })),
  );
}
