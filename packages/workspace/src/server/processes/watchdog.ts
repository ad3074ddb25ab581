// Ends what this process started once it is gone, even by SIGKILL: a shell that waits on a pipe.
import { type ChildProcess, spawn } from "node:child_process";
import { markerName } from "./process-variables.ts";

export interface Watchdog {
  /** Costs one small shell, once. */
  start(): void;
  /** These process groups, and no others, are to be ended. */
  guard(groups: number[]): void;
  stop(): void;
}

/** The last line read names the groups; the end of input means that we are gone. */
const script = `
while read -r line; do groups=$line; done
for group in $groups; do kill -s KILL -- "-$group"; done
for round in 1 2 3 4 5; do
  found=$(grep -lsa -e "$1" /proc/[0-9]*/environ)
  [ -n "$found" ] || exit 0
  for file in $found; do pid=\${file#/proc/}; kill -s KILL "\${pid%/environ}"; done
done
`;

export function openWatchdog(incarnation: string): Watchdog {
  let shell: ChildProcess | undefined;
  return {
    start() {
      if (shell !== undefined) return;
      shell = spawn("/bin/sh", ["-c", script, "agent-watchdog", `${markerName}=${incarnation}/`], {
        cwd: "/",
        env: { PATH: "/usr/local/bin:/usr/bin:/bin" },
        detached: true,
        stdio: ["pipe", "ignore", "ignore"],
      });
      // Without a shell there is no watchdog, and no command either: nothing to guard.
      shell.on("error", () => {});
      shell.stdin?.on("error", () => {});
      shell.unref();
      if (shell.stdin && "unref" in shell.stdin && typeof shell.stdin.unref === "function") shell.stdin.unref();
    },
    guard: (groups) => void shell?.stdin?.write(`${groups.join(" ")}\n`),
    stop() {
      shell?.kill("SIGKILL");
      shell = undefined;
    },
  };
}
