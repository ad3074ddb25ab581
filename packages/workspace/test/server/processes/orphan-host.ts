// A host that starts processes of every kind and then waits to be killed.
import { toolEnvironment } from "../../../src/environment/tool-environment.ts";
import { openWorkspace } from "../../../src/sandbox/launch.ts";
import { sandboxPolicy } from "../../../src/sandbox/policy.ts";
import { bash, exec, freshId } from "../../support/commands.ts";

const [mode, root = "", serverProgram = "", word] = process.argv.slice(2);
const policy = sandboxPolicy({ mode: mode === "workspace-write" ? "workspace-write" : "danger-full-access", root });
const env = toolEnvironment(process.env, { home: "/" });
const workspace = await openWorkspace(policy, { serverProgram, env, incarnation: `orphans-${word}` });
const sleeper = `sh -c 'sleep 1000; : ${word}'`;
await bash(workspace, `${sleeper} & setsid ${sleeper} & true`);
await exec(workspace, { id: freshId(), start: { argv: ["bash", "-c", `${sleeper}; true`] }, waitMs: 50 });
await exec(workspace, { id: freshId(), start: { argv: ["bash", "-c", `env -i ${sleeper}; true`] }, waitMs: 50 });
process.stdout.write("ready");
setInterval(() => {}, 1000);
