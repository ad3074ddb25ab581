// Figures of one server in the text format of Prometheus.

export type Labels = Record<string, string>;

export interface Metrics {
  /** The same name always means the same counter. */
  counter(name: string, help: string): { add(labels?: Labels, amount?: number): void };
  /** Asked each time somebody looks. */
  gauge(name: string, help: string, read: () => number | Promise<number>): void;
  /** In seconds. */
  duration(name: string, help: string): { observe(seconds: number, labels?: Labels): void };
  text(): Promise<string>;
}
