// Commands about sessions and their cost.
import type { Command } from "../../command.ts";

export const sessionsCommands: Command[] = [
  {
    path: ["sessions", "name"],
    takes: "ID NAME",
    maxPositionals: 2,
    summary: "Name a session",
    flags: [],
    load: () => import("./name.ts"),
  },
  {
    path: ["sessions", "delete"],
    takes: "ID… | --older-than AGE",
    maxPositionals: Number.MAX_SAFE_INTEGER,
    summary: "Remove sessions",
    flags: ["older-than", "force"],
    load: () => import("./delete.ts"),
  },
  {
    path: ["sessions", "export"],
    takes: "ID",
    maxPositionals: 1,
    summary: "Write a session as JSON lines or Markdown",
    flags: ["format", "output-last-message"],
    load: () => import("./export.ts"),
  },
  {
    path: ["sessions", "show"],
    takes: "ID",
    maxPositionals: 1,
    summary: "Show the messages and actions of a session",
    flags: ["color"],
    load: () => import("./show.ts"),
  },
  {
    path: ["sessions", "list"],
    aliases: [["sessions"]],
    takes: "",
    maxPositionals: 0,
    summary: "List the newest sessions of this directory",
    flags: ["all", "json", "limit"],
    load: () => import("./list.ts"),
  },
  {
    path: ["cost"],
    takes: "",
    maxPositionals: 0,
    summary: "Show what sessions cost, by model, tag or day",
    flags: ["since", "by", "cache", "json"],
    load: () => import("./cost.ts"),
  },
];
