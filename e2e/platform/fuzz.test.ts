// For any request the API responds in time, as its document says, and never with data of another team.

import { problemStatus } from "@agentcli/protocol/api";
import {
  type ApiResponse,
  type PlatformClient,
  parseFrames,
  type RunIds,
  sendRequest,
  servePlatformForTest,
} from "@agentcli/testkit/platform";
import Ajv from "ajv/dist/2020.js";
import fc from "fast-check";
import { expect, test } from "vitest";
import { type Document, type GeneratedRequest, type Operation, requestsOf } from "./openapi-requests.ts";
import type { Words } from "./openapi-values.ts";

const count = process.env.SWEEP === "full" ? 20_000 : 1_000;
const seed = Number(process.env.FUZZ_SEED ?? 7);
const atOnce = 8;
const batch = 250;

const canary = "canary-of-the-other-team";

test(`${count} requests after the document, each answered as the document says`, { timeout: count * 100 }, async () => {
  const platform = await servePlatformForTest({ env: { PLATFORM_CONCURRENT_RUNS: "4" } });
  const [own, other] = [await platform.client(), await platform.client("--team", "other")];
  const repositories = {
    own: await platform.repository("sample", { "README.md": "# Sample\n" }),
    hidden: await platform.repository("hidden", { "README.md": canary }, "--team", "other"),
  };
  const document = (await own.get("/openapi.json")).body as Document;
  const judge = judgeBy(document);
  const counts: Record<string, number> = {};
  const failures: string[] = [];
  for (let done = 0; done < count && failures.length < 10; done += batch) {
    const world = await createAgents(own, other, repositories);
    const before = await everythingOf(other, world.theirs);
    const size = Math.min(batch, count - done);
    const requests = fc.sample(requestsOf(document, world), { numRuns: size, seed: seed + done });
    await inParallel(requests, async (request) => {
      const outcome = await judge(request, own);
      counts[outcome.label] = (counts[outcome.label] ?? 0) + 1;
      if (outcome.complaint) failures.push(`${describe(request)}\n  ${outcome.complaint}`);
    });
    expect(await everythingOf(other, world.theirs)).toEqual(before);
  }
  console.log(`${count} requests, seed ${seed}: ${JSON.stringify(sorted(counts))}`);
  const logged = platform.server.log().filter((line) => line.includes('"level":"error"'));
  expect({ failures, logged }).toEqual({ failures: [], logged: [] });
});

interface World {
  words: Words;
  ids: Record<string, fc.Arbitrary<string>>;
  lastEventIds: fc.Arbitrary<string>;
  theirs: RunIds[];
}

/** Agents of both teams in several states, so that requests have a target. */
async function createAgents(
  own: PlatformClient,
  other: PlatformClient,
  repositories: { own: string; hidden: string },
): Promise<World> {
  const { own: url, hidden } = repositories;
  const ours = await Promise.all(
    Array.from({ length: 9 }, (_, index) => own.create("work", index % 3 === 0 ? { repos: [{ url }] } : {})),
  );
  const theirs = [await other.create(canary, { name: canary }), await other.create(canary, { metadata: { canary } })];
  await Promise.all([...ours.map(own.waitForRun), ...theirs.map(other.waitForRun)]);
  await own.post(`/v1/agents/${ours[2]?.agentId}/archive`);
  const eventIds = parseFrames(await own.streamText(ours[0] as RunIds)).flatMap(({ id }) => id ?? []);
  const agentIds = [...ours, ...theirs].map(({ agentId }) => agentId);
  const runIds = [...ours, ...theirs].map(({ runId }) => runId);
  const cursors = [await cursorOf(own), await cursorOf(other), "1", "0", "99999999999", "e30", "WyJ4Il0"];
  const pull = `${url.replace(/\.git$/, "")}/pulls/1`;
  return {
    theirs,
    lastEventIds: fc.constantFrom(...eventIds, "0-0", "1-1", "9999999999999-1"),
    ids: {
      id: mostly(agentIds, [agentIds[0]?.toUpperCase() ?? "", "bc-", "bc-00000000-0000-0000-0000-000000000000"]),
      runId: mostly(runIds, [runIds[0]?.toUpperCase() ?? "", "run-00000000-0000-0000-0000-000000000000"]),
    },
    words: {
      url: mostly([url], [hidden, `${url}?x`, ...awkwardUrls]),
      prUrl: mostly([pull], awkwardUrls),
      startingRef: mostly(["main"], ["-main", "--upload-pack=true", "a..b", "refs/heads/main", "@{-1}"]),
      id: mostly(["scripted", "practice"], ["nothing", "reasoning_effort"]),
      model: mostly(["scripted", "practice"], ["nothing"]),
      image_url: mostly(["data:image/png;base64,AAAA"], awkwardUrls),
      agentId: fc.oneof(
        fc.constantFrom(...agentIds),
        fc.uuid().map((uuid) => `bc-${uuid}`),
      ),
      cursor: fc.constantFrom(...cursors),
      runId: fc.constantFrom(...runIds, "nothing"),
      path: fc.constantFrom("artifacts/a.txt", "artifacts/../kek", "artifacts/./a", "/data/kek", "artifacts//"),
      command: fc.constantFrom("true", "no-such-program"),
      data: mostly(["AAAA"], ["", "A", "not base64!", "=".repeat(8)]),
      limit: mostly(["1", "100"], ["0", "101", "-1", "1.5", "x", " 5 ", "1e2", "0x10"]),
    },
  };
}

