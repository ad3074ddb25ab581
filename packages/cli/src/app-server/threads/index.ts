// Threads and turns of the app server.
import type { OpenPart } from "../method.ts";
import { listMethods } from "./list-methods.ts";
import { refusing } from "./refusals.ts";
import { reviewMethods } from "./review-methods.ts";
import { openTable } from "./table.ts";
import { threadMethods } from "./thread-methods.ts";
import { turnMethods } from "./turn-methods.ts";

export const openThreads: OpenPart = (host) => {
  const { program } = host;
  const table = openTable(host);
  const methods = {
    ...threadMethods(table, program),
    ...listMethods(table, host),
    ...turnMethods(table),
    ...reviewMethods(table, program),
  };
  return { methods: refusing(methods, program.scrub), close: table.close };
};
