import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { call, type Reply, replyWith, type Script } from "@agentcli/testkit";
import { itemsOf, openHarness } from "@agentcli/testkit/cli";
import { describe, expect, test } from "vitest";

const schema = {
  type: "object",
  properties: { verdict: { enum: ["pass", "fail"] }, notes: { type: "string", minLength: 3 } },
  required: ["verdict"],
};

async function openSchemaHarness(
  replies: Reply[] | Script,
  wanted: unknown = schema,
  wireApi: "responses" | "chat" = "responses",
) {
  const made = await openHarness({ replies, wireApi });
  writeFileSync(join(made.repository, "schema.json"), typeof wanted === "string" ? wanted : JSON.stringify(wanted));
  return made;
}

const good = '{"verdict":"pass"}';
const flags = ["--output-schema", "schema.json"];

interface Body {
  text: { format?: { strict: boolean; schema: unknown } };
  response_format?: { json_schema: { strict: boolean; schema: unknown } };
  input: { content: { text: string }[] }[];
}
const bodyOf = (request: { body: unknown } | undefined) => request?.body as Body;

const strict = {
  type: "object",
  properties: {
    verdict: { enum: ["pass", "fail"], type: "string" },
    notes: { type: ["string", "null"] },
  },
  required: ["verdict", "notes"],
  additionalProperties: false,
};

