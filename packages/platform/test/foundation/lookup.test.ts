// Addresses that were checked, and that cannot be reached.
import { once } from "node:events";
import { request as plainRequest } from "node:http";
import { request as secureRequest } from "node:https";
import { expect, test } from "vitest";
import { checkedAddresses } from "../../src/foundation/index.ts";

/** The kernel refuses to connect to it at once, as to an IPv6 address where there is no route. */
const unreachable = "255.255.255.255";

test.each([
  ["http", plainRequest],
  ["https", secureRequest],
])("an address that fails at once is an error of its %s request, not of the server", async (_scheme, request) => {
  for (const agent of [false as const, undefined]) {
    const sent = request({ hostname: "receiver.test", port: 9999, agent, lookup: checkedAddresses([unreachable]) });
    sent.end();
    const [error] = await once(sent, "error").catch((problem) => [problem]);
    expect(error).toMatchObject({ syscall: "connect" });
  }
});

test("without an address the request fails, too", async () => {
  const sent = plainRequest({ hostname: "receiver.test", agent: false, lookup: checkedAddresses([]) });
  sent.end();
  await expect(once(sent, "response")).rejects.toThrow("there is no address");
});
