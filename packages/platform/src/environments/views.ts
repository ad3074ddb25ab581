// Environments, their versions and builds as the API shows them.
import type { Build, Environment, EnvironmentDetail, EnvironmentVersion } from "@agentcli/protocol/api";
import type { Selectable } from "kysely";
import type { DataKey, EnvironmentBuildTable } from "../foundation/index.ts";
import { configAad, type EnvironmentRow, type VersionRow } from "./store.ts";

export type BuildRow = Selectable<EnvironmentBuildTable>;

export const environmentOf = (row: EnvironmentRow): Environment => ({
  id: row.id,
  name: row.name,
  owner: row.user_id === null ? "team" : "personal",
  repos: row.repos,
  createdAt: row.created_at.toISOString(),
  updatedAt: row.updated_at.toISOString(),
});

export const detailOf = (row: EnvironmentRow, version: VersionRow, key: DataKey): EnvironmentDetail => ({
  ...environmentOf(row),
  environmentJson: key.openText(version.config, configAad(version.id)),
  versionId: version.id,
  buildIntervalHours: row.build_interval_hours,
  updateStaleBuilds: row.update_stale_builds,
  stalenessThresholdHours: row.staleness_hours,
  ...(row.repo_file !== null && { repoFile: row.repo_file as { url: string; path: string } }),
});

export const versionOf = (row: VersionRow, { version_id }: EnvironmentRow, key: DataKey): EnvironmentVersion => ({
  id: row.id,
  createdAt: row.created_at.toISOString(),
  kind: row.kind,
  title: row.title,
  description: row.description,
  source: row.source,
  current: row.id === version_id,
  environmentJson: key.openText(row.config, configAad(row.id)),
});

export const buildOf = (row: BuildRow): Build => ({
  id: row.id,
  environmentId: row.environment_id,
  status: row.status,
  trigger: row.trigger,
  draft: row.draft,
  ...(row.failure_type && {
    failure: { type: row.failure_type, ...(row.failure_code && { code: row.failure_code }) },
  }),
  ...(row.commits.length > 0 && { commits: row.commits }),
  createdAt: row.created_at.toISOString(),
  updatedAt: row.updated_at.toISOString(),
  ...(row.completed_at && { completedAt: row.completed_at.toISOString() }),
  ...(row.discarded_at && { discardedAt: row.discarded_at.toISOString() }),
});
