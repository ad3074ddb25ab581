// What is typed into a terminal, sent in order: one request at a time, each with all that came meanwhile.
export interface Typing {
  type(text: string): void;
}

/** Keys in quick succession are one request. */
const collectMs = 120;

export function openTyping(send: (text: string) => Promise<void>, onFailure: (error: unknown) => void): Typing {
  let waiting = "";
  let isSending = false;
  const sendAll = async () => {
    while (waiting !== "") {
      await new Promise((resolve) => setTimeout(resolve, collectMs));
      const text = waiting;
      waiting = "";
      await send(text);
    }
  };
  return {
    type(text) {
      waiting += text;
      if (isSending) return;
      isSending = true;
      sendAll()
        .catch((error: unknown) => {
          // Keys behind a lost one could mean something else.
          waiting = "";
          onFailure(error);
        })
        .finally(() => {
          isSending = false;
        });
    },
  };
}
