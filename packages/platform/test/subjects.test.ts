// A new subject is its folder and one line in the list of subjects.
import { afterAll, beforeAll, expect, test } from "vitest";
import { z } from "zod";
import type { ServerContext, Subject } from "../src/foundation/index.ts";
import { type RunningServer, serve } from "../src/serve.ts";
import { openSubjects } from "../src/subjects.ts";
import { type TestPlatform, testPlatform } from "./harness/platform.ts";

const happened: string[] = [];

/** As its index.ts would export it. */
function openGreetings({ settings }: ServerContext): Subject {
  return {
    routes(api) {
      api.route(
        {
          method: "get",
          path: "/v1/greetings/{name}",
          summary: "Greet someone",
          tag: "Greetings",
          scope: "agents:read",
          params: () => z.object({ name: z.string() }),
          answer: { status: 200, schema: () => z.object({ text: z.string() }), description: "The greeting" },
        },
        async ({ params, principal }) => ({ text: `Hello ${params.name}, from team ${principal.teamId}` }),
      );
    },
    activities: [
      {
        role: "scheduler",
        start() {
          happened.push(`started on ${settings.roles.join(",")}`);
          return { stop: async () => void happened.push("stopped") };
        },
      },
      { role: "runner", start: () => expect.fail("this server is not a runner") },
    ],
  };
}

let platform: TestPlatform;
let server: RunningServer;
let stopped: Promise<void> | undefined;
const stop = () => {
  stopped ??= server.stop();
  return stopped;
};
beforeAll(async () => {
  platform = await testPlatform({ roles: ["api", "scheduler"] });
  server = await serve(platform.platform, async (context) => {
    const opened = await openSubjects(context);
    return { ...opened, subjects: [...opened.subjects, openGreetings(context)] };
  });
});
afterAll(async () => {
  await stop();
  await platform.close();
});

test("its route is served, authenticated and documented like every other", async () => {
  const key = await platform.key();
  const get = (path: string, headers = {}) => fetch(`${server.url}${path}`, { headers });
  const greeted = await get("/v1/greetings/ada", { authorization: `Bearer ${key}` });
  expect([greeted.status, await greeted.json()]).toEqual([200, { text: "Hello ada, from team 1" }]);
  expect((await get("/v1/greetings/ada")).status).toBe(401);
  const document = (await (await get("/openapi.json")).json()) as { paths: Record<string, unknown> };
  expect(document.paths).toHaveProperty("/v1/greetings/{name}");
});

test("its activity runs on servers with its role, and is stopped with the server", async () => {
  expect(happened).toEqual(["started on api,scheduler"]);
  await stop();
  expect(happened).toEqual(["started on api,scheduler", "stopped"]);
});
