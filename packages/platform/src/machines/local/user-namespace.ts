// User namespaces with many ids. A process holds one open until others have entered it.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { writeFileSync } from "node:fs";

/** How many ids a machine has. */
export const rangeSize = 65_536;

export interface UserNamespace {
  /** The file that others enter it by. */
  path: string;
  close(): void;
}

/** Only root can map ids that are not its own. The holder ends with this process. */
export async function openUserNamespace(inside: number, outside: number): Promise<UserNamespace> {
  const holder = spawn("/usr/bin/unshare", ["--user", "/bin/sh", "-c", "echo; read line"], {
    cwd: "/",
    env: {},
    stdio: ["pipe", "pipe", "ignore"],
  });
  holder.stdin.on("error", () => {});
  const exited = once(holder, "close").then(() => {
    throw new Error("A user namespace could not be created with unshare --user.");
  });
  exited.catch(() => {});
  await Promise.race([once(holder.stdout, "data"), exited]);
  for (const kind of ["uid", "gid"])
    writeFileSync(`/proc/${holder.pid}/${kind}_map`, `${inside} ${outside} ${rangeSize}`);
  return { path: `/proc/${holder.pid}/ns/user`, close: () => void holder.stdin.end() };
}

/** Runs a command as root of the namespace. */
export const enterAsRoot = ({ path }: Pick<UserNamespace, "path">, argv: string[]): string[] => [
  ...["nsenter", `--user=${path}`, "--setuid=0", "--setgid=0", "--"],
  ...argv,
];
