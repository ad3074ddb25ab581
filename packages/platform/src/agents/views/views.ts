// Agents and runs as the API shows them.
import type { Agent, AgentListItem, Run, RunGit } from "@agentcli/protocol/api";
import type { Selectable } from "kysely";
import type { AgentTable, DataKey, RunTable } from "../../foundation/index.ts";
import {
  agentNameAad,
  errorAad,
  openEnvironment,
  openPrivateSettings,
  openUnsaved,
  type PrivateSettings,
  resultAad,
} from "../../runs/index.ts";

export type AgentRow = Selectable<AgentTable>;
export type RunRow = Selectable<RunTable>;

/** An agent's row, and whether it has an active run. */
export type ListedAgent = AgentRow & { busy: boolean };

export function listItemOf(row: ListedAgent, key: DataKey, publicUrl: string): AgentListItem {
  const { settings } = row;
  const { metadata } = privateSettingsOf(row, key);
  return {
    id: row.id,
    name: key.openText(row.name, agentNameAad(row.id)),
    status: row.archived_at ? "ARCHIVED" : row.busy ? "ACTIVE" : "IDLE",
    ...(settings.env && { env: settings.env }),
    ...(settings.repos.length > 0 && { repos: settings.repos }),
    ...(Object.keys(metadata).length > 0 && { metadata }),
    url: `${publicUrl}/agents/${row.id}`,
    createdAt: row.created_at.toISOString(),
    updatedAt: row.updated_at.toISOString(),
    ...(row.latest_run_id && { latestRunId: row.latest_run_id }),
  };
}

export function agentOf(row: ListedAgent, key: DataKey, publicUrl: string): Agent {
  const { settings } = row;
  const { customSubagents } = privateSettingsOf(row, key);
  return {
    ...listItemOf(row, key, publicUrl),
    workOnCurrentBranch: settings.workOnCurrentBranch,
    autoCreatePR: settings.autoCreatePR,
    skipReviewerRequest: settings.skipReviewerRequest,
    openAsPlatformGithubApp: settings.openAsApp,
    openAsCursorGithubApp: settings.openAsApp,
    ...(settings.fork && { forkedFrom: { agentId: settings.fork.agentId, runId: settings.fork.runId } }),
    ...(settings.recordRuns && { recordRuns: true }),
    ...(customSubagents.length > 0 && { customSubagents }),
  };
}

const privateSettingsOf = ({ id, private_settings }: ListedAgent, key: DataKey): PrivateSettings =>
  openPrivateSettings(id, key, private_settings);

/** The answer to the creation: a repeated request gets the same one, whatever happened meanwhile. */
export const agentAsCreated = (row: ListedAgent, runId: string): ListedAgent => ({
  ...row,
  busy: true,
  archived_at: null,
  latest_run_id: runId,
  updated_at: row.created_at,
});

export const runAsCreated = (row: RunRow): RunRow => ({
  ...row,
  status: "CREATING",
  updated_at: row.created_at,
  started_at: null,
  ended_at: null,
  result: null,
  error_code: null,
  error_message: null,
  unsaved_artifacts: null,
  machine_provider: null,
  environment: null,
});

export function runOf(row: RunRow, key: DataKey, git: RunGit | null): Run {
  const started = row.started_at ?? row.created_at;
  return {
    id: row.id,
    agentId: row.agent_id,
    status: row.status,
    createdAt: row.created_at.toISOString(),
    updatedAt: row.updated_at.toISOString(),
    ...(row.request_id && { requestId: row.request_id }),
    ...(row.model && row.model_provider && { model: { id: row.model, provider: row.model_provider } }),
    ...(row.machine_provider && { machine: { provider: row.machine_provider, reason: row.machine_reason ?? "" } }),
    ...(row.environment && { environment: openEnvironment(row.id, key, row.environment) }),
    ...(row.ended_at && { durationMs: Math.max(0, row.ended_at.getTime() - started.getTime()) }),
    ...(row.result && { result: key.openText(row.result, resultAad(row.id)) }),
    ...(row.error_message && {
      error: {
        message: key.openText(row.error_message, errorAad(row.id)),
        ...(row.error_code && { code: row.error_code }),
      },
    }),
    ...(git && { git }),
    ...(row.unsaved_artifacts && { unsavedArtifacts: openUnsaved(row.id, key, row.unsaved_artifacts) }),
  };
}
