// Attempts to reach something over a network or a socket.
import { connect } from "node:net";
import { type Attempt, byScript, type Inside, printsSecret, saysSo, seen } from "../attempt.ts";
import { connectTo, node, perl } from "../snippets.ts";

const openSocket = (name: string, family: number, type: number): Attempt => ({
  name,
  carryOut: byScript(() => perl(`socket(my $s, ${family}, ${type}, 0) and print "SUCCEEDED\\n"`)),
  escaped: saysSo,
  control: "never",
});

export const onNetwork: Attempt[] = [
  {
    name: "reach a server on the machine's loopback",
    carryOut: byScript(({ port }) => `cat < /dev/tcp/127.0.0.1/${port}; ${connectTo(port)}`),
    escaped: printsSecret,
    control: "harmless",
  },
  {
    name: "send a datagram to the machine",
    carryOut: byScript(
      ({ datagrams, word }) =>
        `echo ${word} > /dev/udp/127.0.0.1/${datagrams.port}; ${node(`const s = require("dgram").createSocket("udp4"); s.on("error", () => {}); s.send("${word}", ${datagrams.port}, "127.0.0.1", () => s.close())`)}`,
    ),
    escaped: seen(({ datagrams, word }) => arrives(() => datagrams.received.some((text) => text.includes(word)))),
    control: "harmless",
  },
  {
    name: "ask a name server",
    carryOut: byScript(() => node(lookups)),
    escaped: saysSo,
    control: "never",
  },
  {
    name: "reach the internet by address",
    carryOut: byScript(() =>
      ["1.1.1.1", "8.8.8.8", "169.254.169.254"]
        .map((host) => `timeout 1 bash -c 'echo > /dev/tcp/${host}/80' && echo SUCCEEDED`)
        .join("; "),
    ),
    escaped: saysSo,
    control: "never",
  },
  {
    name: "open a port of the machine",
    carryOut: offerPort,
    escaped: saysSo,
    alone: true,
    control: "harmless",
  },
  {
    name: "reach an abstract socket of the machine",
    carryOut: byScript(({ abstractName }) => connectTo(abstractName)),
    escaped: printsSecret,
    control: "harmless",
  },
  {
    name: "reach an abstract socket of the machine over a shared network",
    network: "on",
    carryOut: byScript(({ abstractName }) => connectTo(abstractName)),
    escaped: printsSecret,
    control: "harmless",
  },
  {
    name: "use the agent that holds the user's keys",
    carryOut: byScript(({ agentSocket }) => connectTo(agentSocket)),
    escaped: printsSecret,
    control: "harmless",
  },
  {
    name: "use the socket of a container engine",
    carryOut: byScript(({ engineSocket }) => connectTo(engineSocket)),
    escaped: printsSecret,
    control: "harmless",
  },
  {
    name: "use the socket of a container engine over a shared network",
    network: "on",
    carryOut: byScript(({ engineSocket }) => connectTo(engineSocket)),
    escaped: printsSecret,
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
    carryOut: byScript(() => "ip address add 127.0.0.1/8 dev lo 2>&1 | grep -q exists && echo SUCCEEDED"),
    escaped: saysSo,
    control: "never",
  },
];

/** Any answer is an answer, also that there is no such name. */
const lookups = `const dns = require("dns"); const resolver = new dns.Resolver({ timeout: 500, tries: 1 });
  const answers = ["ENOTFOUND", "ESERVFAIL", "EREFUSED", "ENODATA", undefined];
  resolver.resolve4("example.com", (error) => { if (answers.includes(error?.code)) console.log("SUCCEEDED"); });`;

/** A datagram may still be on its way. */
async function arrives(isThere: () => boolean): Promise<boolean> {
  for (let round = 0; round < 20 && !isThere(); round += 1) await new Promise((resolve) => setTimeout(resolve, 10));
  return isThere();
}

/** Something inside listens for a second; the machine tries to reach it as long as it runs. */
async function offerPort({ shell, world }: Inside): Promise<string> {
  // Below those the kernel gives out: connecting to a free one of them may meet itself.
  const port = 20_000 + (world.port % 10_000);
  const server = `require("net").createServer((c) => c.end("SUCCEEDED")).listen(${port}, "0.0.0.0", () => setTimeout(process.exit, 1000))`;
  let heard = "";
  let isOver = false;
  const listening = shell(node(server)).finally(() => {
    isOver = true;
  });
  while (!isOver && heard === "") heard = await hear(port);
  await listening;
  return heard;
}

function hear(port: number): Promise<string> {
  return new Promise((resolve) => {
    const socket = connect(port, "127.0.0.1");
    let heard = "";
    socket.on("data", (data) => {
      heard += data.toString();
    });
    socket.on("error", () => {});
    socket.on("close", () => setTimeout(() => resolve(heard), 20));
  });
}
