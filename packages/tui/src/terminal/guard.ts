// Restores the terminal when the program is killed in a way that it cannot notice: a shell waits for its end.
import { spawn } from "node:child_process";
import type { WriteStream } from "node:tty";

export interface Guard {
  /** The program restores the terminal itself. */
  release(): void;
}

/** The end of its input without a word means that the program is gone. */
const script = 'read -r word; [ "$word" = released ] || { printf "$1"; stty sane <&1; }';

/** Where stty is. */
const systemDirectories = "/usr/bin:/bin:/run/current-system/sw/bin";

/** `restoring` is what is written then, as printf reads it. */
export function openGuard(terminal: WriteStream, restoring: string): Guard {
  const shell = spawn("/bin/sh", ["-c", script, "sh", restoring], {
    stdio: ["pipe", terminal, "ignore"],
    // It outlives the program: nothing that an agent may have put on PATH runs then.
    env: { PATH: systemDirectories },
    // Signals of the terminal are for the program alone.
    detached: true,
  });
  // Without a shell there is no guard.
  shell.on("error", () => {});
  shell.stdin?.on("error", () => {});
  shell.unref();
  return { release: () => void shell.stdin?.end("released\n") };
}
