// Figures of one server in the text format of Prometheus.
import { setTimeout as delay } from "node:timers/promises";

export type Labels = Record<string, string>;

export interface Metrics {
  /** The same name always means the same counter. */
  counter(name: string, help: string): { add(labels?: Labels, amount?: number): void };
  /** Read at each scrape. Left out of it if reading fails or takes too long: the rest is needed most just then. */
  gauge(name: string, help: string, read: ReadSamples): void;
  /** A total that is counted elsewhere, read like a gauge. */
  total(name: string, help: string, read: ReadSamples): void;
  /** In seconds. `bounds` are the upper ends of its buckets; by default those of requests. */
  duration(name: string, help: string, bounds?: readonly number[]): Duration;
  text(): Promise<string>;
}

export type Samples = number | { labels: Labels; value: number }[];
export type ReadSamples = () => Samples | Promise<Samples>;

export interface Duration {
  observe(seconds: number, labels?: Labels): void;
}

export function openMetrics(): Metrics {
  const families = new Map<string, Family>();
  const provide = <F extends Family>(name: string, make: () => F): F => {
    const known = families.get(name) ?? make();
    families.set(name, known);
    return known as F;
  };
  return {
    counter: (name, help) => provide(name, () => counter(name, help)),
    gauge: (name, help, read) => void families.set(name, sampled(name, header(name, help, "gauge"), read)),
    total: (name, help, read) => void families.set(name, sampled(name, header(name, help, "counter"), read)),
    duration: (name, help, bounds) => provide(name, () => histogram(name, help, bounds)),
    async text() {
      const parts = await Promise.all([...families.values()].map((family) => family.text()));
      return parts.join("");
    },
  };
}

/** What the process itself uses. */
export function addProcessMetrics(metrics: Metrics): void {
  metrics.gauge("process_resident_memory_bytes", "Memory in use", () => process.memoryUsage.rss());
  metrics.total("process_cpu_seconds_total", "Processor time used", () => {
    const { user, system } = process.cpuUsage();
    return (user + system) / 1_000_000;
  });
  metrics.gauge("process_uptime_seconds", "Time since the start", () => process.uptime());
}

interface Family {
  text(): string | Promise<string>;
}

const header = (name: string, help: string, type: string): string => `# HELP ${name} ${help}\n# TYPE ${name} ${type}\n`;

function counter(name: string, help: string) {
  const values = new Map<string, number>();
  return {
    add(labels: Labels = {}, amount = 1) {
      const key = shown(labels);
      values.set(key, (values.get(key) ?? 0) + amount);
    },
    text: () =>
      header(name, help, "counter") +
      [...values].map(([key, value]) => `${name}${key} ${withoutNoise(value)}\n`).join(""),
  };
}

/** Money and times are added up: 0.1 and 0.2 are 0.3, not 0.30000000000000004. */
const withoutNoise = (value: number): number => Number(value.toFixed(9));

const sampled = (name: string, head: string, read: ReadSamples): Family => ({
  async text() {
    const samples = await readInTime(read);
    const all = typeof samples === "number" ? [{ labels: {}, value: samples }] : samples;
    return head + all.map(({ labels, value }) => `${name}${shown(labels)} ${value}\n`).join("");
  },
});

const readTimeoutMs = 2_000;

async function readInTime(read: ReadSamples): Promise<Samples> {
  const stop = new AbortController();
  const late = delay(readTimeoutMs, [], { ref: false, signal: stop.signal });
  try {
    return await Promise.race([read(), late]);
  } catch {
    return []; // The scrape shows that it is missing; what reads it reports its own failures.
  } finally {
    stop.abort();
    late.catch(() => {});
  }
}

const requestBounds = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60];

interface Series {
  labels: Labels;
  /** One per bound: how many were at most that. */
  buckets: number[];
  sum: number;
  count: number;
}

function histogram(name: string, help: string, bounds: readonly number[] = requestBounds) {
  const all = new Map<string, Series>();
  return {
    observe(seconds: number, labels: Labels = {}) {
      const key = shown(labels);
      const series = all.get(key) ?? { labels, buckets: bounds.map(() => 0), sum: 0, count: 0 };
      all.set(key, series);
      bounds.forEach((bound, index) => {
        if (seconds <= bound) series.buckets[index] = (series.buckets[index] ?? 0) + 1;
      });
      series.sum += seconds;
      series.count++;
    },
    text: () =>
      header(name, help, "histogram") +
      [...all.values()].map((series) => histogramLines(name, bounds, series)).join(""),
  };
}

function histogramLines(name: string, bounds: readonly number[], { labels, buckets, sum, count }: Series): string {
  const lines = bounds.map(
    (bound, index) => `${name}_bucket${shown({ ...labels, le: String(bound) })} ${buckets[index]}`,
  );
  return [
    ...lines,
    `${name}_bucket${shown({ ...labels, le: "+Inf" })} ${count}`,
    `${name}_sum${shown(labels)} ${withoutNoise(sum)}`,
    `${name}_count${shown(labels)} ${count}\n`,
  ].join("\n");
}

function shown(labels: Labels): string {
  const pairs = Object.entries(labels).map(([name, value]) => `${name}="${value.replace(/[\\"\n]/g, escaped)}"`);
  return pairs.length > 0 ? `{${pairs.join(",")}}` : "";
}

const escaped = (sign: string): string => (sign === "\n" ? "\\n" : `\\${sign}`);
