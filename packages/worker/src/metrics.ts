// What the worker counts about itself, and how Prometheus reads it.

export type SessionEnd =
  | "stream_end"
  | "stream_error"
  | "session_closed"
  | "session_error"
  | "connection_timeout"
  | "session_aborted";

export interface WorkerMetrics {
  connecting(): void;
  /** Another attempt follows. */
  retrying(): void;
  connected(): void;
  ended(reason: SessionEnd): void;
  isConnected(): boolean;
  /** In the text format of Prometheus. */
  text(): string;
}

export interface Activity {
  /** An agent has claimed the worker. */
  isActive(): boolean;
  lastActivityMs(): number;
}

const prefix = "platform_self_hosted_worker";

export function openWorkerMetrics({ isActive, lastActivityMs }: Activity): WorkerMetrics {
  let isConnected = false;
  let [attempts, retries] = [0, 0];
  const ends = new Map<SessionEnd, number>(reasons.map((reason) => [reason, 0]));
  const values = (): [
    name: string,
    type: "gauge" | "counter",
    help: string,
    lines: [labels: string, value: number][],
  ][] => [
    ["connected", "gauge", "1 while the worker is connected", [["", Number(isConnected)]]],
    ["session_active", "gauge", "1 while an agent has claimed the worker", [["", Number(isActive())]]],
    ["last_activity_unix_seconds", "gauge", "When an agent last used the worker", [["", lastActivityMs() / 1_000]]],
    ["connect_attempts_total", "counter", "Attempts to connect", [["", attempts]]],
    ["connect_retry_total", "counter", "Attempts that followed a failed or lost connection", [["", retries]]],
    [
      ...(["session_ends_total", "counter", "Ends of connections, by reason"] as const),
      [...ends].map(([reason, count]) => [`{reason="${reason}"}`, count]),
    ],
  ];
  return {
    connecting() {
      attempts += 1;
    },
    retrying() {
      retries += 1;
    },
    connected() {
      isConnected = true;
    },
    ended(reason) {
      isConnected = false;
      ends.set(reason, (ends.get(reason) ?? 0) + 1);
    },
    isConnected: () => isConnected,
    text: () =>
      values()
        .map(([name, type, help, lines]) => familyText({ name, type, help, lines }))
        .join(""),
  };
}

const reasons: SessionEnd[] = [
  ...(["stream_end", "stream_error", "session_closed", "session_error"] as const),
  ...(["connection_timeout", "session_aborted"] as const),
];

interface Family {
  name: string;
  type: string;
  help: string;
  lines: [labels: string, value: number][];
}

const familyText = ({ name, type, help, lines }: Family): string =>
  [
    `# HELP ${prefix}_${name} ${help}\n# TYPE ${prefix}_${name} ${type}\n`,
    ...lines.map(([labels, value]) => `${prefix}_${name}${labels} ${value}\n`),
  ].join("");
