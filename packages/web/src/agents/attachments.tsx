// Files added to a prompt, pasted, dropped or chosen: images go along with it, the text of other files becomes part of it.
import type { CreateAgent } from "@agentcli/protocol/api";
import { type ChangeEvent, type ClipboardEvent, type DragEvent, useRef, useState } from "react";
import { Button, IconButton } from "../components/controls.tsx";
import { Notice } from "../components/feedback.tsx";
import { quoteFile } from "../text/quote-file.ts";

type PromptImage = NonNullable<CreateAgent["prompt"]["images"]>[number];

/** As the API allows. */
const maxImages = 5;
const maxBytes = 15 * 1024 * 1024;
const types = ["image/png", "image/jpeg", "image/gif", "image/webp"];
/** Larger ones belong into the repository. */
const maxTextBytes = 100_000;

export interface Attachments {
  images: PromptImage[];
  problem: string | null;
  remove(index: number): void;
  add(files: File[]): void;
  /** Of the form around the prompt. */
  handlers: Record<"onDragOver" | "onDrop", (event: DragEvent) => void> & { onPaste(event: ClipboardEvent): void };
}

/** `addText` adds the text of files to the prompt. */
export function useAttachments(addText: (text: string) => void): Attachments {
  const [images, setImages] = useState<PromptImage[]>([]);
  const [problem, setProblem] = useState<string | null>(null);
  const add = async (files: File[]) => {
    const pictures = files.filter(isImage);
    const texts = await Promise.all(files.filter((file) => !isImage(file)).map(readText));
    const refusal =
      refusalOf(pictures, images.length) ?? texts.find(({ problem }) => problem !== null)?.problem ?? null;
    setProblem(refusal);
    if (refusal !== null) return;
    const read = await Promise.all(pictures.map(readImage));
    setImages((former) => [...former, ...read]);
    if (texts.length > 0) addText(texts.map(({ text }) => text).join("\n\n"));
  };
  const take = (event: ClipboardEvent | DragEvent, files: FileList) => {
    if (files.length === 0) return;
    event.preventDefault();
    void add([...files]);
  };
  return {
    images,
    problem,
    remove: (index) => setImages(images.filter((_, at) => at !== index)),
    add: (files) => void add(files),
    handlers: {
      onPaste: (event) => take(event, event.clipboardData.files),
      onDrop: (event) => take(event, event.dataTransfer.files),
      onDragOver(event) {
        // Otherwise a dropped file replaces the page.
        if (event.dataTransfer.types.includes("Files")) event.preventDefault();
      },
    },
  };
}

const isImage = ({ type }: File): boolean => type.startsWith("image/") && type !== "image/svg+xml";

function refusalOf(images: File[], present: number): string | null {
  if (present + images.length > maxImages) return `A prompt can have ${maxImages} images.`;
  if (images.some(({ size }) => size > maxBytes)) return "An image can have 15 MB.";
  return images.every(({ type }) => types.includes(type)) ? null : "Images can be PNG, JPEG, GIF or WebP.";
}

async function readImage(file: File): Promise<PromptImage> {
  const url = await new Promise<string>((resolve, reject) => {
    const reader = new FileReader();
    reader.onload = () => resolve(String(reader.result));
    reader.onerror = () => reject(reader.error);
    reader.readAsDataURL(file);
  });
  return { data: url.slice(url.indexOf(",") + 1), mimeType: file.type as "image/png" };
}

async function readText(file: File): Promise<{ text: string; problem: string | null }> {
  const refuse = (reason: string) => ({ text: "", problem: `${file.name} ${reason}` });
  if (file.size > maxTextBytes)
    return refuse("is too long for a prompt: 100 KB at most. Add it to the repository instead.");
  try {
    const text = new TextDecoder("utf-8", { fatal: true }).decode(await file.arrayBuffer());
    return text.includes("\0")
      ? refuse("is neither text nor an image.")
      : { text: quoteFile(file.name, text), problem: null };
  } catch {
    return refuse("is neither text nor an image, or cannot be read.");
  }
}

export const AttachmentList = ({ images, problem, remove, add }: Attachments) => (
  <>
    <AddFiles add={add} />
    {problem !== null && <Notice tone="bad">{problem}</Notice>}
    {images.length > 0 && (
      <ul className="images">
        {images.map((image, index) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: images have no identity but their position.
          <li key={index} className="image">
            {"data" in image && <img src={`data:${image.mimeType};base64,${image.data}`} alt={`Added ${index + 1}`} />}
            <IconButton icon="close" label={`Remove image ${index + 1}`} onClick={() => remove(index)} />
          </li>
        ))}
      </ul>
    )}
  </>
);

/** The way for those who have no clipboard with files, as on a phone. */
function AddFiles({ add }: Pick<Attachments, "add">) {
  const input = useRef<HTMLInputElement>(null);
  const onChange = ({ target }: ChangeEvent<HTMLInputElement>) => {
    add([...(target.files ?? [])]);
    // The same file can be chosen again.
    target.value = "";
  };
  return (
    <div className="add-files">
      <input ref={input} type="file" multiple hidden aria-label="Files" onChange={onChange} />
      <Button icon="file" onClick={() => input.current?.click()}>
        Add files
      </Button>
      <span className="field-hint">Images and text files. They can be pasted and dropped, too.</span>
    </div>
  );
}
