// Taking a whole book along as text for plain-text accounting. The service sends it while it reads it, and the audit says who asked.
import { type ApiError, asApiError } from "../../../api/error.ts";
import { useState } from "react";
import { Button } from "../../../ui/button.tsx";
import { save } from "../../../ui/download.ts";
import { ErrorNote } from "../../../ui/face.tsx";
import { Section } from "../../../ui/page.tsx";
import { download } from "../../api/client.ts";
import { useMay } from "../../api/rights.ts";
import { useBook } from "../merchants/book.tsx";

const formats = [
  ["hledger", "hledger", "journal"],
  ["beancount", "Beancount", "beancount"],
  ["jsonl", "JSON lines", "jsonl"],
] as const;

export function Export({ journals }: { journals: number }) {
  const { id, environment } = useBook();
  const [error, setError] = useState<ApiError | undefined>(undefined);
  if (!useMay()("support")) return null;
  const take = async (format: string, ending: string): Promise<void> => {
    setError(undefined);
    try {
      const book = await download(`/v1/merchants/${id}/books/${environment}/export`, { format });
      save(book, `book-${id}-${environment}.${ending}`);
    } catch (thrown) {
      setError(asApiError(thrown));
    }
  };
  return (
    <Section title="Take it along">
      <div className="flex flex-wrap items-center gap-x-4 gap-y-2 rounded-md border border-line bg-panel px-4 py-3">
        <p className="min-w-0 flex-1 basis-64 text-muted">
          All {journals.toLocaleString("en")} {journals === 1 ? "journal" : "journals"} as text for plain-text
          accounting. The audit records who exported it.
        </p>
        <span className="flex flex-wrap gap-2">
          {formats.map(([format, label, ending]) => (
            <Button key={format} label={`Download as ${label}`} onClick={() => take(format, ending)}>
              {label}
            </Button>
          ))}
        </span>
      </div>
      {error && (
        <div className="mt-3">
          <ErrorNote error={error} />
        </div>
      )}
    </Section>
  );
}
