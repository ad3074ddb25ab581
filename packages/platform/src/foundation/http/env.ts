// What is known about a request while it is served.
import type { HttpBindings } from "@hono/node-server";
import type { Principal } from "../principal.ts";

export type Env = { Bindings: HttpBindings; Variables: RequestVariables };

interface RequestVariables {
  requestId: string;
  route: string;
  principal: Principal;
  /** Returned when the response ends. */
  slots: (() => void)[];
  /** Sent with a credential that was not accepted before. */
  isAttempt: boolean;
  hasWrongSecret: boolean;
  /** Shown on every page. */
  notice: string | undefined;
}
