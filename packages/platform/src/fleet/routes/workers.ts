// Connected workers: list, count, read.
import type { WorkerList, WorkerQuery } from "@agentcli/protocol/api";
import { z } from "zod";
import { type Api, ApiError, decodeCursor, encodeCursor, schema } from "../../foundation/index.ts";
import { countWorkers, findWorker, listWorkers, type ShownWorker, toWorker } from "../workers.ts";
import { type Base, type FleetHost, ownerOf } from "./host.ts";

const scope = "agents:read";

export function addWorkerRoutes(api: Api, { platform: { db } }: FleetHost, { workers: path, tag }: Base): void {
  api.route(
    {
      ...{ method: "get", path, tag, scope, query: schema("workers", "WorkerQuery") },
      summary: "List connected workers, the longest connected first",
      answer: { status: 200, schema: schema("workers", "WorkerList"), description: "A page of workers" },
    },
    async ({ principal, query }) => listPage(await listWorkers(db, ownerOf(principal).teamId, query), query),
  );
  api.route(
    {
      ...{ method: "get", path: `${path}/summary`, tag, scope },
      summary: "Count connected workers",
      answer: {
        status: 200,
        schema: schema("workers", "WorkerSummary"),
        description: "How many are connected, and how many in use",
      },
    },
    ({ principal }) => countWorkers(db, ownerOf(principal).teamId),
  );
  api.route(
    {
      ...{
        method: "get",
        path: `${path}/{workerId}`,
        tag,
        scope,
        params: () => z.object({ workerId: z.string().max(128) }),
      },
      summary: "Read a connected worker",
      answer: { status: 200, schema: schema("workers", "Worker"), description: "The worker" },
      problems: ["worker_not_found"],
    },
    async ({ principal, params: { workerId } }) => {
      const worker = await findWorker(db, ownerOf(principal).teamId, workerId);
      if (worker === undefined) throw new ApiError("worker_not_found", `No worker ${workerId} is connected.`);
      return toWorker(worker);
    },
  );
}

function listPage(all: ShownWorker[], { limit, pageToken }: WorkerQuery): WorkerList {
  const after = decodeCursor(pageToken);
  const left = after === null ? all : all.filter((worker) => isAfter(worker, after));
  const page = left.slice(0, limit);
  const last = page.at(-1);
  return {
    workers: page.map(toWorker),
    totalCount: all.length,
    ...(left.length > limit &&
      last && { nextPageToken: encodeCursor({ createdAt: last.connected_at, id: keyOf(last) }) }),
  };
}

/** A cursor takes fewer characters than the id of a worker. */
const keyOf = ({ id }: ShownWorker): string => Buffer.from(id).toString("hex").slice(0, 100);

const isAfter = (worker: ShownWorker, { createdAt, id }: { createdAt: Date; id: string }): boolean => {
  const [connected, position] = [worker.connected_at.getTime(), createdAt.getTime()];
  return connected > position || (connected === position && keyOf(worker) > id);
};
