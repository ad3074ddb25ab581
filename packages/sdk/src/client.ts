// The way in: a client knows how to start the program, a thread is a conversation with it.
import type { ClientOptions, ThreadOptions } from "./options.ts";
import { Thread } from "./thread.ts";

export class Client {
  readonly #options: ClientOptions;

  constructor(options: ClientOptions = {}) {
    this.#options = options;
  }

  /** Begins when its first turn runs. */
  startThread(options: ThreadOptions = {}): Thread {
    return new Thread(this.#options, options, null);
  }

  /** `id` as `Thread.id` or `thread.started` gave it, or a name given with `agentcli sessions name`. */
  resumeThread(id: string, options: ThreadOptions = {}): Thread {
    return new Thread(this.#options, options, id);
  }
}
