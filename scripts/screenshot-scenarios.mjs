// What is on the pictures of the terminal interface. Each scenario: how wide the terminal is, what the model replies, the arguments of the program, which keys are
// typed once a text is shown, and the texts that are there when the picture is taken.

const call = (name, args) => ({ calls: [{ name, arguments: args }] });
const when = (bodyIncludes, reply) => ({ ...reply, when: { bodyIncludes } });

const prompt = "each item counts once, not as often as ordered";
const idle = "Ask for a change";

const patch = `*** Begin Patch
*** Update File: src/price.ts
@@
 export function total(items: Item[]): number {
-  return items.reduce((sum, item) => sum + item.price, 0);
+  return items.reduce((sum, { price, count }) => sum + price * count, 0);
 }
*** End Patch`;

const plan = (...states) =>
  call("update_plan", {
    plan: [
      { step: "Find where totals are added up", status: "completed" },
      { step: "Count each item as often as it was ordered", status: states[0] },
      { step: "Run the tests", status: states[1] },
    ],
  });

const summary = `# Done

\`total\` counts each item as often as it was **ordered**.

| file | change |
| --- | --- |
| src/price.ts | multiplies by \`count\` |
| test/price.test.ts | two items of one kind, and none |

\`\`\`ts
total([{ price: 2, count: 3 }]); // 6
\`\`\`

1. Nothing else was changed
2. The tests pass: see [the guide](https://example.com/guide)`;

const push = {
  cmd: "git push origin fix-totals",
  sandbox_permissions: "require_escalated",
  justification: "Pushing needs the network, which the sandbox does not have.",
  prefix_rule: ["git", "push"],
};

const endless = { cmd: "echo reading src/price.ts; echo reading src/order.ts; sleep 600", yield_time_ms: 600_000 };

export const scenarios = {
  transcript: {
    columns: 120,
    args: [prompt],
    replies: {
      replies: [
        plan("in_progress", "pending"),
        call("exec_command", { cmd: "grep -rn total src" }),
        call("apply_patch", { input: patch }),
        plan("completed", "completed"),
        { messages: [summary] },
      ],
    },
    shows: ["The tests pass", "Plan 3/3", idle],
  },
  streaming: {
    columns: 80,
    args: [prompt],
    replies: {
      replies: [plan("in_progress", "pending"), { messages: [summary], deltas: 40, stall: 30 }],
    },
    shows: ["multiplies by", "Esc interrupts"],
  },
  approval: {
    columns: 120,
    args: [prompt],
    replies: { replies: [plan("completed", "in_progress"), call("exec_command", push)] },
    shows: "No, and stop",
  },
  rule: {
    columns: 120,
    args: [prompt],
    replies: {
      replies: [call("exec_command", { cmd: "git push --dry-run origin fix-totals" }), call("exec_command", push)],
    },
    keys: [["No, and stop", "r"]],
    shows: "Always allow",
  },
  hunks: {
    columns: 80,
    args: ["--sandbox", "read-only", prompt],
    replies: {
      replies: [
        call("apply_patch", { input: patch.replace("\n*** End Patch", "\n@@\n-// end\n+// the end\n*** End Patch") }),
      ],
    },
    keys: [["hunk by hunk", "h"]],
    shows: "Hunk 1 of 2",
  },
  agents: {
    columns: 120,
    args: ["let two agents look at prices and orders"],
    replies: {
      replies: [
        when("You do one piece of a larger task", call("exec_command", endless)),
        when("agent_id", call("wait_agent", { targets: ["worker"], timeout_ms: 600_000 })),
        {
          calls: [
            { name: "spawn_agent", arguments: { message: "Find every use of price in src", agent_type: "worker" } },
            { name: "spawn_agent", arguments: { message: "Find out how orders are counted", agent_type: "worker" } },
          ],
        },
      ],
      repeat: "always",
    },
    keys: [["running echo", "also look at the stock\t"]],
    shows: ["running echo", "queued"],
  },
  commands: { columns: 80, args: [], replies: { replies: [] }, keys: [["on-request", "/"]], shows: "/model" },
  files: {
    columns: 80,
    args: [],
    replies: { replies: [] },
    keys: [["on-request", "why does @pri"]],
    shows: "test/price.test.ts",
  },
  resume: {
    columns: 80,
    args: ["resume"],
    earlier: [prompt, "write a test for orders without items", "why is the stock negative after a return?"],
    replies: { replies: [{ messages: ["Done."] }], repeat: "always" },
    shows: ["Resume", "❯", "write a test"],
  },
};
