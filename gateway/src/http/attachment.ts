// Files from outside: they are saved, never shown, whatever they say that they are.

import type { Attachment } from "../ground/reply.ts";

/** Headers with which no browser opens the file in our name, and no name leads out of the folder it is saved to. */
export function attachmentHeaders({ name }: Attachment): Record<string, string> {
  // Nothing that ends a header, steps into a folder, or (control and format characters) makes a name read as another.
  const plain = name.replaceAll(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}/\\:*?"<>|]/gu, "_").replace(/^\.+/, "_");
  const ascii = plain.replaceAll(/[^\w.\- ]/g, "_");
  const encoded = encodeURIComponent(plain).replaceAll(
    /['()*]/g,
    (sign) => `%${sign.charCodeAt(0).toString(16).toUpperCase()}`,
  );
  return {
    "content-type": "application/octet-stream",
    "content-disposition": `attachment; filename="${ascii}"; filename*=UTF-8''${encoded}`,
    "x-content-type-options": "nosniff",
  };
}
