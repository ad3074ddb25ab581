// A program of the host that stands for a process in a container: its streams are those of that process, and it ends with it.
// The end of its child ends what is inside, as that of the first process of a sandbox does; so does its own end.
import { spawn } from "node:child_process";
import { Socket } from "node:net";
import { carryProcess } from "@agentcli/workspace/remote";
import { openEngine } from "./engine.ts";

void main(process.argv.slice(2));

async function main([socketPath = "", container = "", inside = "[]", ...argv]: string[]): Promise<void> {
  const engine = openEngine(socketPath);
  const created = await engine.call<{ Id: string }>("POST", `/containers/${container}/exec`, {
    ...{ AttachStdin: true, AttachStdout: true, AttachStderr: true, Tty: false },
    Cmd: JSON.parse(inside),
  });
  if (created === null) return fail(`Container ${container} does not exist any more.`);
  const options = { Detach: false, Tty: false };
  const write = (data: Buffer) => void process.stderr.write(data);
  const stream = await engine.attach(`/exec/${created.Id}/start`, options, write);
  const carried = await carryProcess(
    stream,
    { argv },
    {
      stdin: process.stdin,
      stdout: new Socket({ fd: 1, readable: false, writable: true }),
      stderr: new Socket({ fd: 2, readable: false, writable: true }),
      setup: new Socket({ fd: 3, readable: true, writable: false }),
      bridge: openBridge(),
    },
  );
  // It ends with this process, because its input does.
  const handle = spawn("/bin/cat", { stdio: ["pipe", "ignore", "ignore"] });
  handle.once("exit", carried.kill);
  process.exit(await carried.ended);
}

/** Null where the process has no way out. */
function openBridge(): Socket | null {
  try {
    return new Socket({ fd: 4, readable: true, writable: true });
  } catch {
    return null;
  }
}

function fail(reason: string): never {
  process.stderr.write(`${reason}\n`);
  process.exit(1);
}
