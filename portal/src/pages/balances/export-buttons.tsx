// The whole book as text for plain-text accounting, saved as a file.
import { useState } from "react";
import { type ApiError, asApiError } from "../../api/error.ts";
import { useApi } from "../../api/place.ts";
import { Button } from "../../ui/button.tsx";
import { save } from "../../ui/download.ts";
import { ErrorNote } from "../../ui/face.tsx";

const formats = [
  ["hledger", "hledger", "journal"],
  ["beancount", "Beancount", "beancount"],
  ["jsonl", "JSON lines", "jsonl"],
] as const;

export function ExportButtons() {
  const api = useApi();
  const [error, setError] = useState<ApiError | undefined>(undefined);
  const download = async (format: string, ending: string): Promise<void> => {
    setError(undefined);
    try {
      const file = await api.download(`/v1/books/export?format=${format}`);
      save(file, `book-${api.place?.environment}.${ending}`);
    } catch (thrown) {
      setError(asApiError(thrown));
    }
  };
  return (
    <div className="flex flex-wrap items-center justify-end gap-2">
      <span className="text-xs text-muted">Download as</span>
      {formats.map(([format, label, ending]) => (
        <Button key={format} onClick={() => download(format, ending)}>
          {label}
        </Button>
      ))}
      {error && <ErrorNote error={error} />}
    </div>
  );
}
