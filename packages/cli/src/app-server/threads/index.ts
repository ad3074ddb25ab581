// Threads and turns of the app server.
import type { OpenPart } from "../method.ts";
import { refusing } from "./refusals.ts";
import { openTable } from "./table.ts";
import { threadMethods } from "./thread-methods.ts";
import { turnMethods } from "./turn-methods.ts";

export const openThreads: OpenPart = ({ program, invocation }) => {
  const table = openTable({ program, invocation });
  const methods = { ...threadMethods(table, program), ...turnMethods(table) };
  return { methods: refusing(methods, program.scrub), close: table.close };
};
