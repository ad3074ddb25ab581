// Stops the processes of a machine where there is no control group: with signals, until a look finds no new ones.
import { readdirSync, readFileSync } from "node:fs";

export function signalTree(pid: number, signal: "SIGSTOP" | "SIGCONT"): void {
  const signalled = new Set<number>();
  for (let found = newIn(pid, signalled); found.length > 0; found = newIn(pid, signalled)) {
    for (const each of found) {
      signalled.add(each);
      try {
        process.kill(each, signal);
      } catch {
        // It ended in between.
      }
    }
  }
}

const newIn = (pid: number, known: Set<number>) => descendants(pid).filter((each) => !known.has(each));

function descendants(pid: number): number[] {
  const children = childrenOf(pid);
  return [...children, ...children.flatMap(descendants)];
}

function childrenOf(pid: number): number[] {
  try {
    const threads = readdirSync(`/proc/${pid}/task`);
    return threads.flatMap((thread) =>
      readFileSync(`/proc/${pid}/task/${thread}/children`, "utf8").split(" ").filter(Boolean).map(Number),
    );
  } catch {
    return [];
  }
}
