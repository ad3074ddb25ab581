// The state of the platform: `GET /v1/status`, the entry of this server among the nodes, and the disk of its data directory.
import { describeNode, reachableUrl, type ServerContext, type Subject, schema, version } from "../foundation/index.ts";
import { readStatus, readStorage } from "./read.ts";

export function openStatus(context: ServerContext): Subject {
  const { db, metrics, settings, nodeId } = context;
  const storage = () => readStorage(settings.dataDirectory);
  metrics.gauge("platform_storage_free_bytes", "Free space on the disk of the data directory", async () => {
    return (await storage()).freeBytes;
  });
  metrics.gauge("platform_storage_size_bytes", "Size of the disk of the data directory", async () => {
    return (await storage()).sizeBytes;
  });
  return {
    routes: (api) =>
      api.route(
        {
          method: "get",
          path: "/v1/status",
          summary: "Show the state of the platform: servers, queue, model, database, storage",
          tag: "operations",
          scope: "admin",
          answer: { status: 200, schema: schema("status", "PlatformStatus"), description: "The state of the platform" },
        },
        () => readStatus(context),
      ),
    activities: [
      {
        role: "every server",
        async start() {
          const address = reachableUrl(context.serverUrl(), settings.internalUrl);
          await describeNode(db, nodeId, { roles: settings.roles, version, address });
          return { stop: async () => {} };
        },
      },
    ],
  };
}
