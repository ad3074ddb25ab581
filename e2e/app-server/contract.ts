// Checks messages of the app server against the method table; throws where one does not fit.
import { clientRequests, serverNotifications, serverRequests } from "@agentcli/protocol/app-server";
import type { z } from "zod";

interface ServerMessage {
  id?: string | number;
  method?: string;
  params?: unknown;
  result?: unknown;
}

/** `asked` is the method of the request that the message answers, if any. */
export function checkMessage({ id, method, params, result }: ServerMessage, asked: string | undefined): void {
  if (method === undefined) {
    if (asked !== undefined && result !== undefined) check(asked, tableOf(clientRequests)[asked]?.result, result);
  } else if (id === undefined) check(method, tableOf(serverNotifications)[method], params);
  else check(method, tableOf(serverRequests)[method]?.params, params);
}

const tableOf = <Row>(table: Record<string, Row>): Record<string, Row | undefined> => table;

function check(method: string, schema: z.ZodType | undefined, value: unknown): void {
  const problem = schema ? schema.safeParse(value).error?.message : "it is not in the table";
  if (problem) throw new Error(`${method}: ${problem}\n${JSON.stringify(value)}`);
}
