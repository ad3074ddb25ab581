// Commands about the saved login.
import type { Command } from "../../command.ts";

export const loginCommands: Command[] = [
  {
    path: ["logout"],
    takes: "",
    maxPositionals: 0,
    summary: "Remove the saved login",
    flags: [],
    load: () => import("./logout.ts"),
  },
  {
    path: ["login", "status"],
    takes: "",
    maxPositionals: 0,
    summary: "Show which credential a run would use (exit code 1: none)",
    flags: ["config"],
    load: () => import("./status.ts"),
  },
  {
    path: ["login"],
    takes: "",
    maxPositionals: 0,
    summary: "Save an API key for later runs",
    flags: ["with-api-key", "api-key"],
    load: () => import("./login.ts"),
  },
];
