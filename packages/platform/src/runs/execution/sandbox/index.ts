// The sandboxes that agents work in.
export { awsProfile } from "./aws-profile.ts";
export { agentLimits } from "./limits.ts";
export { type AgentProbe, probeForAgents } from "./probe.ts";
export { noProxySecrets, openProxySecrets } from "./proxy-secrets.ts";
export { artifactsDirectory, openSandboxes, type Sandboxes, unfinishedRuns } from "./sandboxes.ts";
export { measureStarts } from "./starts.ts";
