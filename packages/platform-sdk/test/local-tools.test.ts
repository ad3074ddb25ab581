// Functions of the calling program as tools of its agent.
import { call, replyWith } from "@agentcli/testkit";
import { expect, test } from "vitest";
import type { CustomTool } from "../src/local-options.ts";
import { bodiesOf, openLocalHarness, readAll } from "./local-harness.ts";

const name = "mcp__custom_user_tools__add";

const add = (execute: CustomTool["execute"]): Record<string, CustomTool> => ({
  add: {
    description: "Adds two numbers",
    inputSchema: {
      type: "object",
      properties: { a: { type: "number" }, b: { type: "number" } },
      required: ["a", "b"],
      additionalProperties: false,
    },
    execute,
  },
});

/** The last request to the model, with the result of its call. */
const lastRequest = (harness: Parameters<typeof bodiesOf>[0]): string => bodiesOf(harness).at(-1) ?? "";

test("the model calls a function of the program, and its messages show a call of custom-user-tools", async () => {
  const harness = await openLocalHarness([call(name, { a: 2, b: 3 }), replyWith("Five.")]);
  const seen: unknown[] = [];
  const customTools = add((args, { toolCallId }) => {
    seen.push(args, typeof toolCallId);
    return `sum ${Number(args.a) + Number(args.b)}`;
  });
  const agent = await harness.Agent.create(harness.options({ local: { customTools } }));
  const run = await agent.send("Add");
  const messages = await readAll(run);
  expect(seen).toEqual([{ a: 2, b: 3 }, "string"]);
  expect(lastRequest(harness)).toContain("sum 5");
  const calls = messages.filter((message) => message.type === "tool_call");
  expect(calls).toMatchObject([
    { name: "mcp", status: "running", args: { toolName: "add", args: { a: 2, b: 3 } } },
    { name: "mcp", status: "completed" },
  ]);
  const [step] = (await run.conversation())[0]?.turn.steps ?? [];
  expect(step).toMatchObject({
    message: { type: "mcp", args: { providerIdentifier: "custom-user-tools", toolName: "add" } },
  });
  expect(bodiesOf(harness)[0]).toContain("Adds two numbers");
});

test("wrong arguments are an error for the model and do not reach the function", async () => {
  const harness = await openLocalHarness([call(name, { a: "two", c: 1 }), call(name, "{"), replyWith("Oh.")]);
  let calls = 0;
  const customTools = add(() => ++calls);
  await harness.Agent.prompt("Add", harness.options({ local: { customTools } }));
  expect(calls).toBe(0);
  expect(lastRequest(harness)).toContain("wrong arguments: / must have required property 'b'");
  expect(lastRequest(harness)).toContain("/a must be number");
  expect(lastRequest(harness)).toContain("must NOT have additional properties (c)");
  expect(lastRequest(harness)).toContain("arguments are not valid JSON");
});

test("results may be JSON, blocks or an error; what is thrown reaches the model", async () => {
  const image = "iVBORw0KGgo=";
  const results: CustomTool["execute"][] = [
    () => ({ sum: [1, 2] }),
    () => ({
      content: [
        { type: "text", text: "see" },
        { type: "image", data: image, mimeType: "image/png" },
      ],
    }),
    () => ({ content: [{ type: "text", text: "no luck" }], isError: true }),
    () => ({ content: [], structuredContent: { total: 7 } }),
    async () => {
      throw new Error("the abacus broke");
    },
    () => undefined,
  ];
  const harness = await openLocalHarness([...results.map(() => call(name, { a: 1, b: 1 })), replyWith("Done.")]);
  const customTools = add((args, context) => results.shift()?.(args, context));
  const agent = await harness.Agent.create(harness.options({ local: { customTools } }));
  const messages = await readAll(await agent.send("Add"));
  for (const text of ['{\\"sum\\":[1,2]}', "see", image, "no luck", '{\\"total\\":7}', "the abacus broke"])
    expect(lastRequest(harness)).toContain(text);
  const ends = messages.flatMap((message) =>
    message.type === "tool_call" && message.status !== "running" ? message.status : [],
  );
  expect(ends).toEqual(["completed", "completed", "error", "completed", "error", "completed"]);
});

test("tools of a prompt take the place of the agent's for that prompt", async () => {
  const harness = await openLocalHarness({ replies: [replyWith("Yes.")], repeat: "last" });
  const agent = await harness.Agent.create(harness.options({ local: { customTools: add(() => 1) } }));
  const other = { subtract: { execute: () => 0 } };
  await (await agent.send("One")).wait();
  await (await agent.send("Two", { local: { customTools: other } })).wait();
  await (await agent.send("Three")).wait();
  const offered = harness
    .requests()
    .map(({ body }) => (body as { tools: { name: string }[] }).tools.map((tool) => tool.name))
    .map((names) => names.filter((each) => each.startsWith("mcp__")));
  expect(offered).toEqual([[name], ["mcp__custom_user_tools__subtract"], [name]]);
});

test("cancelling tells the function, and does not wait for one that does not listen", async () => {
  const harness = await openLocalHarness([call(name, { a: 1, b: 1 })]);
  let isStopped = false;
  let begin = () => {};
  const begun = new Promise<void>((resolve) => {
    begin = resolve;
  });
  const customTools = add((_, { signal }) => {
    signal?.addEventListener("abort", () => {
      isStopped = true;
    });
    begin();
    return new Promise(() => {});
  });
  const agent = await harness.Agent.create(harness.options({ local: { customTools } }));
  const run = await agent.send("Add");
  await begun;
  await run.cancel();
  expect((await run.wait()).status).toBe("cancelled");
  expect(isStopped).toBe(true);
});

test("schemas that are none are refused at creation", async () => {
  const harness = await openLocalHarness([]);
  const refused = (tool: Partial<CustomTool>) =>
    harness.Agent.create(harness.options({ local: { customTools: { odd: tool as CustomTool } } })).catch(
      (error) => error,
    );
  const execute = () => "";
  expect(await refused({ execute, inputSchema: { type: "sheep" } })).toMatchObject({ code: "invalid_option" });
  expect((await refused({ execute, inputSchema: { type: "string" } })).message).toContain("/type must be object");
  expect((await refused({ execute, inputSchema: { properties: { a: { pattern: "(" } } } })).message).toContain("odd");
  expect((await refused({})).message).toContain("customTools.odd: execute must be a function");
});

test("a result against the tool's own schema is an error for the model", async () => {
  const harness = await openLocalHarness([call("mcp__custom_user_tools__count", {}), replyWith("Hm.")]);
  const count: CustomTool = {
    outputSchema: { type: "object", properties: { total: { type: "number" } }, required: ["total"] },
    execute: () => ({ content: [], structuredContent: { total: "many" } }),
  };
  await harness.Agent.prompt("Count", harness.options({ local: { customTools: { count } } }));
  expect(lastRequest(harness)).toContain("does not match its outputSchema: /total must be number");
});
