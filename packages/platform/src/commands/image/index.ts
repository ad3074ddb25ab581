// Commands about images that machines begin with.
import type { Command } from "../command.ts";
import { settingFlags } from "../flags.ts";

export const imageCommands: Command[] = [
  {
    path: ["image", "build"],
    takes: "[--packages NAMES] [--tar FILE] [--dockerfile FILE]",
    maxPositionals: 0,
    summary: "Make the base image of machines from Debian packages, a tar archive or a Dockerfile",
    flags: [...settingFlags, "packages", "suite", "mirror", "tar", "dockerfile", "context"],
    load: () => import("./build.ts"),
    notes:
      "New builds of environments begin with it. From Debian packages it has git, build tools, Node, Python, Go, tmux, oathtool and ripgrep; add more with --packages, such as chromium.",
  },
  {
    path: ["image", "list"],
    takes: "",
    maxPositionals: 0,
    summary: "List the images, newest first; * marks the base",
    flags: [...settingFlags, "json"],
    load: () => import("./list.ts"),
  },
];
