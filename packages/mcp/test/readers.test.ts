import { tmpdir } from "node:os";
import { openServer } from "@agentcli/workspace";
import fc from "fast-check";
import { describe, expect, onTestFinished, test } from "vitest";
import { readInitializeResult } from "../src/connection/initialize.ts";
import { readCallResult, readTools } from "../src/connection/readers.ts";
import { openRpcClient } from "../src/connection/rpc-client.ts";
import type { Json, JsonObject } from "../src/json.ts";
import { readSettings } from "../src/settings.ts";
import { nameTools } from "../src/tools/names.ts";
import { resultOutcome } from "../src/tools/outcome.ts";
import { readLines } from "../src/transport/lines.ts";
import { readEvents, type ServerEvent } from "../src/transport/sse.ts";

const numRuns = Number(process.env.FUZZ_RUNS ?? 200);
const json = fc.jsonValue() as fc.Arbitrary<Json>;

/** Objects with the members a server sends, and arbitrary values. */
const nearly = (shape: Record<string, fc.Arbitrary<unknown>>) =>
  fc.record(Object.fromEntries(Object.entries(shape).map(([key, good]) => [key, fc.oneof(good, json)])), {
    requiredKeys: [],
  }) as fc.Arbitrary<JsonObject>;

const block = nearly({
  type: fc.constantFrom("text", "image", "audio", "resource", "resource_link"),
  text: fc.string(),
  data: fc.base64String(),
  mimeType: fc.constantFrom("image/png", "text/plain"),
  resource: nearly({ uri: fc.string(), text: fc.string(), blob: fc.base64String() }),
});

describe("whatever a server sends", () => {
  test("its tools have a name, a description and an object schema", () => {
    const entry = nearly({
      name: fc.string(),
      description: fc.string(),
      inputSchema: nearly({ type: fc.constant("object"), properties: json }),
      annotations: nearly({ readOnlyHint: fc.boolean(), idempotentHint: fc.boolean() }),
    });
    fc.assert(
      fc.property(fc.array(entry), (entries) => {
        for (const tool of readTools(entries, (text) => text)) {
          expect(tool.name).not.toBe("");
          expect(typeof tool.description).toBe("string");
          expect(tool.inputSchema).toMatchObject({ type: "object", properties: {} });
          expect(typeof tool.readOnly).toBe("boolean");
        }
      }),
      { numRuns },
    );
  });

  test("its descriptions, and every name and value of its schemas, are sanitized at every depth", () => {
    const clean = (text: string) => text.replace("hidden", "");
    const property = {
      type: "string",
      description: "bhidden",
      enum: ["ehidden"],
      default: "dhidden",
      const: "fhidden",
    };
    const inputSchema = {
      type: "object",
      description: "chidden",
      properties: { phidden: property },
      required: ["phidden"],
    };
    expect(readTools([{ name: "t", description: "ahidden", inputSchema }], clean)).toMatchObject([
      {
        description: "a",
        inputSchema: {
          description: "c",
          properties: { p: { type: "string", description: "b", enum: ["e"], default: "d", const: "f" } },
          required: ["p"],
        },
      },
    ]);
  });

  test("its result is an outcome within the budget, with parts that are text or images", async () => {
    const workspace = await openServer({ root: tmpdir(), writable: [], env: {}, orphans: "ended-by-watchdog" });
    onTestFinished(() => workspace.close());
    const result = nearly({ content: fc.array(fc.oneof(block, json)), structuredContent: json, isError: fc.boolean() });
    const context = { callId: "1.0", workspace, outputTokens: 50, signal: new AbortController().signal };
    const called = { origin: { server: "s", tool: "t" }, args: {}, durationMs: 1, context };
    await fc.assert(
      fc.asyncProperty(result, async (value) => {
        const outcome = await resultOutcome(called, readCallResult(value));
        const [first, ...images] = outcome.parts;
        expect(first?.type === "text" && first.text.length).toBeLessThan(900);
        for (const image of images) expect(image.type === "image" && image.url).toMatch(/^data:image\/\w+;base64,/);
        expect(JSON.parse(JSON.stringify(outcome.detail))).toMatchObject({ kind: "mcp", server: "s" });
      }),
      { numRuns },
    );
  });

  test("its initialize result is read", () => {
    fc.assert(
      fc.property(nearly({ capabilities: nearly({ tools: json }) }), (value) => {
        expect(typeof readInitializeResult(value).capabilities.tools).toBe("boolean");
      }),
      { numRuns },
    );
  });

  test("the client neither throws nor takes another message for the response", async () => {
    const message = nearly({ id: fc.integer({ min: 2, max: 5 }), method: fc.string(), params: json, error: json });
    await fc.assert(
      fc.asyncProperty(fc.array(fc.oneof(message, json, fc.array(message))), async (noise) => {
        let receive: (value: Json) => void = () => {};
        const client = await openRpcClient(
          async (events) => {
            receive = events.message;
            return { send: async () => {}, setProtocolVersion: () => {}, close: async () => {} };
          },
          { request: async () => ({}), notification: () => {}, lost: () => {} },
        );
        const answer = client.request({ method: "tools/list", idleTimeoutMs: 10_000 }, new AbortController().signal);
        for (const value of noise.filter((each) => !isAnswerToFirst(each))) receive(value);
        receive({ jsonrpc: "2.0", id: 1, result: { fine: true } });
        expect(await answer).toEqual({ kind: "result", result: { fine: true } });
        await client.close();
      }),
      { numRuns },
    );
  });

  test("lines come out as they went in, however they are cut", () => {
    fc.assert(
      fc.property(
        fc.array(fc.string().map((text) => text.replace(/[\r\n]/g, ""))),
        fc.integer({ min: 1, max: 7 }),
        (texts, size) => {
          const lines: string[] = [];
          const reader = readLines({ line: (text) => lines.push(text), tooLong: () => expect.fail("too long") });
          const whole = texts.map((text) => `${text}\n`).join("");
          for (let at = 0; at < whole.length; at += size) reader.add(whole.slice(at, at + size));
          expect(lines).toEqual(texts);
        },
      ),
      { numRuns },
    );
  });

  test("events come out as they went in, however they are cut, and garbage does no harm", () => {
    fc.assert(
      fc.property(fc.array(json), fc.string(), fc.integer({ min: 1, max: 9 }), (values, garbage, size) => {
        const events: ServerEvent[] = [];
        const reader = readEvents({ event: (event) => events.push(event), retry: () => {}, tooLong: () => {} });
        const whole = values.map((value, index) => `id: ${index}\ndata: ${JSON.stringify(value)}\n\n`).join("");
        for (let at = 0; at < whole.length; at += size) reader.add(whole.slice(at, at + size));
        expect(events.map(({ id, data }) => [id, JSON.parse(data)])).toEqual(
          values.map((value, index) => [String(index), JSON.parse(JSON.stringify(value))]),
        );
        reader.add(garbage);
      }),
      { numRuns },
    );
  });
});

