// Selects the reply to a request: the first unused one whose `when` matches.
import type { Reply, Script } from "./script.ts";

export interface Picker {
  /** Undefined when the script has nothing left for this request. */
  next(body: string): Reply | undefined;
}

export function openScript(script: Script): Picker {
  const used = new Set<number>();
  const take = (body: string): Reply | undefined => {
    const index = script.replies.findIndex((reply, at) => !used.has(at) && fits(reply, body));
    if (index >= 0) used.add(index);
    return script.replies[index];
  };
  return {
    next(body) {
      if (script.repeat === "always") return script.replies.find((candidate) => fits(candidate, body));
      const reply = take(body);
      if (reply || script.repeat === undefined) return reply;
      if (script.repeat === "last") return script.replies.findLast((candidate) => fits(candidate, body));
      used.clear();
      return take(body);
    },
  };
}

function fits(reply: Reply, body: string): boolean {
  const text = reply.when?.bodyIncludes;
  return text === undefined || body.includes(text);
}
