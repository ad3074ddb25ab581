// Short words for the replies tests script most often.
import type { Answer, Reply, ScriptedCall } from "./script.ts";

export const say = (message: string, more: Answer = {}): Reply => ({ messages: [message], ...more });

export const call = (name: string, args: ScriptedCall["arguments"], more: Answer = {}): Reply => ({
  calls: [{ name, arguments: args }],
  ...more,
});

export const freeform = (name: string, input: string, more: Answer = {}): Reply => ({
  calls: [{ name, arguments: input, freeform: true }],
  ...more,
});

export const fault = (status: number, more: Omit<Extract<Reply, { status: number }>, "status"> = {}): Reply => ({
  status,
  ...more,
});

export const cut = (cutAfter: number | "half", message = "an answer that breaks off"): Reply => ({
  messages: [message],
  cutAfter,
});

export const stall = (where: "before-headers" | "after-headers" | number): Reply => ({
  messages: ["an answer that stops"],
  stall: where,
});

export const fail = (code: string, message: string): Reply => ({ failed: { code, message } });

export const garbage = (body: string, contentType?: string): Reply => ({
  garbage: body,
  ...(contentType === undefined ? {} : { contentType }),
});

export const incomplete = (reason: string): Reply => ({ messages: ["an answer that is too long"], incomplete: reason });
