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
  },
];
