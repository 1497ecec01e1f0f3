// The headers of uploaded files in answers: a browser saves such a file and never shows it, whatever its type.

import type { Attachment } from "../ground/reply.ts";

/** Makes headers with which no browser opens the file under the service's origin, and no file name leaves the download folder. */
export function attachmentHeaders({ name }: Attachment): Record<string, string> {
  // Replaces characters that end a header, separate folders, or (control and format characters) make a name look like another one.
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
