// Texts with hashes in them: the beginning of each, the whole of it on hover, and a click copies it.
import { useState } from "react";

/** The database writes `\x` before bytes. */
const hash = /(?:\\+x|\b)([0-9a-f]{40,128})\b/;

export const TextWithHashes = ({ text }: { text: string }) =>
  text.split(hash).map((part, index) =>
    index % 2 === 1 ? (
      // biome-ignore lint/suspicious/noArrayIndexKey: parts have no identity but their place.
      <Hash key={index} value={part} />
    ) : (
      part
    ),
  );

const shownDigits = 12;

function Hash({ value }: { value: string }) {
  const [isCopied, setCopied] = useState(false);
  // Without https a page may not copy: then all of it is there to be selected.
  const [isWhole, setWhole] = useState(false);
  const copy = async () => {
    const isDone = await navigator.clipboard?.writeText(value).then(
      () => true,
      () => false,
    );
    if (isDone) setCopied(true);
    else setWhole(true);
  };
  if (isWhole) return <code>{value}</code>;
  return (
    <button
      type="button"
      className="hash"
      title={isCopied ? `${value}: copied` : `${value}: click to copy`}
      onClick={() => void copy()}
      onBlur={() => setCopied(false)}
      onPointerLeave={() => setCopied(false)}
    >
      {value.slice(0, shownDigits)}…{isCopied && <span role="status"> copied</span>}
    </button>
  );
}
