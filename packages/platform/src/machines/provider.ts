// What every provider of machines promises; `machineContract` of the testkit checks it.
import type { Duplex, Readable } from "node:stream";
import type { Connection, Denial, MachineDisk, ServerConfig } from "@agentcli/workspace";

export interface MachineProvider {
  readonly kind: "host" | "local" | "docker" | "kubernetes" | "qemu" | "worker";
  capabilities(): Promise<MachineCapabilities>;
  /** Unpacks a tar archive as a layer; the same bytes give the same layer. */
  importBase(archive: Readable): Promise<string>;
  /** The machine with this id, stopped. Returns the existing one if there is one. */
  create(spec: MachineSpec): Promise<Machine>;
  find(id: string): Promise<Machine | undefined>;
  list(): Promise<Machine[]>;
  /** Mounts the disk of a machine for sandboxes of the caller; what is in them ends with it. Throws if it runs already. */
  mount(id: string, options: MountOptions): Promise<MountedDisk>;
  /** Ends and removes what a killed server left behind. Disks stay, and so does what a live server uses. */
  collect(): Promise<void>;
  /** Removes the layers that neither a machine nor the list uses; returns how many. */
  removeLayers(unused: UnusedLayers): Promise<number>;
}

export interface UnusedLayers {
  keep: string[];
  /** Only those that were made, or made again, before this time (milliseconds): a machine may be about to start from others. */
  before: number;
}

/** Its nine methods are what each provider implements: all but `remove` are needed by themselves. */
export interface Machine {
  readonly id: string;
  /** What its disk began with, top first. */
  readonly layers: string[];
  readonly prepared: PreparedDisk;
  state(): Promise<"stopped" | "running" | "frozen">;
  /** Throws if it runs already. */
  start(egress: EgressOptions): Promise<Supervisor>;
  /** Kills everything inside. The disk stays. */
  stop(): Promise<void>;
  /** No process inside goes on until `thaw`. */
  freeze(): Promise<void>;
  thaw(): Promise<void>;
  /** The disk as layers for new machines, top first; a running machine is frozen meanwhile. */
  snapshot(): Promise<string[]>;
  stats(): Promise<MachineStats>;
  /** Stops it, and removes its disk and everything else of it. */
  remove(): Promise<void>;
  /** As `remove`, and quick: the returned function removes what takes long. Another machine may have its id before that. */
  setAside(): Promise<() => Promise<void>>;
}

/** The workspace server inside, at the other end of one byte stream. It reads its configuration from the first line. */
export interface Supervisor extends Connection {
  /** The part of the configuration that depends on the machine. */
  config: Pick<ServerConfig, "orphans" | "egress" | "terminalModule">;
  /** A connection to a port of the machine's loopback; closed at once if nothing listens there. */
  dial(port: number): Duplex;
}

export interface MountOptions {
  /** Directories of the host that sandboxes may show; their files belong to users of the machine. */
  directories: string[];
  /** Directories of the disk, by their paths in the machine, that are shown although such a directory covers them. */
  kept: string[];
  /** That of the disk is the machine's own. */
  limits: MachineLimits;
}

export interface MountedDisk extends MachineDisk {
  /** Who root inside is on the host; null: the user of the server. */
  userId: number | null;
  /** Settles when it has ended, with the reason. */
  ended: Promise<string>;
  /** Kills what is inside, and unmounts. The disk stays. */
  close(): Promise<void>;
}

export interface MachineSpec {
  /** Lower-case letters, digits and dashes. */
  id: string;
  /** Top first. Empty: the system directories of the host. */
  layers: string[];
  limits: MachineLimits;
  /** Kept with the machine for its owner. */
  prepared?: PreparedDisk | undefined;
}

/** What its layers were prepared with. */
export interface PreparedDisk {
  /** Variables that the image sets. */
  env: Record<string, string>;
  /** Directories below those that come from the host, such as `/workspace/shop/node_modules`. */
  kept: string[];
}

/** Null: no limit. */
export interface MachineLimits {
  memoryBytes: number | null;
  /** How many processors, such as 1.5. */
  cpus: number | null;
  /** Threads count as processes. */
  processes: number | null;
  /** What it may add to its layers. */
  diskBytes: number | null;
  /** The size of /tmp, /run and /dev/shm together, which are in memory. */
  temporaryBytes: number | null;
}

/** Hosts that can be reached; nothing else of the network is there. */
export interface EgressOptions {
  allowed: string[];
  denied: string[];
  onDenied(denial: Denial): void;
}

export interface MachineCapabilities {
  /** Why there can be no machines here, and what to do; null if there can. */
  obstacle: string | null;
  /** "shared": a hole in the kernel of the host is a way out. */
  kernel: "shared" | "own";
  /** User ids inside: 65,536 that no other machine has, 65,536 that all machines share, or one. */
  users: "own-range" | "shared-range" | "single";
  /** What enforces each limit; "process": each process for itself. */
  limits: {
    memory: "machine" | "process" | "nothing";
    processes: "machine" | "process" | "nothing";
    cpu: "machine" | "nothing";
    disk: "machine" | "nothing";
  };
  /** "group": no process notices. "signals": a parent can see that its child was stopped. */
  freeze: "group" | "signals";
  /** "transparent": programs reach allowed hosts without knowing of the proxy; "proxy-env": by the variables that name it. */
  egress: "transparent" | "proxy-env";
  /** What a machine without layers has: the programs of the host, which it cannot change. */
  base: "host-read-only" | "none";
}

export interface MachineStats {
  memoryBytes: number | null;
  processes: number | null;
  diskBytes: number;
}

/** There can be no machine here, or not this one. */
export class MachineUnavailable extends Error {}

/** This machine had a disk, which is gone. */
export class DiskLost extends MachineUnavailable {}
