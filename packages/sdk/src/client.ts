// Entry point: a client has the options of the program, a thread is one conversation with it.
import type { ClientOptions, ThreadOptions } from "./options.ts";
import { Thread } from "./thread.ts";

export class Client {
  readonly #options: ClientOptions;

  constructor(options: ClientOptions = {}) {
    this.#options = options;
  }

  /** The thread starts with its first turn. */
  startThread(options: ThreadOptions = {}): Thread {
    return new Thread(this.#options, options, null);
  }

  /** `id`: from `Thread.id` or `thread.started`, or a name set with `agentcli sessions name`. */
  resumeThread(id: string, options: ThreadOptions = {}): Thread {
    return new Thread(this.#options, options, id);
  }
}
