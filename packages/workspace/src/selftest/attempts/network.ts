// Attempts to reach something over a network or a socket.
import { connect } from "node:net";
import type { Chunk } from "@agentcli/protocol";
import { type Attempt, type AttemptContext, printsSecret, printsSucceeded, runScript, whileOpen } from "../attempt.ts";
import { connectTo, node, numberOf, perl } from "../snippets.ts";

const openSocket = (name: string, family: number, type: number): Attempt => ({
  name,
  run: runScript(() => perl(`socket(my $s, ${family}, ${type}, 0) and print "SUCCEEDED\\n"`)),
  escaped: printsSucceeded,
  control: "never",
});

export const onNetwork: Attempt[] = [
  {
    name: "reach a server on the machine's loopback",
    run: runScript(({ port }) => `cat < /dev/tcp/127.0.0.1/${port}; ${connectTo(port)}`),
    escaped: printsSecret,
    control: "harmless",
  },
  {
    name: "send a datagram to the machine",
    run: runScript(
      ({ datagrams, word }) =>
        `echo ${word} > /dev/udp/127.0.0.1/${datagrams.port}; ${node(`const s = require("dgram").createSocket("udp4"); s.on("error", () => {}); s.send("${word}", ${datagrams.port}, "127.0.0.1", () => s.close())`)}`,
    ),
    escaped: whileOpen(({ datagrams, word }) => arrives(() => datagrams.received.some((text) => text.includes(word)))),
    control: "harmless",
  },
  {
    name: "ask a name server",
    run: runScript(() => node(lookups)),
    escaped: printsSucceeded,
    control: "never",
  },
  {
    name: "reach the internet by address",
    run: runScript(() =>
      ["1.1.1.1", "8.8.8.8", "169.254.169.254"]
        .map((host) => `timeout 1 bash -c 'echo > /dev/tcp/${host}/80' && echo SUCCEEDED`)
        .join("; "),
    ),
    escaped: printsSucceeded,
    control: "never",
  },
  {
    name: "open a port of the machine",
    run: listenOnPort,
    escaped: printsSucceeded,
    ownSandbox: true,
    control: "harmless",
  },
  {
    name: "reach an abstract socket of the machine",
    run: runScript(({ abstractName }) => connectTo(abstractName)),
    escaped: printsSecret,
    control: "harmless",
  },
  {
    name: "reach an abstract socket of the machine over a shared network",
    network: "on",
    run: runScript(({ abstractName }) => connectTo(abstractName)),
    escaped: printsSecret,
    control: "harmless",
  },
  {
    name: "use the agent that holds the user's keys",
    run: runScript(({ agentSocket }) => connectTo(agentSocket)),
    escaped: printsSecret,
    control: "harmless",
  },
  {
    name: "use the socket of a container engine",
    run: runScript(({ engineSocket }) => connectTo(engineSocket)),
    escaped: printsSecret,
    control: "harmless",
  },
  {
    name: "use the socket of a container engine over a shared network",
    network: "on",
    run: runScript(({ engineSocket }) => connectTo(engineSocket)),
    escaped: printsSecret,
    control: "harmless",
  },
  {
    name: "use a server of its own host over a shared network",
    network: "on",
    run: runScript(({ guardedPort }) => connectTo(guardedPort)),
    escaped: printsSecret,
    control: "harmless",
  },
  {
    name: "use a server of its own host from a process that hides its descriptors",
    network: "on",
    run: runScript(({ guardedPort }) => perl(`syscall(${setProcessOption}, 4, 0); ${readPort(guardedPort)}`)),
    escaped: printsSecret,
    control: "never",
  },
  {
    name: "open a pair of sockets that can send to others than each other",
    run: runScript(() => perl('socketpair(my $one, my $other, 1, 2, 0) and print "SUCCEEDED\\n"')),
    escaped: printsSucceeded,
    control: "harmless",
  },
  openSocket("open a socket to the hypervisor", 40, 1),
  openSocket("open a socket to the raw network", 17, 3),
  openSocket("open a socket to the kernel's ciphers", 38, 5),
  openSocket("open a raw socket of the internet protocol", 2, 3),
  {
    name: "change the network of the machine it shares",
    network: "on",
    // Adds the address the loopback has already.
    run: runScript(() => "ip address add 127.0.0.1/8 dev lo 2>&1 | grep -q exists && echo SUCCEEDED"),
    escaped: printsSucceeded,
    control: "never",
  },
];

const setProcessOption = numberOf({ x64: 157, arm64: 167 });

const readPort = (port: number) =>
  `socket(my $s, 2, 1, 0); connect($s, pack("S n C4 x8", 2, ${port}, 127, 0, 0, 1)); print <$s>`;

/** Any answer is an answer, also that there is no such name. */
const lookups = `const dns = require("dns"); const resolver = new dns.Resolver({ timeout: 500, tries: 1 });
  const answers = ["ENOTFOUND", "ESERVFAIL", "EREFUSED", "ENODATA", undefined];
  resolver.resolve4("example.com", (error) => { if (answers.includes(error?.code)) console.log("SUCCEEDED"); });`;

/** A datagram may still be on its way. */
async function arrives(isThere: () => boolean): Promise<boolean> {
  for (let round = 0; round < 20 && !isThere(); round += 1) await new Promise((resolve) => setTimeout(resolve, 10));
  return isThere();
}

/** Something inside listens until the machine has tried to reach it. */
async function listenOnPort({ workspace, fixture }: AttemptContext): Promise<string> {
  // Below those the kernel gives out: connecting to a free one of them may meet itself.
  const port = 20_000 + (fixture.port % 10_000);
  const server = `require("net").createServer((c) => c.end("SUCCEEDED")).listen(${port}, "0.0.0.0", () => console.log("listening"))`;
  const stop = new AbortController();
  const tries: Promise<string>[] = [];
  const tryOnce = ({ text }: Chunk) => {
    if (text.includes("listening")) tries.push(readFromPort(port).finally(() => stop.abort()));
  };
  await workspace.exec({ id: "listen", start: { argv: ["bash", "-c", node(server)] } }, tryOnce, stop.signal);
  return (await Promise.all(tries)).join();
}

function readFromPort(port: number): Promise<string> {
  return new Promise((resolve) => {
    const socket = connect(port, "127.0.0.1");
    let received = "";
    socket.on("data", (data) => {
      received += data.toString();
    });
    socket.on("error", () => {});
    socket.on("close", () => resolve(received));
  });
}
