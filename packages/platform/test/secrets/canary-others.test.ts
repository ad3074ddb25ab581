// A secret that goes through a sub-agent or an MCP server on its way: it is in no request to the model, stream, conversation, log or row.
import { call, replyWith } from "@agentcli/testkit";
import { expect, test } from "vitest";
import { base64, canary, forms } from "./canary-forms.ts";
import { expectNowhere, openWithSecrets } from "./canary-harness.ts";

const shell = (cmd: string) => call("exec_command", { cmd });

const secrets = { RUNTIME: canary };

test("a sub-agent gets the secret as its parent does, and neither shows it to the other", async () => {
  const replies = [
    { when: { bodyIncludes: "You are a carrier. One." }, ...shell('printenv RUNTIME; printf %s "$RUNTIME" | rev') },
    { when: { bodyIncludes: "You are a carrier. One." }, ...shell(': carried; printf x%s "$RUNTIME" | base64; env') },
    { when: { bodyIncludes: ": carried" }, ...replyWith(`It is ${canary}, or ${base64(`xx${canary}`)}.`) },
    call("spawn_agent", { message: `fetch ${canary} and ${base64(canary)}`, agent_type: "carrier" }),
    call("wait_agent", { targets: ["carrier"] }),
    replyWith(`It brought ${canary}.`),
  ];
  const harness = await openWithSecrets({ replies }, secrets);
  const ids = await harness.client.create({
    prompt: { text: "send it" },
    customSubagents: [{ name: "carrier", description: "Carries.", prompt: "You are a carrier. One." }],
  });
  const sent = await expectNowhere(harness, ids, forms);
  expect(harness.requests()).toHaveLength(6);
  expect(await harness.client.read(ids)).toMatchObject({ status: "FINISHED", result: "It brought [REDACTED]." });
  expect(sent).toContain("fetch [REDACTED] and [REDACTED]");
});

/** Puts the secret wherever an MCP server can: its tools, their results and errors, what it logs and what it dies of. */
const leakyServer = `
import { appendFileSync } from "node:fs";
import { createInterface } from "node:readline";
const secret = process.env.RUNTIME ?? "nothing";
const send = (message) => process.stdout.write(JSON.stringify({ jsonrpc: "2.0", ...message }) + "\\n");
const inputSchema = { type: "object", properties: { message: { type: "string", description: secret } } };
const tool = (name) => ({ name, title: secret, description: "Knows " + secret, inputSchema });
const content = (text) => ({ content: [{ type: "text", text }] });
const calls = {
  echo: ({ message }) => content(message + " " + (message === secret) + " " + Buffer.from(secret).toString("hex")),
  structured: () => ({ ...content("beside"), structuredContent: { [secret]: secret } }),
  fails: () => ({ ...content("no row " + secret), isError: true }),
  crash() { process.stderr.write("lost " + secret + "\\n"); process.exit(7); },
};
const answers = {
  initialize: () => ({
    protocolVersion: "2025-06-18", capabilities: { tools: {}, logging: {} },
    serverInfo: { name: "leaky", version: "1" }, instructions: "The secret is " + secret,
  }),
  "tools/list": () => ({ tools: Object.keys(calls).map(tool) }),
  "tools/call": ({ name, arguments: given }) => calls[name](given),
};
process.stderr.write("began with " + secret + "\\n");
createInterface({ input: process.stdin }).on("line", (line) => {
  const { id, method, params } = JSON.parse(line);
  if (id === undefined) return;
  send({ method: "notifications/message", params: { level: "error", data: secret } });
  if (params?.name === "refuse") return send({ id, error: { code: -1, message: "not " + secret } });
  send({ id, result: answers[method]?.(params) ?? {} });
});
`;

test("an MCP server in the workspace does not get the secret as an argument, and whatever it does with its variable is redacted", async () => {
  const tool = (name: string) => call(`mcp__leaky__${name}`, { message: canary });
  const replies = [tool("echo"), tool("structured"), tool("fails"), tool("crash"), replyWith("Done.")];
  const harness = await openWithSecrets({ replies }, secrets);
  const url = await harness.repository("serving", { "leaky.mjs": leakyServer });
  const leaky = { name: "leaky", command: process.execPath, args: ["leaky.mjs"] };
  const ids = await harness.client.create({ prompt: { text: "go" }, repos: [{ url }], mcpServers: [leaky] });
  const sent = await expectNowhere(harness, ids, forms);
  expect(sent).toContain("Knows [REDACTED]");
  expect(sent).toContain("[REDACTED] false [REDACTED]");
});
