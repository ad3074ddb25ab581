// Commands about the program itself.
import type { Command } from "../../command.ts";
import { configFlags } from "../../run-flags.ts";

export const aboutCommands: Command[] = [
  {
    path: ["exit-codes"],
    takes: "",
    maxPositionals: 0,
    summary: "Print what each exit code means",
    flags: ["json"],
    load: () => import("./exit-codes.ts"),
  },
  {
    path: ["completion"],
    takes: "bash | zsh | fish",
    maxPositionals: 1,
    summary: "Print a completion script for a shell",
    flags: [],
    load: () => import("./completion.ts"),
  },
  {
    path: ["doctor"],
    takes: "",
    maxPositionals: 0,
    summary: "Show what is configured, what would fail, and how to fix it",
    flags: [...configFlags, "skip-git-repo-check", "json"],
    load: () => import("./doctor.ts"),
  },
];
