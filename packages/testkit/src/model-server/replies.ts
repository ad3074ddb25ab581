// Short names for the replies that tests use most.
import type { PlainReply, Reply, ScriptedCall } from "./script.ts";

export const replyWith = (message: string, more: PlainReply = {}): Reply => ({ messages: [message], ...more });

export const call = (name: string, args: ScriptedCall["arguments"], more: PlainReply = {}): Reply => ({
  calls: [{ name, arguments: args }],
  ...more,
});

export const freeform = (name: string, input: string, more: PlainReply = {}): Reply => ({
  calls: [{ name, arguments: input, freeform: true }],
  ...more,
});

export const fault = (status: number, more: Omit<Extract<Reply, { status: number }>, "status"> = {}): Reply => ({
  status,
  ...more,
});

export const cut = (cutAfter: number | "half", message = "a reply that breaks off"): Reply => ({
  messages: [message],
  cutAfter,
});

export const stall = (where: "before-headers" | "after-headers" | number): Reply => ({
  messages: ["a reply that stops"],
  stall: where,
});

export const fail = (code: string, message: string): Reply => ({ failed: { code, message } });

export const garbage = (body: string, contentType?: string): Reply => ({
  garbage: body,
  ...(contentType === undefined ? {} : { contentType }),
});

export const incomplete = (reason: string): Reply => ({ messages: ["a reply that is too long"], incomplete: reason });
