// `GET /v1/environments/{environmentId}/builds/{buildId}/diff`: packages and files of two builds, compared on their disks.
import type { BuildDiff } from "@agentcli/protocol/api";
import { type Api, ApiError, openSlotsPerOwner, schema } from "../../foundation/index.ts";
import type { Machines } from "../../machines/index.ts";
import { findBuild } from "../builds/store.ts";
import { compareDisks } from "../compare-disks.ts";
import type { EnvironmentHost } from "../host.ts";
import { diskOf } from "../operator.ts";
import type { BuildRow } from "../views.ts";
import { oneBuild } from "./builds.ts";
import { tag } from "./environments.ts";

/** Two machines are started for it, one after the other. */
const limitMs = 180_000;

export function addBuildDiff(api: Api, { platform: { db }, access }: EnvironmentHost, machines: Machines | null): void {
  const slots = openSlotsPerOwner(1);
  api.route(
    {
      method: "get",
      path: "/v1/environments/{environmentId}/builds/{buildId}/diff",
      summary: "Compare the disks of two builds: packages, files and their sizes",
      tag,
      scope: "agents:read",
      rateLimit: { requests: 20, seconds: 60 },
      params: oneBuild,
      query: schema("environments", "BuildDiffQuery"),
      answer: { status: 200, schema: schema("environments", "BuildDiff"), description: "What differs" },
      problems: ["environment_not_found", "build_not_found", "build_not_ready", "unavailable"],
    },
    async ({ params, query, principal }) => {
      const { id } = await access.find(principal, params.environmentId, "read");
      const [before, after] = [await findBuild(db, id, query.from), await findBuild(db, id, params.buildId)];
      const layers: [string[], string[]] = [diskOf(before), diskOf(after)];
      const signal = AbortSignal.timeout(limitMs);
      const here = machinesWith(machines, layers);
      return slots.run(principal.teamId, () => compare(here, { before, after, layers, signal }), signal);
    },
  );
}

/** Throws ApiError. */
function machinesWith(machines: Machines | null, layers: string[][]): Machines {
  if (machines?.holds(layers.flat())) return machines;
  throw new ApiError(
    "unavailable",
    "The disks of these builds are not on this server. On the one that built them, run: platform env diff BUILD BUILD",
  );
}

interface Comparison {
  before: BuildRow;
  after: BuildRow;
  layers: [string[], string[]];
  signal: AbortSignal;
}

const maxShown = 5_000;

async function compare(machines: Machines, { before, after, layers, signal }: Comparison): Promise<BuildDiff> {
  const found = await compareDisks(machines, { layers, signal }).catch((error: unknown) => {
    if (!signal.aborted) throw error;
    throw new ApiError("unavailable", "The disks could not be compared in time. Try again later.", { retryAfter: 60 });
  });
  const packages = pairs(found.packages, /^([^ ]+) ()(.*)$/).map(({ name, ...sides }) => ({ name, ...sides }));
  const files = pairs(found.files, /^([\s\S]*?)(?: \((\d+ bytes)\)| (-> [\s\S]*))$/);
  return {
    ...{ from: before.id, to: after.id, bytesBefore: found.bytes[0], bytesAfter: found.bytes[1] },
    packages: packages.slice(0, maxShown),
    files: files.slice(0, maxShown).map(({ name, ...sides }) => ({ path: name, ...sides })),
    truncated: Math.max(packages.length, files.length) > maxShown,
  };
}

/** Lines such as `- curl 7.87` and `+ curl 7.88` as one entry. */
function pairs(lines: string[], pattern: RegExp): { name: string; before?: string; after?: string }[] {
  const found = new Map<string, { before?: string; after?: string }>();
  for (const line of lines) {
    const [, name = line.slice(2), size = "", rest = ""] = pattern.exec(line.slice(2)) ?? [];
    const side = line.startsWith("-") ? "before" : "after";
    found.set(name, { ...found.get(name), [side]: size || rest });
  }
  return [...found].map(([name, sides]) => ({ name, ...sides }));
}
