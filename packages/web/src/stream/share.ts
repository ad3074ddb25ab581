// One reader for all tabs of a browser: the tab that holds a lock reads and passes on, the others listen. When it goes, the next
// one continues with what it has; a tab that joins gets the state so far.

export interface ShareOptions<State, Message> {
  /** Of what is read; tabs that use the same one share it. */
  name: string;
  /** Reads until the end. Called in one tab at a time. */
  lead(publish: (message: Message) => void, signal: AbortSignal): Promise<void>;
  snapshot(): State;
  restore(state: State): void;
  apply(message: Message): void;
}

type Note<State, Message> =
  | { kind: "lead" }
  | { kind: "join"; from: string }
  | { kind: "state"; to: string; state: State }
  | { kind: "message"; message: Message };

/** A leader passes on a heartbeat every 15 s: longer silence means that its tab is frozen. */
const silenceMs = 40_000;

/** Browsers offer locks to secure origins only. */
export const canShare = (): boolean => "locks" in navigator && "BroadcastChannel" in window;

export async function share<State, Message>(options: ShareOptions<State, Message>, signal: AbortSignal): Promise<void> {
  const { name, lead } = options;
  const channel = new BroadcastChannel(name);
  const post = (note: Note<State, Message>) => channel.postMessage(note);
  const listener = listen(options, post);
  channel.onmessage = ({ data }: MessageEvent<Note<State, Message>>) => listener.take(data);
  const close = () => channel.close();
  signal.addEventListener("abort", close);
  try {
    listener.join();
    while (!signal.aborted) {
      const turn = await nextTurn(name, { listener, signal }, (turnSignal) => {
        listener.lead();
        return lead(listener.publish, turnSignal);
      });
      if (turn === "ended") return;
    }
  } finally {
    listener.stop();
    signal.removeEventListener("abort", close);
    close();
  }
}

interface Listener<State, Message> {
  take(note: Note<State, Message>): void;
  join(): void;
  lead(): void;
  publish(message: Message): void;
  follow(): void;
  /** Calls back after a long silence; null to stop. */
  onSilence(act: (() => void) | null): void;
  stop(): void;
}

function listen<State, Message>(
  { snapshot, restore, apply }: ShareOptions<State, Message>,
  post: (note: Note<State, Message>) => void,
): Listener<State, Message> {
  const id = crypto.randomUUID();
  let [isLeading, isJoined] = [false, false];
  // Copying thousands of messages for no other tab takes longer than reading them. Every other tab joins a new leader.
  let hasFollowers = false;
  let silence: { act: () => void; timer: ReturnType<typeof setTimeout> } | null = null;
  const onSilence = (act: (() => void) | null) => {
    clearTimeout(silence?.timer);
    silence = act && { act, timer: setTimeout(act, silenceMs) };
  };
  const join = () => {
    isJoined = false;
    post({ kind: "join", from: id });
  };
  return {
    take(note) {
      if (isLeading) {
        if (note.kind !== "join") return;
        hasFollowers = true;
        return post({ kind: "state", to: note.from, state: snapshot() });
      }
      if (silence) onSilence(silence.act);
      if (note.kind === "lead") join();
      if (note.kind === "state" && note.to === id) {
        isJoined = true;
        restore(note.state);
      }
      if (note.kind === "message" && isJoined) apply(note.message);
    },
    join,
    lead() {
      isLeading = true;
      hasFollowers = false;
      post({ kind: "lead" });
    },
    publish(message) {
      if (hasFollowers) post({ kind: "message", message });
    },
    follow() {
      isLeading = false;
    },
    onSilence,
    stop: () => onSilence(null),
  };
}

interface TurnContext {
  listener: Pick<Listener<never, never>, "onSilence" | "follow">;
  signal: AbortSignal;
}

/** Waits for the lock and leads with it. After a long silence it is taken from its holder, who follows then. */
async function nextTurn(
  name: string,
  { listener, signal }: TurnContext,
  lead: (signal: AbortSignal) => Promise<void>,
): Promise<"ended" | "again"> {
  const turn = new AbortController();
  const waiting = new AbortController();
  const hold = async () => {
    listener.onSilence(null);
    await lead(AbortSignal.any([signal, turn.signal]));
  };
  let isStealing = false;
  listener.onSilence(() => {
    isStealing = true;
    waiting.abort();
  });
  const stop = () => waiting.abort();
  signal.addEventListener("abort", stop);
  try {
    await navigator.locks.request(name, { signal: waiting.signal }, hold);
    return "ended";
  } catch {
    if (isStealing && !signal.aborted) return await steal(name, hold);
    return "again"; // Another tab has taken the lock, or this one has closed the page.
  } finally {
    turn.abort();
    listener.follow();
    signal.removeEventListener("abort", stop);
  }
}

const steal = (name: string, hold: () => Promise<void>): Promise<"ended" | "again"> =>
  navigator.locks.request(name, { steal: true }, hold).then(
    () => "ended" as const,
    () => "again" as const,
  );
