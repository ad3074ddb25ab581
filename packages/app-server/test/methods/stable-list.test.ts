import { rpcCodes } from "@agentcli/protocol/app-server/codes";
import { expect, onTestFinished, test } from "vitest";
import { openAgent } from "../../../cli/src/app-server/agent.ts";
import { dispatch } from "../../src/dispatch/dispatch.ts";
import type { Host, Methods } from "../../src/method.ts";
import { parts } from "../../src/parts.ts";
import { testClient, testProgram } from "./harness.ts";

/** Every request of the stable interface, as its clients know it. */
const stable = `initialize
thread/start thread/resume thread/fork thread/read thread/list thread/loaded/list thread/archive thread/unarchive
thread/delete thread/unsubscribe thread/name/set thread/metadata/update thread/rollback thread/compact/start
thread/inject_items thread/shellCommand thread/section/move thread/approveGuardianDeniedAction thread/goal/set
thread/goal/get thread/goal/clear threadSection/list threadSection/create threadSection/update threadSection/delete
turn/start turn/steer turn/interrupt review/start model/list modelProvider/capabilities/read permissionProfile/list
experimentalFeature/list experimentalFeature/enablement/set skills/list skills/config/write skills/extraRoots/set
hooks/list config/read config/value/write config/batchWrite config/mcpServer/reload configRequirements/read
account/read account/login/start account/login/cancel account/logout account/rateLimits/read account/usage/read
account/rateLimitResetCredit/consume account/workspaceMessages/read account/sendAddCreditsNudgeEmail
command/exec command/exec/write command/exec/resize command/exec/terminate fs/readFile fs/writeFile
fs/createDirectory fs/getMetadata fs/readDirectory fs/remove fs/copy fs/watch fs/unwatch fuzzyFileSearch
mcpServerStatus/list mcpServer/oauth/login mcpServer/resource/read mcpServer/tool/call app/list app/read app/installed
plugin/list plugin/read plugin/installed plugin/install plugin/uninstall plugin/skill/read marketplace/add
marketplace/remove marketplace/upgrade externalAgentConfig/detect externalAgentConfig/import feedback/upload
windowsSandbox/readiness windowsSandbox/setupStart`.split(/\s+/);

/** Threads are not rewritten from outside. */
const notYet = ["thread/metadata/update", "thread/rollback", "thread/inject_items", "thread/shellCommand"];

/** Have no meaning here: there are no plugins, no provider quotas and no feedback uploads. */
const meaningless =
  /^(thread\/(section|goal|approveG)|threadSection|permissionProfile|experimentalFeature\/enablement|skills\/extraRoots|account\/(rateLimit|usage|workspace|send)|app\/|plugin|marketplace|externalAgent|feedback|windows)/;

async function openEvery(): Promise<Methods[]> {
  const program = await testProgram({});
  const invocation = { positionals: [], has: () => false, text: () => undefined, list: () => [] };
  const agent = openAgent(invocation, program);
  const host: Host = { program, agent, clients: () => [], broadcast: () => {} };
  const opened = parts.map((open) => open(host));
  onTestFinished(async () => void (await Promise.all(opened.map((part) => part.close()))));
  return opened.map(({ methods }) => methods);
}

test("every method of the stable list is implemented, or refused by its name", async () => {
  const methods: Methods = Object.assign({}, ...(await openEvery()));
  const call = { afterwards: () => {}, signal: new AbortController().signal };
  const refusals = stable
    .filter((method) => !(method in methods))
    .map((method) => {
      try {
        return { method, answer: dispatch(methods, { method, params: {}, client: testClient(0), call }) };
      } catch (error) {
        return { method, error };
      }
    });
  for (const { method, error } of refusals)
    expect(error).toMatchObject({ code: rpcCodes.methodNotFound, message: `${method} is not supported by agentcli.` });
  // The handshake is the connection's own.
  const refused = refusals.map(({ method }) => method).filter((method) => method !== "initialize");
  expect(refused.filter((method) => !meaningless.test(method) && !notYet.includes(method))).toEqual([]);
  expect(Object.keys(methods).filter((method) => !stable.includes(method))).toEqual([]);
});

test("no two parts implement the same method", async () => {
  const names = (await openEvery()).flatMap((methods) => Object.keys(methods));
  expect(names.length).toBe(new Set(names).size);
});
