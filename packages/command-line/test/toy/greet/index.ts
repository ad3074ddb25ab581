// Commands about greetings: the table entries of one noun.
import type { Command } from "@agentcli/command-line";

export const greetCommands: Command<"loud" | "help" | "version", { print(text: string): void }>[] = [
  {
    path: ["greet", "person"],
    takes: "NAME",
    maxPositionals: 1,
    summary: "Greet a person",
    flags: ["loud"],
    load: () => import("./person.ts"),
  },
];
