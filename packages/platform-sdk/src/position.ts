// How far a run's stream was read: where to go on after a cut, and what of the repeated part was seen before.

export interface Position {
  /** What to send as Last-Event-ID: the last id of which all frames have come. */
  readonly resumeId: string | undefined;
  /** Whether this frame is new. Frames without an id always are. */
  admit(id: string | undefined): boolean;
  /** Before each connection. */
  reconnect(): void;
  /** The platform does not know our id any more: from the start, without what was seen. */
  startAgain(): void;
}

// Several frames may share an id, and a cut may fall between them. So one goes on behind the last id that is complete, which
// the next id shows, and leaves out as many frames of the newest id as had come.
export function startOfStream(): Position {
  let completeId: string | undefined;
  let newest: { id: string; count: number } | undefined;
  let isCatchingUp: "no" | "within-newest" | "to-newest" = "no";
  let repeated = 0;

  function isRepeated(id: string): boolean {
    if (!newest || isCatchingUp === "no") return false;
    if (id !== newest.id) {
      // After an id that is not known any more there may be no newest one either; that leaves the end, which has no repetition.
      if (isCatchingUp === "to-newest" && repeated === 0) return true;
      isCatchingUp = "no";
      return false;
    }
    repeated++;
    if (repeated >= newest.count) isCatchingUp = "no";
    return true;
  }

  return {
    get resumeId() {
      return completeId;
    },
    admit(id) {
      if (id === undefined) return true;
      if (isRepeated(id)) return false;
      if (newest?.id === id) newest.count++;
      else {
        completeId = newest?.id;
        newest = { id, count: 1 };
      }
      return true;
    },
    reconnect() {
      repeated = 0;
      if (isCatchingUp !== "to-newest") isCatchingUp = newest ? "within-newest" : "no";
    },
    startAgain() {
      completeId = undefined;
      repeated = 0;
      isCatchingUp = newest ? "to-newest" : "no";
    },
  };
}
