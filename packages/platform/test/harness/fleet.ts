// A server with what workers need: the key of a user who creates agents, and that of a service account for a pool.
import { openForFile } from "@agentcli/testkit/platform";
import { type TestServer, testServer } from "./platform.ts";

export interface TestFleet {
  server: TestServer;
  user: string;
  account: string;
}

/** One for all tests of a file. */
export const openFleetForFile = (settings: Parameters<typeof testServer>[0] = {}): (() => TestFleet) =>
  openForFile(
    async () => {
      const server = await testServer(settings);
      const account = await server.key({ owner: { kind: "service_account", name: "controller" } });
      return { server, user: await server.key(), account };
    },
    ({ server }) => server.close(),
  );
