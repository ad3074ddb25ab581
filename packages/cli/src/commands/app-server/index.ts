// Commands for programs that drive the agent.
import type { Command } from "../../command.ts";
import { configFlags } from "../../run-flags.ts";

export const appServerCommands: Command[] = [
  {
    path: ["acp"],
    takes: "",
    maxPositionals: 0,
    summary: "Let an editor host the agent, over the Agent Client Protocol",
    flags: [
      ...configFlags,
      "on-limit",
      "skip-git-repo-check",
      "budget",
      "search",
      "oss",
      "local-provider",
      "ignore-rules",
      "trust-hooks",
      "dangerously-bypass-hook-trust",
    ],
    load: () => import("./acp.ts"),
  },
  {
    path: ["app-server"],
    takes: "[--listen ADDRESS]",
    maxPositionals: 0,
    summary: "Let other programs drive the agent, over standard streams or WebSocket",
    flags: [
      "listen",
      "stdio",
      "ws-auth",
      "ws-token-file",
      "ws-token-sha256",
      "ws-shared-secret-file",
      "ws-issuer",
      "ws-audience",
      "ws-max-clock-skew-seconds",
      "record",
      ...configFlags,
    ],
    load: () => import("./serve.ts"),
  },
  {
    path: ["app-server", "generate-ts"],
    takes: "--out DIR",
    maxPositionals: 0,
    summary: "Write the types of the app server's protocol as TypeScript",
    flags: ["out"],
    load: () => import("./generate-ts.ts"),
  },
  {
    path: ["app-server", "generate-json-schema"],
    takes: "--out DIR",
    maxPositionals: 0,
    summary: "Write the types of the app server's protocol as JSON Schema",
    flags: ["out"],
    load: () => import("./generate-json-schema.ts"),
  },
];
