// Images pasted into a prompt.
import type { CreateAgent } from "@agentcli/protocol/api";
import { type ClipboardEvent, useState } from "react";
import { IconButton } from "../components/controls.tsx";
import { Notice } from "../components/feedback.tsx";

type PromptImage = NonNullable<CreateAgent["prompt"]["images"]>[number];

/** As the API allows. */
const maxImages = 5;
const maxBytes = 15 * 1024 * 1024;
const types = ["image/png", "image/jpeg", "image/gif", "image/webp"];

export interface Images {
  images: PromptImage[];
  problem: string | null;
  remove(index: number): void;
  onPaste(event: ClipboardEvent): void;
}

export function useImages(): Images {
  const [images, setImages] = useState<PromptImage[]>([]);
  const [problem, setProblem] = useState<string | null>(null);
  const add = async (files: File[]) => {
    const refusal = refusalOf(files, images.length);
    setProblem(refusal);
    if (refusal !== null) return;
    const read = await Promise.all(files.map(readImage));
    setImages((former) => [...former, ...read]);
  };
  return {
    images,
    problem,
    remove: (index) => setImages(images.filter((_, at) => at !== index)),
    onPaste(event) {
      const files = [...event.clipboardData.files].filter(({ type }) => type.startsWith("image/"));
      if (files.length === 0) return;
      event.preventDefault();
      void add(files);
    },
  };
}

function refusalOf(files: File[], present: number): string | null {
  if (present + files.length > maxImages) return `A prompt can have ${maxImages} images.`;
  if (files.some(({ size }) => size > maxBytes)) return "An image can have 15 MB.";
  return files.every(({ type }) => types.includes(type)) ? null : "Images can be PNG, JPEG, GIF or WebP.";
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

export const ImageList = ({ images, problem, remove }: Images) => (
  <>
    {problem !== null && <Notice tone="bad">{problem}</Notice>}
    {images.length > 0 && (
      <ul className="images">
        {images.map((image, index) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: images have no identity but their position.
          <li key={index} className="image">
            {"data" in image && <img src={`data:${image.mimeType};base64,${image.data}`} alt={`Pasted ${index + 1}`} />}
            <IconButton icon="close" label={`Remove image ${index + 1}`} onClick={() => remove(index)} />
          </li>
        ))}
      </ul>
    )}
  </>
);