const isAnswerToFirst = (value: unknown): boolean =>
  Array.isArray(value)
    ? value.some(isAnswerToFirst)
    : typeof value === "object" && value !== null && (value as JsonObject).id === 1;

test("reading stops at a line that is too long", () => {
  const lines: string[] = [];
  const reader = readLines({ line: (text) => lines.push(text), tooLong: () => lines.push("too long") }, 10);
  reader.add("short\n12345678");
  reader.add("90123\nmore\n");
  expect(lines).toEqual(["short", "too long"]);
});

describe("names", () => {
  test("contain only characters that providers allow", () => {
    expect(nameTools([{ server: "my-server", tool: "read.file v2" }])).toEqual(["mcp__my_server__read_file_v2"]);
  });

  test("are unique, short and always the same", () => {
    const origin = fc.record({ server: fc.string({ maxLength: 90 }), tool: fc.string({ maxLength: 90 }) });
    const origins = fc.uniqueArray(origin, { selector: ({ server, tool }) => `${server}\0${tool}` });
    fc.assert(
      fc.property(origins, (all) => {
        const names = nameTools(all);
        expect(new Set(names).size).toBe(all.length);
        for (const name of names) expect(name).toMatch(/^mcp__[A-Za-z0-9_]{2,123}$/);
        expect(nameTools(all)).toEqual(names);
      }),
      { numRuns },
    );
  });

  test("that collide both end with a hash, in any order", () => {
    const pair = [
      { server: "a", tool: "b.c" },
      { server: "a", tool: "b-c" },
    ];
    const [first, second] = nameTools(pair);
    expect(first).toMatch(/^mcp__a__b_c_[0-9a-f]{12}$/);
    expect(nameTools([...pair].reverse())).toEqual([second, first]);
  });
});

describe("settings", () => {
  test.each([
    [{}, "set command (a program to start) or url (a server to connect to)."],
    [{ url: "https://a.example", args: ["x"] }, "args is not supported for streamable_http."],
    [{ command: "x", url: "https://a.example" }, "url is not supported for stdio."],
    [{ command: "x", bearer_token_env_var: "T" }, "bearer_token_env_var is not supported for stdio."],
    [{ url: "file:///etc" }, "url is not an http or https address: file:///etc"],
    [
      { url: "https://a.example", bearer_token: "secret" },
      "bearer_token is not supported. Put the token into an environment variable and name it with bearer_token_env_var.",
    ],
  ])("%j is refused with the field named", (server, message) => {
    expect(readSettings("x", server)).toEqual({ kind: "problem", message: `mcp_servers.x: ${message}` });
  });

  test("have the documented defaults, and startup_timeout_ms is an alias", () => {
    expect(readSettings("x", { command: "y" })).toMatchObject({
      settings: {
        required: false,
        startTimeoutMs: 30_000,
        toolTimeoutMs: 300_000,
        parallel: false,
        approval: { default: "auto" },
      },
    });
    expect(readSettings("x", { command: "y", startup_timeout_ms: 5 })).toMatchObject({
      settings: { startTimeoutMs: 5 },
    });
  });
});
