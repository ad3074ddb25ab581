// Content for the design page.
import type { AgentOverview, RunStatus } from "@agentcli/protocol/api";
import type { Item } from "../stream/transcript.ts";

const at = "2026-01-01T09:00:00.000Z";

export const sampleAgent = (status: RunStatus): AgentOverview => ({
  id: `bc-${status}`,
  name: `Fix the failing test of the paging module (${status.toLowerCase()})`,
  status: "IDLE",
  group: "finished",
  url: "",
  createdAt: at,
  updatedAt: at,
  repos: [{ url: "https://git.example.com/team/sample.git" }],
  owner: { kind: "user", name: "ada@example.com", isCaller: true },
  source: "WEBSITE",
  branch: "platform/work-a23f965c",
  lines: { added: 12, removed: 3 },
  pullRequests: [{ url: "https://git.example.com/1", number: 12, state: "open" }],
  cost: { rawCostCents: 42, chargedCents: 42 },
  latestRun: { id: "run-1", status, createdAt: at, durationMs: 84_000 },
});

export const sampleItems: Item[] = [
  { kind: "text", key: "1", text: "I will run the tests first." },
  { kind: "thinking", key: "2", text: "The range ends one too early.", durationMs: 4_200 },
  {
    ...{ kind: "command", key: "3", status: "completed", command: "npm test", exitCode: 1, durationMs: 4_200 },
    output: "\u001b[31mnot ok 1\u001b[0m - a page holds as many items as its size\n# fail 1\n",
  },
  {
    ...{ kind: "edit", key: "4", status: "completed", path: "src/paging.js", added: 1, removed: 1 },
    diff: "@@\n   const first = (page - 1) * size;\n-  const last = first + size - 1;\n+  const last = first + size;\n",
  },
  {
    ...{ kind: "plan", key: "5", status: "completed" },
    todos: [
      { content: "Find the cause", status: "completed" },
      { content: "Fix it", status: "inProgress" },
      { content: "Run the tests", status: "pending" },
    ],
  },
  {
    kind: "tool",
    key: "6",
    status: "completed",
    name: "read",
    subject: "src/paging.js",
    result: "export const a = 1;\n",
  },
  {
    ...{ kind: "hook", key: "8", status: "error", event: "beforeShellExecution", outcome: "blocked", durationMs: 12 },
    ...{ hook: ".platform/hooks.json:before_shell_execution:0:0", isInSubagent: false, problem: "No deleting here." },
  },
  {
    ...{ kind: "blocked", key: "9", host: "evil.example:80" },
    text: "The sandbox blocked a connection: evil.example:80 is not in allowed_domains.",
  },
  { kind: "server", key: "10", name: "docs", text: "MCP server docs is not available (failed): it has exited." },
  { kind: "warning", key: "11", text: "This run created the git repository in vendor." },
  {
    kind: "task",
    action: "start",
    subagentId: "",
    key: "7",
    status: "running",
    description: "Review the change",
    prompt: "Read it carefully.",
  },
];

export const sampleMarkdown = `## Done

- Fixed \`src/paging.js\`: the **last** index was one too small.
- [The documentation](https://example.com) says so too.

| test | result |
|---|---|
| paging | passes |

\`\`\`js
const last = first + size;
\`\`\`
`;

export const sampleOutput =
  "\u001b[32mok 1\u001b[0m - a page\n\u001b[33mwarning\u001b[0m: \u001b[1mslow\u001b[0m\n\u001b[31mnot ok 2\u001b[0m\n";

export const samplePatch = `diff --git a/src/paging.js b/src/paging.js
--- a/src/paging.js
+++ b/src/paging.js
@@ -11,5 +11,6 @@ export function itemsOnPage(items, page, size) {
   const first = (page - 1) * size;
-  const last = first + size - 1;
+  // The end is not part of a slice.
+  const last = first + size;
   return items.slice(first, last);
 }
`;