const mostly = (usual: string[], rare: string[]): fc.Arbitrary<string> =>
  fc.oneof({ weight: 6, arbitrary: fc.constantFrom(...usual) }, { weight: 1, arbitrary: fc.constantFrom(...rare) });

const awkwardUrls = [
  "https://user:secret@example.com/a/b.git",
  "http://127.0.0.1:1/a.git",
  "http://[::1]/a.git",
  "http://10.0.0.1/a.git",
  "http://169.254.169.254/latest/meta-data",
  "http://0x7f000001/a.git",
  "file:///data/a.git",
  "ext::sh -c true",
  "ssh://-oProxyCommand=true/a",
  "git@127.0.0.1:a/b.git",
  "https://example.com/../a.git",
  "not a url",
];

async function cursorOf(client: PlatformClient): Promise<string> {
  const { body } = await client.get("/v1/agents?limit=1");
  return (body as { nextCursor?: string }).nextCursor ?? "none";
}

interface Outcome {
  label: string;
  complaint: string | null;
}

function judgeBy(document: Document): (request: GeneratedRequest, client: PlatformClient) => Promise<Outcome> {
  const ajv = new Ajv({ strict: false, validateFormats: false });
  const validators = new Map<unknown, ReturnType<typeof ajv.compile>>();
  const schemaComplaint = (operation: Operation, { status, body, headers }: ApiResponse): string | null => {
    const [type = ""] = headers["content-type"]?.split(";") ?? [];
    const described = operation.responses[status];
    if (described && described.content === undefined && type === "") return null;
    const content = described?.content?.[type];
    if (!content) return `an answer of ${status} as ${type} is not in the document`;
    if (type !== "application/json") return null;
    const validator = validators.get(content) ?? ajv.compile({ ...content.schema, components: document.components });
    validators.set(content, validator);
    return validator(body) ? null : `the body breaks its schema: ${ajv.errorsText(validator.errors)}`;
  };
  return async ({ operation, method, path, headers, body }, client) => {
    const request = {
      method,
      path,
      headers: { authorization: `Bearer ${client.key}`, ...headers },
      ...(body !== undefined && { body }),
    };
    try {
      const answer = await sendRequest(client.url, request);
      const complaint = complaintAbout(answer, `${path}${body ?? ""}`) ?? schemaComplaint(operation, answer);
      return {
        label: labelOf(answer),
        complaint: complaint && `${answer.status} ${answer.text.slice(0, 300)}: ${complaint}`,
      };
    } catch (error) {
      return { label: "no answer", complaint: String(error) };
    }
  };
}

function complaintAbout({ status, text, body, headers }: ApiResponse, sent: string): string | null {
  if (status >= 500) return "a failure of the platform";
  if (text.includes(canary) && !sent.includes(canary)) return "shows what belongs to another team";
  if (headers["x-request-id"] === undefined) return "has no x-request-id";
  if (status < 400) return null;
  const { code, message } = (body as { error?: { code?: string; message?: string } })?.error ?? {};
  if (!code || !message) return "is not an error with a code and a message";
  return problemStatus[code as keyof typeof problemStatus] === status ? null : `the code ${code} is not for ${status}`;
}

const labelOf = ({ status, body }: ApiResponse): string => {
  const { code } = (body as { error?: { code?: string } } | undefined)?.error ?? {};
  return code ? `${status} ${code}` : String(status);
};

/** All readable data of the agents of a team. */
const everythingOf = (client: PlatformClient, made: RunIds[]): Promise<unknown[]> =>
  Promise.all(
    made.flatMap(({ agentId, runId }) =>
      [`/v1/agents/${agentId}`, `/v1/agents/${agentId}/runs`, `/v1/agents/${agentId}/runs/${runId}`].map(
        async (path) => (await client.get(path)).body,
      ),
    ),
  );

async function inParallel<T>(items: T[], act: (item: T) => Promise<void>): Promise<void> {
  const rest = [...items];
  await Promise.all(
    Array.from({ length: atOnce }, async () => {
      for (let item = rest.pop(); item !== undefined; item = rest.pop()) await act(item);
    }),
  );
}

const describe = ({ method, path, headers, body }: GeneratedRequest): string =>
  `${method} ${path.slice(0, 300)} ${JSON.stringify(headers)} ${String(body).slice(0, 500)}`;

const sorted = (counts: Record<string, number>) =>
  Object.fromEntries(Object.entries(counts).sort(([left], [right]) => (left < right ? -1 : 1)));
