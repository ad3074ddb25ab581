// Two network namespaces of the Linux kernel with one virtual cable between them, which can be cut. What runs in the near one
// reaches nothing but the address of the far one, which leads to a Unix socket of the test. Needs `unshare`, `nsenter` and
// `ip`, and a kernel that lets this user create namespaces; no root.
import { type ChildProcess, execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { promisify } from "node:util";

export interface NetworkNamespaces {
  /** As the near side reaches it. */
  url: string;
  /** Before a command: runs it in the near namespace, with the same process id. */
  prefix: string[];
  /** No packet passes, in either direction. */
  cut(): Promise<void>;
  restore(): Promise<void>;
  close(): Promise<void>;
}

const [farAddress, nearAddress, port] = ["10.213.0.1", "10.213.0.2", 8080];

/** Passes bytes between its address and the socket, and prints a line once it does. */
const bridge = `
const { connect, createServer } = require("node:net");
const server = createServer((near) => {
  const far = connect(process.argv[1]);
  for (const [from, to] of [[near, far], [far, near]]) {
    from.on("error", () => {}).on("close", () => to.destroy());
    from.pipe(to);
  }
});
process.stdin.once("data", () => server.listen(${port}, "${farAddress}", () => console.log("ready")));
console.log("started");
`;

export async function openNetworkNamespaces(socketPath: string): Promise<NetworkNamespaces> {
  const far = await start("unshare", ["--map-root-user", "--net", process.execPath, "-e", bridge, socketPath]);
  const farPrefix = enter(far.pid);
  const near = await start(...split([...farPrefix, "unshare", "--net", "sh", "-c", "echo started; exec sleep 3600"]));
  const prefix = enter(near.pid);
  const inFar = (...words: string[]) => execute([...farPrefix, "ip", ...words]);
  const inNear = (...words: string[]) => execute([...prefix, "ip", ...words]);
  await inFar("link", "add", "name", "far", "type", "veth", "peer", "name", "near", "netns", String(near.pid));
  await inFar("address", "add", `${farAddress}/24`, "dev", "far");
  await inNear("address", "add", `${nearAddress}/24`, "dev", "near");
  await inFar("link", "set", "far", "up");
  for (const device of ["lo", "near"]) await inNear("link", "set", device, "up");
  const listening = once(far.stdout ?? far, "data");
  far.stdin?.write("listen\n");
  await listening;
  return {
    url: `http://${farAddress}:${port}`,
    prefix,
    cut: () => inFar("link", "set", "far", "down"),
    restore: () => inFar("link", "set", "far", "up"),
    async close() {
      for (const child of [near, far]) {
        const exited = once(child, "exit");
        child.kill("SIGKILL");
        await exited;
      }
    },
  };
}

const enter = (pid: number | undefined): string[] => [
  ...["nsenter", "--target", String(pid), "--user", "--net", "--preserve-credentials"],
];

const split = ([program = "", ...args]: string[]): [string, string[]] => [program, args];

/** Settles with its first line: it is in its namespaces then. */
async function start(program: string, args: string[]): Promise<ChildProcess> {
  const child = spawn(program, args, { stdio: ["pipe", "pipe", "pipe"] });
  let problem = "";
  child.stderr.setEncoding("utf8").on("data", (text: string) => {
    problem += text;
  });
  const ended = once(child, "exit").then(() => {
    throw new Error(`This machine lets no test create network namespaces: ${program}: ${problem.trim()}`);
  });
  ended.catch(() => {});
  await Promise.race([once(child.stdout, "data"), ended]);
  return child;
}

const execute = async (argv: string[]): Promise<void> => {
  await promisify(execFile)(...split(argv));
};
