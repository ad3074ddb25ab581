// Finds the method of a request and passes it validated params, or refuses with the reason.
import {
  clientRequests,
  experimentalMethods,
  type MethodName,
  unsupportedMethods,
} from "@agentcli/protocol/app-server";
import { rpcCodes } from "@agentcli/protocol/app-server/codes";
import { type Call, type Client, invalidRequest, type Methods, RpcError, unsupported } from "../method.ts";
import { explainIssues, type Issue } from "./issues.ts";

/** A request before it reaches its method. */
export interface Errand {
  method: string;
  params: unknown;
  client: Client;
  call: Call;
}

/** Returns what the method returns; throws RpcError where there is none or the params do not fit. */
export function dispatch(methods: Methods, { method, params, client, call }: Errand): unknown {
  if (!isMethod(method)) throw refusalOf(method, client);
  const execute = methods[method] as ((params: unknown, client: Client, call: Call) => unknown) | undefined;
  if (!execute) throw unsupported(method);
  return execute(checkParams(method, params), client, call);
}

export const isMethod = (method: string): method is MethodName => Object.hasOwn(clientRequests, method);

/** The params validated against the table; unknown members are dropped. */
export function checkParams(method: MethodName, params: unknown): unknown {
  const checked = judge(method, params ?? {});
  if (checked.success) return checked.data;
  throw invalidRequest(`Invalid request: ${explainIssues(checked.error.issues as Issue[], params ?? {})}`);
}

function judge(method: MethodName, params: unknown) {
  try {
    return clientRequests[method].params.safeParse(params);
  } catch (error) {
    if (error instanceof RangeError) throw invalidRequest(`Invalid request: the params of ${method} nest too deeply`);
    throw error;
  }
}

function refusalOf(method: string, client: Client): Error {
  const isExperimental = experimentalMethods.some((known) =>
    known.endsWith("*") ? method.startsWith(known.slice(0, -1)) : method === known,
  );
  if (isExperimental)
    return client.wantsExperimental
      ? unsupported(method)
      : invalidRequest(`${method} requires experimentalApi capability`);
  if ((unsupportedMethods as readonly string[]).includes(method)) return unsupported(method);
  return new RpcError(rpcCodes.methodNotFound, `Method not found: ${method.slice(0, 200)}`);
}
