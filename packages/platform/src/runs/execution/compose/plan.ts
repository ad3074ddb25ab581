// The plan of a run, made before anything is opened: its model, its settings, and the secrets to redact.
import type { Scrub, Secret } from "@agentcli/engine";
import { type ChosenModel, effortOf, serviceSettings } from "@agentcli/host";
import type { Budget, TurnSettings } from "@agentcli/protocol";
import type { McpServer } from "@agentcli/protocol/api";
import type { BoundSecret } from "@agentcli/workspace";
import type { Settings } from "../../../foundation/index.ts";
import { type AgentSecret, secretsToRedact } from "../../../secrets/index.ts";
import type { AgentRecord, RunRequest } from "../request.ts";
import { boundOf, runtimeSecrets, secretsIn, secretsOfServer } from "../secrets.ts";
import { extendableScrub } from "./extendable-scrub.ts";
import { chooseModels, providerKeys } from "./model.ts";

export interface RunPlan {
  agent: AgentRecord;
  request: RunRequest;
  selectedModel: ChosenModel;
  /** Tokens. */
  contextWindow: number;
  /** MCP servers of the run's request, otherwise the agent's. */
  servers: McpServer[];
  /** Names of those that are not connected, because the run only proposes. */
  proposedServers: string[];
  /** Environment variables of commands. */
  variables: Record<string, string>;
  /** Those that commands have only a placeholder of. */
  boundSecrets: BoundSecret[];
  scrub: Scrub;
  /** From now on `scrub` removes this secret too, which the run got on its way. */
  recognize(secret: Secret): void;
}

export interface RunOrder {
  agent: AgentRecord;
  run: { request: RunRequest };
  secrets: AgentSecret[];
}

export function planRun({ agent, run: { request }, secrets }: RunOrder, settings: Settings): RunPlan {
  const selectedModel = chooseModels((request.model ?? agent.settings.model)?.id, settings);
  const servers = request.mcpServers ?? agent.private.mcpServers;
  const requested = { ...agent.private.envVars, ...request.envVars };
  const { scrub, add } = extendableScrub([
    ...selectedModel.secrets,
    ...providerKeys(settings),
    ...secretsIn(requested),
    ...runtimeSecrets(secrets),
    ...servers.flatMap(secretsOfServer),
  ]);
  return {
    agent,
    request,
    selectedModel,
    contextWindow: settings.models.model_context_window ?? selectedModel.facts.contextWindow,
    ...(agent.settings.effects === undefined
      ? { servers, proposedServers: [] }
      : { servers: [], proposedServers: servers.map(({ name }) => name) }),
    variables: {
      ...committerVariables(settings),
      ...Object.fromEntries(secrets.filter(({ isMinted }) => !isMinted).map(variableOf)),
      ...requested,
    },
    boundSecrets: secrets.flatMap(boundOf),
    scrub,
    recognize: (secret) => add(secretsToRedact([secret])),
  };
}

const variableOf = ({ name, value, placeholder = value }: AgentSecret): [string, string] => [name, placeholder];

/** An identity that the agent configures for git is not the committer: commits of the platform are those that get signed. */
const committerVariables = ({ committer: { name, email } }: Settings): Record<string, string> => ({
  GIT_COMMITTER_NAME: name,
  GIT_COMMITTER_EMAIL: email,
});

export const turnSettings = (
  { agent, request, selectedModel, contextWindow }: RunPlan,
  cwd: string,
  budget?: Budget,
): TurnSettings =>
  serviceSettings({
    model: selectedModel,
    effort: effortOf(request.model ?? agent.settings.model),
    cwd,
    shell: "/bin/bash",
    sandbox: request.mode === "plan" ? "read-only" : "workspace-write",
    budget,
    contextWindow,
  });