describe("--output-schema", () => {
  test("is sent in strict form with every request, and progress messages are not validated", async () => {
    const looking = call("exec_command", { cmd: "true" }, { messages: ["Looking around."] });
    const { run, requests } = await openSchemaHarness([looking, replyWith(good)]);
    const { code, stdout } = await run(["exec", ...flags, "judge it"]);
    expect({ code, stdout }).toEqual({ code: 0, stdout: `${good}\n` });
    expect(requests()).toHaveLength(2);
    for (const request of requests())
      expect(bodyOf(request).text.format).toMatchObject({ strict: true, schema: strict });
  });

  test("is sent in strict form on the chat wire too", async () => {
    const { run, requests } = await openSchemaHarness([replyWith(good)], schema, "chat");
    expect(await run(["exec", ...flags, "judge it"])).toMatchObject({ code: 0, stdout: `${good}\n` });
    expect(bodyOf(requests()[0]).response_format?.json_schema).toMatchObject({ strict: true, schema: strict });
  });

  test("omits null members of the reply, on standard output and in -o", async () => {
    const { run, repository } = await openSchemaHarness([replyWith('{"verdict":"pass","notes":null}')]);
    const { stdout } = await run(["exec", ...flags, "-o", "answer.json", "judge it"]);
    expect(stdout).toBe(`${good}\n`);
    expect(readFileSync(join(repository, "answer.json"), "utf8")).toBe(good);
  });

  test("takes JSON out of a code block, for standard output, -o and the last message of the events", async () => {
    const fenced = { replies: [replyWith(`\`\`\`json\n${good}\n\`\`\``)], repeat: "always" as const };
    const { run, events, requests, repository } = await openSchemaHarness(fenced);
    expect(await run(["exec", ...flags, "-o", "answer.json", "judge it"])).toMatchObject({
      code: 0,
      stdout: `${good}\n`,
    });
    expect(readFileSync(join(repository, "answer.json"), "utf8")).toBe(good);
    expect(requests()).toHaveLength(1);
    const messages = itemsOf((await events([...flags, "judge it"])).events, "agent_message");
    expect(messages.at(-1)).toMatchObject({ text: good });
  });

  test("sends an invalid reply back once, with the errors", async () => {
    const { run, requests, repository } = await openSchemaHarness([replyWith("It passes."), replyWith(good)]);
    const ended = await run(["exec", ...flags, "-o", "answer.json", "judge it"]);
    expect(ended).toMatchObject({ code: 0, stdout: `${good}\n` });
    expect(ended.stderr).toContain("asked once to fix it");
    expect(requests()).toHaveLength(2);
    expect(JSON.stringify(bodyOf(requests()[1]).input.at(-1))).toContain("it is not JSON");
    expect(readFileSync(join(repository, "answer.json"), "utf8")).toBe(good);
  });

  test("ends with exit code 10 when the second reply is invalid as well", async () => {
    const { run, requests } = await openSchemaHarness([replyWith("It passes."), replyWith('{"verdict":"maybe"}')]);
    const { code, stdout, stderr } = await run(["exec", ...flags, "judge it"]);
    expect({ code, stdout }).toEqual({ code: 10, stdout: "" });
    expect(stderr).toContain('/verdict must be equal to one of the allowed values ("pass", "fail")');
    expect(requests()).toHaveLength(2);
  });

  test("shows the repair and one terminal event with --json", async () => {
    const { events: run } = await openSchemaHarness([replyWith("It passes."), replyWith('{"verdict":"maybe"}')]);
    const { code, events } = await run([...flags, "judge it"]);
    expect(code).toBe(10);
    expect(itemsOf(events, "agent_message")).toMatchObject([{ text: "It passes." }, { text: '{"verdict":"maybe"}' }]);
    expect(itemsOf(events, "error")).toHaveLength(1);
    expect(events.filter((event) => /^turn\.(completed|failed)$/.test(event.type))).toHaveLength(1);
    expect(events.at(-1)).toMatchObject({ type: "turn.failed", error: { code: "schema" } });
  });

  test("works for a follow-up, which has its own schema or none", async () => {
    const { run, events, requests } = await openSchemaHarness([
      replyWith("Hello."),
      replyWith("No."),
      replyWith(good),
      replyWith("Free again."),
    ]);
    await run(["exec", "hello"]);
    const resumed = await events(["resume", "--last", ...flags, "judge it"]);
    expect(resumed.code).toBe(0);
    expect(itemsOf(resumed.events, "agent_message").at(-1)).toMatchObject({ text: good });
    expect(await run(["exec", "resume", "--last", "and now?"])).toMatchObject({ code: 0, stdout: "Free again.\n" });
    expect(requests().map((request) => bodyOf(request).text.format !== undefined)).toEqual([false, true, true, false]);
  });

  test("does not apply to sub-agents", async () => {
    const replies = [
      { ...replyWith(good), when: { bodyIncludes: "I looked." } },
      { ...call("exec_command", { cmd: "true" }), when: { bodyIncludes: '\\"agent_id\\":' } },
      { ...replyWith("I looked."), when: { bodyIncludes: "look around" } },
      call("spawn_agent", { message: "look around" }),
    ];
    const { run, requests } = await openSchemaHarness({ replies, repeat: "always" });
    expect(await run(["exec", ...flags, "judge it"])).toMatchObject({ code: 0, stdout: `${good}\n` });
    const [parents, children] = [true, false].map((isParent) =>
      requests().filter((request) => JSON.stringify(request.body).includes("spawn_agent") === isParent),
    );
    expect(children?.map((request) => bodyOf(request).text.format)).toEqual([undefined]);
    for (const request of parents ?? []) expect(bodyOf(request).text.format).toBeDefined();
  });

  test("does not apply to the final message of a run whose budget is spent", async () => {
    const replies = [
      { ...replyWith("Half done."), when: { bodyIncludes: "budget of this run is spent" } },
      call("exec_command", { cmd: "true" }),
    ];
    const { events: run, requests } = await openSchemaHarness({ replies, repeat: "always" });
    const { code, events } = await run([...flags, "--budget", "turns=3", "judge it"]);
    expect(code).toBe(5);
    expect(itemsOf(events, "agent_message")).toMatchObject([{ text: "Half done." }]);
    expect(requests().map((request) => bodyOf(request).text.format !== undefined)).toEqual([true, true, false]);
  });

  test("does not repair a second time after the program was killed during the repair", async () => {
    const { start, run, requests, records } = await openSchemaHarness([
      replyWith("Wrong."),
      { messages: ["never sent"], stall: "before-headers" },
      replyWith("Still wrong."),
    ]);
    const child = start(["exec", ...flags, "judge it"]);
    const closed = new Promise((resolve) => child.once("close", resolve));
    await expect.poll(() => requests().length).toBe(2);
    child.kill("SIGKILL");
    await closed;
    const resumed = await run(["exec", "resume", "--last", ...flags]);
    expect(resumed.code).toBe(10);
    expect(requests()).toHaveLength(3);
    expect(records().filter(({ record }) => record.type === "input.added")).toHaveLength(1);
  });

  test.each([
    [
      "oneOf",
      { type: "object", properties: { a: { oneOf: [{ type: "string" }] } } },
      "/properties/a/oneOf: oneOf is not",
    ],
    ["allOf", { type: "object", properties: {}, allOf: [{ required: ["a"] }] }, "/allOf: allOf is not supported"],
    ["a list at the root", { type: "array", items: { type: "string" } }, "/type: the root is of type array"],
    ["a remote reference", { type: "object", properties: { a: { $ref: "https://x.org/a" } } }, "/properties/a/$ref"],
    ["a wrong type", { type: "object", properties: { a: { type: "text" } } }, "/properties/a/type"],
    ["no JSON", "{", "schema.json is not JSON"],
  ])("refuses %s before the first request", async (_, wanted, named) => {
    const { run, events, requests } = await openSchemaHarness([replyWith(good)], wanted);
    const { code, stderr, stdout } = await run(["exec", ...flags, "judge it"]);
    expect({ code, stdout }).toEqual({ code: 2, stdout: "" });
    expect(stderr).toContain(named);
    const json = await events([...flags, "judge it"]);
    expect(json).toMatchObject({ code: 2, events: [{ type: "error", message: expect.stringContaining(named) }] });
    expect(requests()).toHaveLength(0);
  });

  test("names a missing file", async () => {
    const { run, requests } = await openSchemaHarness([replyWith(good)]);
    const { code, stderr } = await run(["exec", "--output-schema", "nowhere.json", "judge it"]);
    expect(code).toBe(2);
    expect(stderr).toContain("--output-schema nowhere.json cannot be read");
    expect(requests()).toHaveLength(0);
  });
});
