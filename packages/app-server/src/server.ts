// The app server without a transport: parts that implement methods, and the connections that call them.
import { platform } from "node:os";
import type { InitializeResponse } from "@agentcli/protocol/app-server";
import { type Connection, openConnection } from "./dispatch/connection.ts";
import { dispatch } from "./dispatch/dispatch.ts";
import type { Link } from "./dispatch/outbox.ts";
import type { Client, Host, Methods, OpenPart } from "./method.ts";
import type { Agent, Program } from "./program.ts";
import { within } from "./waiting.ts";

export interface AppServer {
  connect(link: Link): Connection;
  /** Ends running work, notifies the clients of its end, and disconnects them. */
  close(): Promise<void>;
}

/** How long the clients have to read the last messages. */
const goodbyeMs = 2000;

export function openServer(program: Program, agent: Agent, openParts: OpenPart[]): AppServer {
  const connections = new Set<Connection>();
  const clients = () => [...connections].flatMap(({ client }) => client ?? []);
  const broadcast: Host["broadcast"] = (method, params) => {
    for (const client of clients()) client.notify(method, params);
  };
  const parts = openParts.map((open) => open({ program, agent, clients, broadcast }));
  const methods = joinMethods(parts.map((part) => part.methods));
  const log = limitedLog(program);
  let nextId = 1;

  return {
    connect(link) {
      const connection = openConnection(link, {
        id: nextId++,
        perform: (errand) => dispatch(methods, errand),
        welcome: (client) => welcome(client, program),
        log,
        onEnd: () => connections.delete(connection),
      });
      connections.add(connection);
      return connection;
    },
    async close() {
      for (const connection of connections) connection.stop();
      await Promise.all(parts.map((part) => part.close()));
      await within(goodbyeMs, Promise.all([...connections].map((connection) => connection.flush())));
      for (const connection of [...connections]) connection.end("the server ends");
    },
  };
}

function joinMethods(all: Methods[]): Methods {
  const joined: Methods = {};
  for (const methods of all) {
    const twice = Object.keys(methods).find((name) => name in joined);
    if (twice) throw new Error(`two parts implement ${twice}`);
    Object.assign(joined, methods);
  }
  return joined;
}

const welcome = ({ info }: Client, { version, environment }: Program): InitializeResponse => ({
  userAgent: `${info.name}/${version} (${platform()}) agentcli/${version} (${info.name}; ${info.version})`,
  agentHome: environment.agentHome,
  codexHome: environment.agentHome,
  platformFamily: platform() === "win32" ? "windows" : "unix",
  platformOs: platform() === "darwin" ? "macos" : platform(),
});

const maxLogLines = 100;

/** Invalid messages must not fill a standard error that is not read: the write would never end. */
function limitedLog({ reporter, scrub }: Program): (line: string) => void {
  let lines = 0;
  return (line) => {
    lines++;
    if (lines <= maxLogLines) reporter.log(scrub(line));
    if (lines === maxLogLines) reporter.log("Further lines of this kind are not shown.");
  };
}
