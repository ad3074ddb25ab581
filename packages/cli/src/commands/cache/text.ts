// Build caches as text and as JSON.
import type { BuildCache } from "@agentcli/workspace";

export function describeCaches(caches: BuildCache[], label: string): string {
  const lines = caches.map(({ bytes, project }) => `${volume(bytes)}  ${project}\n`);
  return `${lines.join("")}${volume(total(caches))}  ${label}\n`;
}

export const toJson = (caches: BuildCache[]): string =>
  `${JSON.stringify({ caches: caches.map(({ project, directory, bytes, lastUsed }) => ({ project, directory, bytes, last_used: lastUsed.toISOString() })), bytes: total(caches) }, null, 2)}\n`;

const total = (caches: BuildCache[]): number => caches.reduce((sum, { bytes }) => sum + bytes, 0);

const volume = (bytes: number): string => `${(bytes / 1_000_000).toFixed(1)} MB`.padStart(12);
