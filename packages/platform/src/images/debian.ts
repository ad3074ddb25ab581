// The base image from Debian packages, made by mmdebstrap.
import type { ImageCommand } from "./make.ts";
import { requireTool } from "./tools.ts";

export interface DebianOptions {
  /** Beside the usual ones. */
  packages: string[];
  suite: string;
  mirror: string | null;
}

/** What agents expect of a computer. */
const usualPackages = [
  ...["ca-certificates", "curl", "git", "openssh-client", "build-essential", "pkg-config"],
  ...["nodejs", "npm", "python3", "python3-venv", "python3-pip", "golang-go"],
  ...["tmux", "oathtool", "ripgrep", "procps", "less", "jq", "unzip", "xz-utils"],
];

/** Throws ImageFault without mmdebstrap. */
export function debianCommand({ packages, suite, mirror }: DebianOptions): ImageCommand {
  requireTool("mmdebstrap", "A base image from Debian packages");
  const include = [...new Set([...usualPackages, ...packages])].join(",");
  const mode = process.geteuid?.() === 0 ? "root" : "unshare";
  const options = [`--mode=${mode}`, "--variant=apt", "--format=tar", `--include=${include}`];
  return {
    // It ends with the server.
    argv: ["setpriv", "--pdeathsig", "KILL", "--", "mmdebstrap", ...options, suite, "-", ...(mirror ? [mirror] : [])],
    purpose: "mmdebstrap",
  };
}

export const describeDebian = ({ packages, suite }: DebianOptions): string =>
  `Debian ${suite}${packages.length > 0 ? ` with ${packages.join(", ")}` : ""}`;
