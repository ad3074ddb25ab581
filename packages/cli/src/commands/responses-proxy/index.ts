// The proxy that keeps a key away from the programs that use it.
import type { Command } from "../../command.ts";

export const responsesProxyCommands: Command[] = [
  {
    path: ["responses-proxy"],
    takes: "--token-file FILE [--upstream-url URL]",
    maxPositionals: 0,
    summary: "Keep an API key away from the programs that use it",
    flags: [
      "token-file",
      "upstream-url",
      "server-info",
      "http-shutdown",
      "end-with",
      "max-body-bytes",
      "max-concurrent",
    ],
    load: () => import("./serve.ts"),
    notes: `Reads the key from standard input and serves POST /v1/responses and GET /v1/models on 127.0.0.1.
See docs/responses-proxy.md.

Example:
  printenv MY_KEY | env -u MY_KEY agentcli responses-proxy --token-file token --server-info server.json`,
  },
];
