// Choosing a logo: the file is looked at by the service, whatever it is called.
import { useId, useRef, useState } from "react";
import { useAction } from "../../../api/action.ts";
import { useApi } from "../../../api/place.ts";
import type { Schema } from "../../../api/types.ts";
import { Button } from "../../../ui/button.tsx";
import { ErrorNote } from "../../../ui/face.tsx";
import { say } from "../../../ui/toast.tsx";

const BYTES_MAX = 32_768;
/** Three times the pixels in which payers' pages show a logo, for dense screens. */
const [WIDTH_MAX, HEIGHT_MAX] = [432, 132];
const after = { refresh: ["/v1/settings", "/v1/audit"] };

export function LogoForm({ settings }: { settings: Schema<"MerchantSettings"> }) {
  const api = useApi();
  const id = useId();
  const field = useRef<HTMLInputElement>(null);
  const [fault, setFault] = useState<string | undefined>(undefined);
  const setting = useAction((picture: string) => api.write("PUT", "/v1/settings/logo", { body: { picture } }), {
    ...after,
    done: () => say("The logo is set."),
  });
  const removing = useAction(() => api.write("DELETE", "/v1/settings/logo"), {
    ...after,
    done: () => say("The logo is removed."),
  });
  const choose = async (file: File | undefined): Promise<void> => {
    setting.reset();
    setFault(undefined);
    if (!file) return;
    const logo = file.size > BYTES_MAX ? await shrunk(file) : file;
    if (logo) await setting.run(await base64Of(logo));
    else setFault("This is neither a PNG nor a JPEG.");
    if (field.current) field.current.value = "";
  };
  return (
    <div className="space-y-3">
      <label htmlFor={id} className="block font-medium">
        {settings.logo ? "Another picture" : "Picture"}
      </label>
      <input
        ref={field}
        id={id}
        type="file"
        accept="image/png,image/jpeg"
        aria-describedby={`${id}-hint`}
        className="block w-full text-sm file:mr-3 file:min-h-8 file:rounded file:border file:border-line file:bg-panel file:px-3 file:text-ink"
        onChange={(event) => void choose(event.target.files?.[0])}
      />
      <p id={`${id}-hint`} className="text-xs text-muted">
        PNG or JPEG. A file over 32 KiB is made smaller, because payers open the page on a phone.
      </p>
      {fault !== undefined && (
        <p role="alert" className="text-bad">
          {fault}
        </p>
      )}
      {setting.error && <ErrorNote error={setting.error} />}
      {removing.error && <ErrorNote error={removing.error} />}
      {settings.logo && (
        <Button pending={removing.pending} onClick={() => removing.run(undefined)}>
          Remove the logo
        </Button>
      )}
    </div>
  );
}

/** The picture, made smaller to fit payers' pages. Undefined when the browser cannot read it. */
async function shrunk(file: Blob): Promise<Blob | undefined> {
  const picture = await createImageBitmap(file).catch(() => undefined);
  const canvas = document.createElement("canvas");
  const pen = canvas.getContext("2d");
  if (!picture || !pen) return undefined;
  const scale = Math.min(1, WIDTH_MAX / picture.width, HEIGHT_MAX / picture.height);
  canvas.width = Math.max(1, Math.round(picture.width * scale));
  canvas.height = Math.max(1, Math.round(picture.height * scale));
  pen.imageSmoothingQuality = "high";
  pen.drawImage(picture, 0, 0, canvas.width, canvas.height);
  const png = await blobOf(canvas, "image/png");
  if (png && png.size <= BYTES_MAX) return png;
  // A photo is smaller as a JPEG, which has no transparency.
  pen.globalCompositeOperation = "destination-over";
  pen.fillStyle = "#fff";
  pen.fillRect(0, 0, canvas.width, canvas.height);
  return blobOf(canvas, "image/jpeg");
}

async function blobOf(canvas: HTMLCanvasElement, type: string): Promise<Blob | undefined> {
  return new Promise((resolve) => {
    canvas.toBlob((blob) => resolve(blob ?? undefined), type, 0.8);
  });
}

async function base64Of(file: Blob): Promise<string> {
  const bytes = new Uint8Array(await file.arrayBuffer());
  let text = "";
  for (const byte of bytes) text += String.fromCharCode(byte);
  return btoa(text);
}
