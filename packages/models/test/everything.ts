// One request that uses all there is, for the tests of each wire.
import type { ModelRequest } from "@agentcli/engine";

const image = { type: "image", url: "data:image/png;base64,AA==" } as const;
const text = (value: string) => ({ type: "text" as const, text: value });

/** A request with everything that every wire has to carry. */
export const everything: Partial<ModelRequest> = {
  effort: "high",
  verbosity: "low",
  maxOutputTokens: 900,
  outputSchema: { type: "object" },
  tools: [
    { form: "function", name: "exec_command", description: "Run", parameters: { type: "object" } },
    {
      form: "freeform",
      name: "apply_patch",
      description: "Patch",
      grammar: { syntax: "lark", definition: "start: x" },
    },
  ],
  messages: [
    { role: "developer", parts: [text("Rules")] },
    { role: "user", parts: [text("Look"), { ...image, detail: "original", name: "shot.png" }] },
    {
      role: "assistant",
      blocks: [
        { type: "reasoning", summary: [], text: "Hm", wireId: "rs_1" },
        { type: "message", text: "Looking" },
        { type: "call", wireId: "call_1", name: "view_image", form: "function", input: '{"path":"a.png"}' },
        { type: "call", wireId: "call_2", name: "apply_patch", form: "freeform", input: "*** Begin Patch" },
      ],
    },
    { role: "tool", wireId: "call_1", form: "function", parts: [image] },
    { role: "tool", wireId: "call_2", form: "freeform", parts: [text("done"), text("twice")], failed: true },
    { role: "developer", parts: [text("More rules")] },
    { role: "user", parts: [text("And?")] },
  ],
};
