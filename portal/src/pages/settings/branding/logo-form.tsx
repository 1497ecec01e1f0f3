// Choosing a logo: the file is looked at by the service, whatever it is called.
import { useId, useRef, useState } from "react";
import { useAction } from "../../../api/action.ts";
import { useApi } from "../../../api/place.ts";
import type { Schema } from "../../../api/types.ts";
import { Button } from "../../../ui/button.tsx";
import { ErrorNote } from "../../../ui/face.tsx";
import { say } from "../../../ui/toast.tsx";

const BYTES_MAX = 131_072;
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
    done: () => say("The logo is gone."),
  });
  const choose = async (file: File | undefined): Promise<void> => {
    setting.reset();
    setFault(undefined);
    if (!file) return;
    // Said here already: a large file need not travel first.
    if (file.size > BYTES_MAX) setFault(`The file has ${file.size} bytes; a logo has at most ${BYTES_MAX}.`);
    else await setting.run(await base64Of(file));
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
        PNG or JPEG, at most 128 KiB and 2048 by 2048 pixels.
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

async function base64Of(file: Blob): Promise<string> {
  const bytes = new Uint8Array(await file.arrayBuffer());
  let text = "";
  for (const byte of bytes) text += String.fromCharCode(byte);
  return btoa(text);
}
